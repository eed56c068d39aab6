"""What all writers have in common: the state before, what a victim does, and what must hold afterwards."""

import os
import shutil
import time

from tests.faults.tally import Lost


def need(kept, what):
    if not kept:
        raise Lost(what)


class Writer:
    """One way to write.

    Attributes:
        name: for the table.
        tries: at most so many different calls are made to fail in a full run.
    """

    name = ""
    tries = 150

    def __init__(self, zygote, place):
        self.zygote, self.place = zygote, place
        self.source, self.target = place / "source", place / "target"
        self.source.mkdir()
        self.prepare()

    def order(self, task, *arguments, **options):
        """Have something done that must go well."""
        done = self.zygote.run(task, *arguments, **options)
        assert done.finished, done
        return done

    def prepare(self):
        """What is needed once, into ``source``."""

    def begin(self):
        """The state before, into ``target``."""
        shutil.rmtree(self.target, ignore_errors=True)
        shutil.copytree(self.source / "before", self.target)

    def work(self):
        """The task of the victim, with its arguments."""
        raise NotImplementedError

    def disturbed(self, **how):
        """Let a victim work, with a fault."""
        return self.zygote.run(*self.work(), below=self.target, **how)

    def check(self, outcome):
        """What must hold afterwards."""
        raise NotImplementedError

    def again(self):
        """What a user does next; then all must be as if nothing had happened, and nothing left over."""
        self.order(*self.work())

    def check_end(self):
        raise NotImplementedError

    def names(self):
        """All files, as a victim of a day ago would have left them."""
        return {path.relative_to(self.target).as_posix() for path in self.target.rglob("*") if path.is_file()}

    def age(self):
        """Let a day pass: what a killed process left is not taken for the work of one that runs."""
        before = time.time() - 86_400
        for path in self.target.rglob("*"):
            if path.name.startswith(".") and path.is_file():
                os.utime(path, (before, before))
