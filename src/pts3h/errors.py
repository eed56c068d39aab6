"""The one error type a user should ever meet."""


class UserError(ValueError):
    """Something the user can mend. The message says what is wrong and what to do, in one line."""

    exit_code = 2  # of the command line
