"""How long a client waits for a server, and how often it tries again."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import UserError

FIRST_PAUSE = 0.2


@dataclass(frozen=True)
class Patience:
    """What a user asked for, checked.

    Attributes:
        timeout: seconds per request.
        retries: how often to try again when the server cannot be reached.
    """

    timeout: float = 30.0
    retries: int = 4

    def __post_init__(self) -> None:
        if type(self.timeout) not in (int, float) or not 0 < self.timeout < float("inf"):
            raise UserError(f"timeout must be a number of seconds above 0, got {self.timeout!r}")
        if type(self.retries) is not int or self.retries < 0:
            raise UserError(f"retries must be a whole number of 0 or more, got {self.retries!r}")

    def pauses(self) -> Iterator[float]:
        """How long to wait before each further attempt, longer each time."""
        return (FIRST_PAUSE * 2**attempt for attempt in range(self.retries))
