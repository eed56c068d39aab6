"""Every system, one row each. Rows name what is heavy, so listing them imports no torch."""

from ..losses.table import LOSSES
from ..util.table import Table
from .deep import DeepSystem
from .shallow.system import ShallowSystem
from .system import System

HERE = "pts3h.objectives"
SHALLOW = "pts3h.systems.shallow"

WITH_PTS3H = [
    DeepSystem(
        name=f"pts3h-{loss.name}",
        label=f"PTS3H-{loss.label.removesuffix(' (deep)')}",
        kind="semi-supervised",
        base=loss.name,
        defining={"loss": loss.name},
        weights=("omega", "gamma"),
    )
    for loss in LOSSES
]
BASES = [
    DeepSystem(
        name=loss.name,
        label=loss.label,
        kind="supervised",
        defining={"loss": loss.name, "omega": 0.0},
        weights=("eta",),
    )
    for loss in LOSSES
]
PTS3H_VARIANTS = [
    *(
        DeepSystem(
            name=f"pts3h-{name}",
            label=f"PTS3H-DSH + {label}",
            kind="semi-supervised",
            base="dsh",
            needs_labels=classes > 0,
            defining={"loss": "dsh"},
            defaults={"neighbours": neighbours, "classes": classes},
            weights=("omega", "gamma", *(("classes",) if classes else ())),
        )
        for name, label, neighbours, classes in [
            ("graph", "graph", 1.0, 0.0),
            ("classes", "classes", 0.0, 0.5),
            ("full", "graph + classes", 1.0, 0.5),  # the default of a hasher that is given labels
        ]
    ),
    DeepSystem(
        name="pts3h-p",
        label="PTS3H-DSH, P (no pseudo pairs)",
        kind="semi-supervised",
        base="dsh",
        defining={"loss": "dsh", "gamma": 0.0},
        weights=("omega",),
    ),
    DeepSystem(
        name="pts3h-q",
        label="PTS3H-DSH, Q (no consistency)",
        kind="semi-supervised",
        base="dsh",
        defining={"loss": "dsh", "consistency": False},
        weights=("omega",),
    ),
    DeepSystem(
        name="pts3h-s",
        label="PTS3H-DSH, S (student's codes)",
        kind="semi-supervised",
        base="dsh",
        defining={"loss": "dsh"},
        network="student",
        weights=("omega", "gamma"),
    ),
]
REGULARISED = [  # DSH with another regulariser in the place of R_u
    DeepSystem(
        name="mean-teacher",
        label="DSH + Mean Teacher",
        kind="semi-supervised",
        base="dsh",
        objective=f"{HERE}.mean_teacher:build",
        defining={"loss": "dsh"},
        defaults={"omega": 0.15},
        weights=("omega",),
    ),
    DeepSystem(
        name="temp-ens",
        label="DSH + TempEns",
        kind="semi-supervised",
        base="dsh",
        objective=f"{HERE}.temp_ens:build",
        defining={"loss": "dsh"},
        weights=("omega",),
    ),
    DeepSystem(
        name="vat",
        label="DSH + VAT",
        kind="semi-supervised",
        base="dsh",
        objective=f"{HERE}.vat:build",
        defining={"loss": "dsh"},
        defaults={"omega": 0.1},
        weights=("omega",),
    ),
    DeepSystem(
        name="sntg",
        label="DSH + SNTG",
        kind="semi-supervised",
        base="dsh",
        objective=f"{HERE}.sntg:build",
        defining={"loss": "dsh"},
        weights=("omega", "gamma"),
    ),
]
RIVALS = [
    DeepSystem(
        name="ssdh",
        label="SSDH",
        kind="semi-supervised",
        needs_labels=True,
        objective=f"{HERE}.ssdh:build",
        defining={"loss": "dsh"},
        defaults={"omega": 0.1},
        weights=("omega",),
    ),
    DeepSystem(
        name="bgdh",
        label="BGDH",
        kind="semi-supervised",
        base="dpsh",
        objective=f"{HERE}.bgdh:build",
        defining={"loss": "dpsh"},
        weights=("omega",),
    ),
    DeepSystem(
        name="dsh-gans",
        label="DSH-GANs",
        kind="semi-supervised",
        needs_labels=True,
        objective=f"{HERE}.dsh_gans:build",
        defining={"loss": "dsh"},
        weights=("omega",),
    ),
    ShallowSystem(
        name="splh",
        label="SPLH",
        kind="semi-supervised",
        learn=f"{SHALLOW}.splh:learn",
        options={"eta": (1.0, 0.1, 0.3, 3.0, 10.0)},
    ),
]
SUPERVISED = [
    DeepSystem(
        name="dsdh",
        label="DSDH",
        kind="supervised",
        needs_labels=True,
        objective=f"{HERE}.dsdh:build",
        defining={"loss": "dpsh", "omega": 0.0},
        defaults={"eta": 1.0},
        weights=("eta",),
    ),
    DeepSystem(
        name="dmdh",
        label="DMDH",
        kind="supervised",
        objective=f"{HERE}.dmdh:build",
        defining={"loss": "dpsh", "omega": 0.0},
        weights=("eta",),
    ),
    DeepSystem(
        name="dish",
        label="DISH",
        kind="supervised",
        objective=f"{HERE}.dish:build",
        defining={"loss": "dsh", "omega": 0.0},
    ),
    ShallowSystem(
        name="ksh-kernel",
        label="KSH (kernel)",
        kind="supervised",
        learn=f"{SHALLOW}.ksh_kernel:learn",
        options={"anchors": (300, 100, 500, 1000), "ridge": (0.03, 0.003, 0.01, 0.1, 0.3)},
    ),
    ShallowSystem(
        name="fasth",
        label="FastH",
        kind="supervised",
        learn=f"{SHALLOW}.fasth:learn",
        options={"trees": (50, 25, 100, 200), "leaves": (16, 4, 8, 32), "rate": (0.1, 0.03, 0.3)},
    ),
]
UNSUPERVISED = [
    ShallowSystem(name=name, label=name.upper(), kind="unsupervised", learn=f"{SHALLOW}.{name}:learn")
    for name in ("itq", "pca", "sh", "lsh")
]

SYSTEMS: Table[System] = Table(
    "system",
    System,
    [*WITH_PTS3H, *PTS3H_VARIANTS, *REGULARISED, *RIVALS, *BASES, *SUPERVISED, *UNSUPERVISED],
)
