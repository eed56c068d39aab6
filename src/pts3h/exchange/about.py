"""What a file says of its codes besides the codes: their layout, bit order and model, the kind of the ids."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from ..codes import BIT_ORDER, Layout
from ..errors import UserError
from ..index.contract import IdKind
from ..util.sealed import sealed, unsealed

FORMAT = 1


@dataclass(frozen=True)
class About:
    """What the codes of a file are.

    Attributes:
        layout: what their bits are.
        model: fingerprint of the model that made them, or None if that is not known.
        ids: the kind of the ids.
    """

    layout: Layout
    model: str | None
    ids: IdKind

    def facts(self) -> dict[str, Any]:
        """The same by name, as other programs read it."""
        return {
            "bits": self.layout.meaning,
            "look_bits": self.layout.look,
            "weight": self.layout.weight,
            "bit_order": BIT_ORDER,
            "model": self.model,
            "ids": self.ids,
        }

    def to_json(self) -> str:
        """One line of JSON, with a checksum."""
        return json.dumps(sealed({"format": FORMAT, **self.facts()}))

    @classmethod
    def from_json(cls, text: str | bytes, path: Path | str) -> "About":
        """What :meth:`to_json` wrote into the file ``path``, else raise."""
        try:
            facts = unsealed(json.loads(text))
            if facts["format"] != FORMAT or facts["bit_order"] != BIT_ORDER:
                raise UserError(
                    f"{path} speaks of codes of format {facts['format']} and bit order "
                    f"{facts['bit_order']!r}; this version of pts3h reads format {FORMAT} and {BIT_ORDER!r}"
                )
            layout = Layout(facts["bits"], facts["look_bits"], facts["weight"])
            about = cls(layout, facts["model"], facts["ids"])
            if about.ids not in get_args(IdKind) or not isinstance(about.model, str | None):
                raise ValueError("it names no kind of ids, or a model that is no text")
        except UserError:
            raise
        except (ValueError, KeyError, RecursionError) as error:
            raise UserError(
                f"what {path} says of its codes cannot be read ({error}): export it anew"
            ) from error
        return about
