"""Training jobs: started one at a time, watched, cancelled, used. Their files say what became of them."""

import json
import logging
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from ..teaching.lesson import lesson
from ..util.extras import require
from .alive import is_locked, lock_for_child
from .collection import Collection, Served
from .errors import Refused, not_found, refusing
from .journal import Journal, Line
from .request import RESULT, Request
from .schemas import Job
from .teaching import Teaching
from .workspace import Place, Pointer, Workspace

log = logging.getLogger("pts3h.web")

LOOK_SECONDS = 0.2  # between two looks at a process
STOP_SECONDS = 5.0  # that a process has to finish its step
END_SECONDS = 60.0  # that a process has to go after its last word: on a busy machine that takes a while
RUNNING = ("queued", "features", "training", "comparing", "switching")
LAST = ("used", "kept_old", "cancelled", "failed")  # nothing happens any more
GONE = {"state": "failed", "error": "the training process ended unexpectedly"}


class Jobs:
    """The jobs of a workspace.

    Args:
        workspace: where they lie.
        collection: what is served, which a job may replace.
        teaching: what they learn from.
        open_place: opens what is to be served.
    """

    def __init__(
        self,
        workspace: Workspace,
        collection: Collection,
        teaching: Teaching,
        open_place: Callable[[Place], Served],
    ) -> None:
        self.workspace, self.collection, self.teaching = workspace, collection, teaching
        self._open = open_place
        self._lock = threading.RLock()  # one change at a time
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._cancelled: set[int] = set()  # whoever sees their process gone first knows that it had to go
        self._ending = threading.Event()
        self._watcher: threading.Thread | None = None
        self._tidy()
        if self.running() is not None:
            self._watch()

    # looking

    def numbers(self) -> list[int]:
        """All jobs there ever were."""
        folder = self.workspace.folder / "jobs"
        return sorted(int(one.name) for one in folder.glob("*") if one.name.isdigit())

    def get(self, number: int) -> Job:
        """A job as it is now."""
        lines = self.journal(number).read()
        if not lines:
            raise not_found("such job")
        return told(number, lines)

    def latest(self) -> Job | None:
        """The newest job."""
        numbers = self.numbers()
        return self.get(numbers[-1]) if numbers else None

    def running(self) -> Job | None:
        """The job that a process works on, or that waits to be finished by the server."""
        job = self.latest()
        return job if job is not None and job.state in RUNNING else None

    @property
    def previous(self) -> bool:
        """Whether there is a generation to go back to."""
        return self._pointer().before is not None

    def journal(self, number: int) -> Journal:
        """What happened to a job."""
        return Journal(self.workspace.job(number))

    def result(self, number: int) -> dict[str, Any]:
        """What a job found out."""
        self.get(number)
        try:
            found: dict[str, Any] = json.loads(
                (self.workspace.job(number) / RESULT).read_text(encoding="utf-8")
            )
        except OSError:
            raise not_found("comparison yet") from None
        return found

    # acting

    def start(self, *, transitive: bool) -> Job:
        """Begin to train on the answers."""
        with refusing(409, "not_possible"):
            require("torch", "training")
        with self._lock:
            if (busy := self.running()) is not None:
                raise Refused(409, "busy", f"job {busy.number} is running: wait for it, or cancel it")
            ready = self.latest()
            if ready is not None and ready.state == "ready":
                self._keep_old(ready.number)  # whoever trains again wants neither
            self._check_lesson(transitive)
            number = max([*self.numbers(), self.collection.current.generation]) + 1
            folder, new = self.workspace.job(number), self.workspace.generation(number)
            folder.mkdir(parents=True)
            in_use = self._pointer().current
            Request(
                number=number,
                transitive=transitive,
                answers=str(self.workspace.answers),
                index=in_use.index,
                model=str(in_use.model),
                new_index=new.index,
                new_model=str(new.model),
            ).write(folder)
            self.journal(number).write("state", state="queued", started=round(time.time(), 3))
            self._spawn(number, "train")
            return self.get(number)

    def cancel(self, number: int) -> Job:
        """Stop a job that trains."""
        with self._lock:
            job = self.get(number)
            if job.state not in RUNNING or job.state == "switching":
                raise Refused(409, "not_possible", f"the job is {job.state}: there is nothing to cancel")
            self._cancelled.add(number)
        self._stop(number)
        self._tend()
        return self.get(number)

    def use(self, number: int) -> Job:
        """Begin to put what a job made into use."""
        with self._lock:
            self._check_ready(number)
            self._wait(number)
            self.journal(number).write("state", state="switching")
            self._spawn(number, "switch")
            return self.get(number)

    def keep_old(self, number: int) -> Job:
        """Drop what a job made."""
        with self._lock:
            self._check_ready(number)
            self._keep_old(number)
            return self.get(number)

    def back(self) -> int:
        """Serve what was in use before, and return its generation."""
        with self._lock:
            if self.running() is not None:
                raise Refused(409, "busy", "a job is running: wait for it, or cancel it")
            pointer = self._pointer()
            if pointer.before is None:
                raise Refused(409, "not_possible", "there is no generation before this one")
            self._serve(Pointer(pointer.before, pointer.current))
            return pointer.before.generation

    def stop(self) -> None:
        """The server ends: so does the job, which says so."""
        self._ending.set()
        if self._watcher is not None:
            self._watcher.join(STOP_SECONDS)
        job = self.running()
        if job is not None:
            self._cancelled.add(job.number)
            self._stop(job.number)
            self._tend(why="the server was stopped")
        for number in self._processes:
            self._stop(number)

    # processes

    def _spawn(self, number: int, stage: str) -> None:
        folder = self.workspace.job(number)
        command = [sys.executable, "-m", "pts3h.web.job", str(folder), stage]
        with lock_for_child(folder) as kept, (folder / "log.txt").open("ab") as out:
            self._processes[number] = subprocess.Popen(  # nosec: our own module, no shell
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                pass_fds=kept,
                start_new_session=True,  # Ctrl-C is for the server, which tells the job
            )
        self._watch()

    def _lives(self, number: int) -> bool:
        process = self._processes.get(number)
        if process is not None and process.poll() is None:
            return True
        return is_locked(self.workspace.job(number))

    def _stop(self, number: int) -> None:
        """End a process: it may finish its step, then it is killed."""
        process, until = self._processes.get(number), time.monotonic() + STOP_SECONDS
        if process is None:
            return  # an earlier server started it; nobody here knows its number for sure
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        while self._lives(number) and time.monotonic() < until:
            time.sleep(0.05)
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()

    def _wait(self, number: int) -> None:
        """A process that has said its last word may still be about to end."""
        until = time.monotonic() + END_SECONDS
        while self._lives(number):
            if time.monotonic() > until:
                raise Refused(409, "busy", "the job is about to end: wait a moment")
            time.sleep(0.05)

    def _watch(self) -> None:
        if self._watcher is None or not self._watcher.is_alive():
            self._watcher = threading.Thread(target=self._look, name="jobs", daemon=True)
            self._watcher.start()

    def _look(self) -> None:
        """Until no process runs: finish what it has left."""
        while not self._ending.wait(LOOK_SECONDS):
            try:
                self._tend()
                if self.running() is None and all(one.poll() is not None for one in self._processes.values()):
                    return
            except Exception:
                log.exception("looking after a job failed")

    def _tend(self, why: str | None = None) -> None:
        """If the process of the running job is gone, say what became of it."""
        with self._lock:
            job = self.running()
            if job is None or self._lives(job.number):
                return
            job = self.get(job.number)  # it may have said something before it went
            journal = self.journal(job.number)
            if job.state == "switching" and job.phase == "indexed":
                self._finish(job.number)
            elif job.state == "switching":
                journal.write("state", state="ready", error=why or "the switch was interrupted: try again")
            elif job.state in RUNNING:
                cancelled = {"state": "cancelled", "error": why}
                journal.write("state", **cancelled if job.number in self._cancelled else GONE)
            if self.get(job.number).state in ("cancelled", "failed"):
                self._remove(job.number)

    def _finish(self, number: int) -> None:
        """Put a generation into use."""
        try:
            old = self._pointer().current
            if old.generation != number:
                self._serve(Pointer(self.workspace.generation(number), old))
            self.journal(number).write("state", state="used")
            self._tidy()
        except Exception:
            log.exception("a generation cannot be used", extra={"job": number})
            self.journal(number).write("state", state="ready", error="it cannot be opened; the log says why")

    # files

    def _pointer(self) -> Pointer:
        pointer = self.workspace.pointer()
        assert pointer is not None  # the server wrote it when it began
        return pointer

    def _serve(self, pointer: Pointer) -> None:
        """Open another generation, note that it is in use, and exchange it."""
        fresh = self._open(pointer.current)
        self.workspace.point(pointer)
        self.collection.swap(fresh)
        log.info("another generation is in use", extra={"job": pointer.current.generation})

    def _check_ready(self, number: int) -> None:
        job = self.get(number)
        if job.state != "ready":
            raise Refused(409, "not_possible", f"the job is {job.state}, not ready")

    def _check_lesson(self, transitive: bool) -> None:
        with self.collection.reading() as served:
            ids = [str(one) for some, _ in served.index.scan() for one in some]
        if not lesson(self.teaching.answers.standing(), ids, transitive=transitive).arguments:
            raise Refused(
                409, "not_possible", "there is too little to learn from: answer some questions first"
            )

    def _keep_old(self, number: int) -> None:
        self.journal(number).write("state", state="kept_old")
        self._remove(number)

    def _remove(self, number: int) -> None:
        """What a job made is not wanted."""
        shutil.rmtree(self.workspace.generation(number).model.parent, ignore_errors=True)

    def _tidy(self) -> None:
        """Remove generations that nothing needs: not in use, not the one before, not waiting to be used."""
        pointer = self._pointer()
        needed = {pointer.current.generation, pointer.before.generation if pointer.before else -1}
        needed |= {number for number in self.numbers()[-1:] if self.get(number).state not in LAST}
        for folder in (self.workspace.folder / "generations").glob("*"):
            if folder.name.isdigit() and int(folder.name) not in needed:
                shutil.rmtree(folder, ignore_errors=True)


def told(number: int, lines: Iterable[Line], job: Job | None = None) -> Job:
    """What the lines of a journal say together."""
    said = (job or Job(number=number)).model_dump()
    for line in lines:
        facts = {name: value for name, value in line.facts.items() if name in Job.model_fields}
        if line.kind == "state":
            facts = {"phase": None, "seconds_left": None, "error": None, **facts}
        said |= facts
    return Job.model_validate(said)
