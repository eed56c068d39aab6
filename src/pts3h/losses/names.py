"""Names of the pairwise losses and of their readings, apart from the code so that settings need no torch."""

from typing import Literal

LOSSES = ("dsh", "dpsh", "ksh", "dhn", "hashnet", "mihash")
Reading = Literal["auto", "code", "literal"]
