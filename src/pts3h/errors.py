"""All errors and warnings that a user can meet."""


class UserError(ValueError):
    """Something the user can mend. The message says what is wrong and what to do, in one line."""

    exit_code = 2  # of the command line


class Interrupted(UserError):
    """Training was stopped by the user; a checkpoint is saved where a folder was given."""

    exit_code = 130  # as every program that Ctrl-C stops


class Diverged(UserError):
    """The loss became NaN or infinite."""


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
