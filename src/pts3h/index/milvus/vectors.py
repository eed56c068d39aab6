"""How codes become vectors that Milvus can compare: it knows plain Hamming distance, and nothing of parts.

A plain code is its own vector. A code of two parts is stored with the complement of each part: so often that
the Hamming distance of two vectors is twice the distance by both. Where a query has the part itself instead
of the complement, each of its bits differs from exactly one of the two, whatever is stored: that part adds
the same to all distances, and the other part alone decides. So one vector serves every distance, exactly.
"""

from dataclasses import dataclass

import numpy as np

from ...codes import By, Codes, Layout, code_bytes


@dataclass(frozen=True)
class Scale:
    """What a distance by meaning, look or both becomes between vectors: ``step * distance + offset``."""

    step: int = 1
    offset: int = 0

    def of_vectors(self, distance: int) -> int:
        """The Hamming distance of vectors."""
        return self.step * distance + self.offset

    def of_codes(self, distance: int) -> int:
        """The distance of codes."""
        return (distance - self.offset) // self.step


@dataclass(frozen=True)
class Vectors:
    """Vectors of the codes of one layout. They begin with the code itself."""

    layout: Layout

    @property
    def dimension(self) -> int:
        """Bits of a vector, a multiple of 8 as Milvus asks."""
        layout = self.layout
        return 8 * code_bytes(layout.bits) if not layout.look else -(-2 * layout.largest // 8) * 8

    def stored(self, codes: Codes) -> Codes:
        """(n, bytes) codes as vectors to store."""
        return self._vectors(codes, ignored=None)

    def asked(self, queries: Codes, by: By) -> Codes:
        """(q, bytes) codes as vectors to search with."""
        ignored: dict[By, By | None] = {"meaning": "look", "look": "meaning", "both": None}
        return self._vectors(queries, ignored=ignored[by])

    def _vectors(self, codes: Codes, ignored: By | None) -> Codes:
        if not self.layout.look:
            return codes
        bits = np.unpackbits(codes, axis=1, count=self.layout.bits)
        meaning, look = bits[:, : self.layout.meaning], bits[:, self.layout.meaning :]
        other_meaning = meaning if ignored == "meaning" else 1 - meaning
        other_look = look if ignored == "look" else 1 - look
        weight = self.layout.weight
        parts = [meaning, look, *[meaning] * (weight - 1), *[other_meaning] * weight, other_look]
        return np.packbits(np.concatenate(parts, axis=1), axis=1)

    def code(self, vector: bytes) -> Codes:
        """The code in a stored vector."""
        code = np.frombuffer(vector, np.uint8)[: code_bytes(self.layout.bits)]
        padding = 8 * len(code) - self.layout.bits
        return np.append(code[:-1], code[-1] >> padding << padding)

    def scale(self, by: By) -> Scale:
        """How distances by ``by`` read between a stored vector and one to search with."""
        layout = self.layout
        if not layout.look:
            return Scale()
        scales: dict[By, Scale] = {
            "meaning": Scale(2 * layout.weight, layout.look),
            "look": Scale(2, layout.weight * layout.meaning),
            "both": Scale(2),
        }
        return scales[by]
