"""What is to be run: the surroundings that all cells share, and the cells of the matrix."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..codes import check_bits
from ..data.datasets.table import DATASETS, DataSetRow
from ..errors import UserError
from ..settings.asked import Settings
from ..systems.system import System
from ..systems.table import SYSTEMS
from ..util.files import write_json
from ..util.sealed import sealed, unsealed

# What Figures 3 and 4 of the paper vary, one at a time, the others at their defaults: beyond the best value.
SENSITIVITY: dict[str, tuple[float, ...]] = {
    "omega": (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.2, 2.4, 4.8),
    "gamma": (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0),
    "similar_share": (0.02, 0.05, 0.1, 0.15, 0.2, 0.3),
}


Old = Literal["refuse", "keep", "again"]  # cells that another version of the code made
ADDED_LATER = {"tune": 0}  # what notes of earlier versions do not say


@dataclass(frozen=True)
class Cell:
    """One run.

    Attributes:
        method: its name.
        bits: code length.
        labels: how many items are labelled.
        seed: of split, batches and weights.
        varied: a setting that differs from the matrix and its value, for sensitivity.
    """

    method: str
    bits: int
    labels: int
    seed: int
    varied: tuple[str, float] | None = None

    @property
    def file(self) -> str:
        """Name of the file that holds its result."""
        varied = "" if self.varied is None else f"-{self.varied[0]}={self.varied[1]:g}"
        return f"{self.method}-{self.bits}bits-{self.labels}labels-seed{self.seed}{varied}.json"


@dataclass(frozen=True)
class Setup:
    """What all cells of a folder share; cells of different setups do not compare.

    Attributes:
        dataset: a name, a row of your own, or an ``.npy`` of vectors.
        place: where the user keeps the data set; None for the cache.
        labels: ``.npy`` of labels, with vectors of your own.
        images: size of a smaller sample; None for all.
        settings: of :class:`pts3h.settings.asked.Settings`, for every system that they can act in.
        of: settings of one system, by its name.
        tune: tries that every system has to choose its settings; 0 leaves them at their defaults.
    """

    dataset: str | DataSetRow
    place: str | None = None
    labels: str | None = None
    images: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    of: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tune: int = 0

    def __post_init__(self) -> None:
        if self.tune < 0 or self.tune == 1:
            raise UserError(f"--tune takes a number of tries, 2 or more, got {self.tune}")
        if not isinstance(self.dataset, str):
            object.__setattr__(self, "dataset", DATASETS.find(self.dataset).name)
        of = {method: named(settings) for method, settings in self.of.items()}
        object.__setattr__(self, "settings", named(self.settings))
        object.__setattr__(self, "of", of)

    @property
    def data_name(self) -> str:
        """The data set as text."""
        return str(self.dataset)

    def settings_of(self, cell: Cell) -> tuple[dict[str, Any], frozenset[str]]:
        """What is asked of a cell's system, and which of it is asked of every system."""
        own = self.of.get(cell.method, {})
        if cell.varied is None:
            return {**self.settings, **own}, frozenset(self.settings.keys() - own.keys())
        # with omega at 0 the user's gamma cannot act, which is no mistake of the user's
        name, value = cell.varied
        return {**self.settings, **own, name: value}, frozenset(self.settings.keys() | own.keys()) - {name}


def named(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The same with rows of your own by their names; says what is wrong before any data is read."""
    Settings.from_keywords(settings)
    return {name: getattr(value, "name", value) for name, value in settings.items()}


@dataclass(frozen=True)
class Plan:
    """A matrix of runs.

    Attributes:
        setup: what its cells share.
        methods: names of systems, or systems of your own, in the order of the table.
        bits: code lengths.
        label_counts: numbers of labelled items.
        runs: seeds 0 to runs - 1.
        sensitivity: whether to vary omega, gamma and the share of similar pairs too.
        tune_bits: code lengths at which settings are tried; none for each of ``bits``. The other lengths take
            the settings of the nearest.
    """

    setup: Setup
    methods: Sequence[str | System]
    bits: Sequence[int]
    label_counts: Sequence[int]
    runs: int
    sensitivity: bool = False
    tune_bits: Sequence[int] = ()

    def __post_init__(self) -> None:
        for name in (*self.methods, *self.setup.of):
            SYSTEMS.find(name)
        for bits in (*self.bits, *self.tune_bits):
            check_bits(bits)
        if self.tune_bits and not self.setup.tune:
            raise UserError("--tune-bits says where to tune: give --tune as well")
        if self.runs < 1 or not self.methods or not self.bits or not self.label_counts:
            raise UserError("a matrix needs at least one method, code length, number of labels and run")
        if min(self.label_counts) < 2:
            raise UserError(f"at least two items must be labelled, got {min(self.label_counts)}")

    @property
    def names(self) -> list[str]:
        """Names of the systems."""
        return [SYSTEMS.find(given).name for given in self.methods]

    def cells(self) -> list[Cell]:
        """All cells; those of one seed stand together, so that a stopped matrix compares soon."""
        seeds = range(self.runs)
        matrix = [
            Cell(method, bits, labels, seed)
            for seed in seeds
            for labels in self.label_counts
            for bits in self.bits
            for method in self.names
        ]
        return list(dict.fromkeys(matrix + self.sensitivity_cells()))

    def sensitivity_cells(self) -> list[Cell]:
        """The first PTS3H of the matrix with one setting varied, at the longest code and the most labels."""
        if not self.sensitivity:
            return []
        chosen = [name for name in self.names if SYSTEMS.find(name).base and name.startswith("pts3h")]
        if not chosen:
            raise UserError("--sensitivity varies PTS3H: add one to --methods, such as pts3h-dsh")
        return [
            Cell(chosen[0], max(self.bits), max(self.label_counts), seed, (name, value))
            for seed in range(self.runs)
            for name, values in SENSITIVITY.items()
            for value in values
        ]


def claim(folder: Path, setup: Setup, command: str | None = None) -> None:
    """Make ``folder`` hold cells of this setup, or refuse where it holds others.

    Args:
        folder: of the cells.
        setup: what they share.
        command: that was typed, for the report; None if the matrix is run from Python.
    """
    note = folder / "bench.json"
    wanted = json.loads(json.dumps(asdict(setup)))
    commands: list[str] = []
    if note.is_file():
        try:
            stored = unsealed(json.loads(note.read_text(encoding="utf-8")))
            other, commands = {**ADDED_LATER, **stored["setup"]}, [*stored["commands"]]
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{note} is not a note of pts3h bench ({error})") from error
        if differing := [name for name in wanted if wanted[name] != other.get(name)]:
            raise UserError(
                f"{folder} holds runs with other {', '.join(differing)}, which do not compare with these: "
                "choose another --out"
            )
    if command is not None and command not in commands:
        commands.append(command)
    write_json(note, sealed({"setup": wanted, "commands": commands}))
