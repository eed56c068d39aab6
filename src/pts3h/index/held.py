"""What a server keeps beside the items of an index: a line of JSON that says what they are."""

import json
from dataclasses import asdict, dataclass

from ..codes import Layout
from ..errors import UserError
from .contract import IdKind, check_held_layout, check_model

FORMAT = 1


@dataclass(frozen=True)
class Held:
    """What an index holds; its JSON is the description of a collection, the comment of a table."""

    bits: int  # the learned ones
    model: str | None
    ids: IdKind | None
    pts3h: int = FORMAT  # of this description, and the sign that what it describes is ours
    look: int = 0
    weight: int = 1

    def __post_init__(self) -> None:
        _ = self.layout  # raises if no codes are like that

    @property
    def layout(self) -> Layout:
        """What the bits of the codes are."""
        return Layout(self.bits, self.look, self.weight)

    @classmethod
    def of(cls, layout: Layout, model: str | None, ids: IdKind | None) -> "Held":
        """An index of codes of this layout."""
        return cls(layout.meaning, model, ids, look=layout.look, weight=layout.weight)

    @classmethod
    def read(cls, text: str | None, place: str) -> "Held":
        """The inverse of :meth:`described`; raises if another program, or another version, wrote the text.

        Args:
            text: what the server keeps.
            place: what a message calls the place, such as "the collection at ...".
        """
        try:
            said = json.loads(text or "")
            if (version := said["pts3h"]) == FORMAT:
                return cls(**said)
        except (ValueError, TypeError, KeyError):
            raise UserError(f"{place} holds something else; choose another name") from None
        raise UserError(
            f"{place} was made by another version of pts3h (format {version!r}, this one reads {FORMAT}): "
            "install the newest pts3h"
        )

    def check(self, layout: Layout | None, model: str | None, address: str) -> None:
        """Raise if this is opened as an index of other codes; None means that anything will do."""
        check_held_layout(self.layout, layout, address)
        check_model(self.model, model, address)

    def described(self) -> str:
        """As JSON. Plain codes are described as they were before there were look bits."""
        described = asdict(self)
        if not self.look:
            del described["look"], described["weight"]
        return json.dumps(described)
