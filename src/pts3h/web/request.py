"""What a job is to do: a file, so that a process can be started with nothing but a folder."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from ..util.files import write_json

REQUEST, RESULT = "request.json", "result.json"


@dataclass(frozen=True)
class Request:
    """What a job is to do.

    Attributes:
        number: of the job, and of the generation that it makes.
        transitive: whether alike of alike is alike.
        answers: the file of answers.
        index: address of the index in use: the items, and what the new codes are compared with.
        model: folder of the model in use, whose settings are used again.
        new_index: where the new codes go.
        new_model: where the new model goes.
    """

    number: int
    transitive: bool
    answers: str
    index: str
    model: str
    new_index: str
    new_model: str

    def write(self, folder: Path) -> None:
        """For the process that will do it."""
        write_json(folder / REQUEST, asdict(self))

    @classmethod
    def read(cls, folder: Path) -> "Request":
        """What the server wrote."""
        return cls(**json.loads((folder / REQUEST).read_text(encoding="utf-8")))
