"""All errors and warnings that a user can meet."""

import re

MOST = 2_000  # characters of a message, which may quote what a file holds
_BREAKS = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")


class UserError(ValueError):
    """Something the user can mend. The message says what is wrong and what to do, in one line.

    It is one line whatever it quotes: line breaks become spaces, what cannot be printed is written out.
    """

    exit_code = 2  # of the command line

    def __init__(self, message: str) -> None:
        line = _BREAKS.sub(" ", message[: 2 * MOST])
        line = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in line)
        super().__init__(line if len(line) <= MOST else f"{line[: MOST - 3]}...")


class Interrupted(UserError):
    """Training was stopped by the user; a checkpoint is saved where a folder was given."""

    exit_code = 130  # as every program that Ctrl-C stops


class Diverged(UserError):
    """The loss became NaN or infinite."""


class RankLost(UserError):
    """Another process of a training that several share has ended."""


class DiskError(UserError):
    """A file cannot be written: the disk is full or read-only, or there is no permission."""


class BrokenImage(UserError):
    """A picture that cannot be decoded."""


class CollapseWarning(UserWarning):
    """Outputs or codes have lost their information."""


class SkippedWarning(UserWarning):
    """Some pictures could not be read and took no part."""


class UnencryptedWarning(UserWarning):
    """A token is sent over a connection that anyone on the way can read."""
