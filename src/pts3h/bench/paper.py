"""What the paper reports (arXiv 1902.00643), to put beside our figures.

AlexNet throughout, but VGG-F for SSDH, BGDH and DSDH; fine-tuned on a GPU, mean of five runs.
"""

COLUMNS = {"cifar10": (12, 24, 32, 48), "nuswide21": (12, 24, 32, 48), "imagenet100": (16, 32, 48, 64)}

LABELLED = {"cifar10": 5000, "nuswide21": 10500, "imagenet100": 13000}

# Table 1, MAP by method and data set; HashNet's and DMDH's first figure is of 16 bits on the first two
MAP: dict[str, dict[str, tuple[float | None, ...]]] = {
    "pts3h-dsh": {
        "cifar10": (0.798, 0.828, 0.835, 0.843),
        "nuswide21": (0.752, 0.774, 0.783, 0.789),
        "imagenet100": (0.612, 0.680, 0.697, 0.703),
    },
    "pts3h-dpsh": {
        "cifar10": (0.789, 0.799, 0.801, 0.805),
        "nuswide21": (0.803, 0.827, 0.831, 0.842),
        "imagenet100": (0.397, 0.542, 0.618, 0.634),
    },
    "ssdh": {"cifar10": (0.801, 0.813, 0.812, 0.814), "nuswide21": (0.773, 0.779, 0.778, 0.778)},
    "bgdh": {"cifar10": (0.805, 0.824, 0.826, 0.833), "nuswide21": (0.803, 0.818, 0.822, 0.828)},
    "dsh": {
        "cifar10": (0.741, 0.794, 0.809, 0.820),
        "nuswide21": (0.740, 0.762, 0.764, 0.773),
        "imagenet100": (0.589, 0.648, 0.650, 0.662),
    },
    "dpsh": {
        "cifar10": (0.751, 0.771, 0.776, 0.778),
        "nuswide21": (0.799, 0.821, 0.827, 0.834),
        "imagenet100": (0.379, 0.528, 0.591, 0.608),
    },
    "dsdh": {"cifar10": (0.740, 0.786, 0.801, 0.820), "nuswide21": (0.776, 0.808, 0.820, 0.829)},
    "dish": {"cifar10": (0.758, 0.784, 0.799, 0.791), "nuswide21": (0.787, 0.810, 0.810, 0.813)},
    "hashnet": {
        "cifar10": (None, None, 0.692, 0.718),
        "nuswide21": (None, None, 0.755, 0.762),
        "imagenet100": (0.502, 0.622, 0.661, 0.682),
    },
    "dmdh": {
        "cifar10": (None, None, 0.732, 0.737),
        "nuswide21": (None, None, 0.781, 0.789),
        "imagenet100": (0.513, 0.612, 0.673, 0.692),
    },
    "mihash": {
        "cifar10": (0.738, 0.775, 0.791, 0.816),
        "nuswide21": (0.773, 0.820, 0.831, 0.843),
        "imagenet100": (0.569, 0.661, 0.685, 0.694),
    },
}
AT_16_BITS = {
    ("hashnet", "cifar10"): 0.686,
    ("hashnet", "nuswide21"): 0.733,
    ("dmdh", "cifar10"): 0.704,
    ("dmdh", "nuswide21"): 0.751,
}

# Table 2, variants of PTS3H-DSH at 32 and 48 bits: MAP, then precision within radius 2
VARIANTS: dict[str, dict[str, tuple[tuple[float, float], tuple[float, float]]]] = {
    "pts3h-p": {"cifar10": ((0.829, 0.838), (0.829, 0.827)), "nuswide21": ((0.777, 0.787), (0.763, 0.727))},
    "pts3h-q": {"cifar10": ((0.817, 0.826), (0.821, 0.814)), "nuswide21": ((0.772, 0.777), (0.759, 0.710))},
    "pts3h-s": {"cifar10": ((0.833, 0.842), (0.834, 0.830)), "nuswide21": ((0.783, 0.789), (0.771, 0.739))},
    "pts3h-dsh": {"cifar10": ((0.835, 0.843), (0.832, 0.829)), "nuswide21": ((0.782, 0.789), (0.770, 0.737))},
}
VARIANT_BITS = (32, 48)


def paper_map(method: str, dataset: str, bits: int, labels: int) -> float | None:
    """The paper's MAP, or None where it has none for this many labelled items."""
    if LABELLED.get(dataset) != labels:
        return None
    if bits == 16 and (method, dataset) in AT_16_BITS:
        return AT_16_BITS[method, dataset]
    row, columns = MAP.get(method, {}).get(dataset), COLUMNS.get(dataset, ())
    if row is not None and bits in columns:
        return row[columns.index(bits)]
    return variant(method, dataset, bits, 0)


def paper_precision(method: str, dataset: str, bits: int, labels: int) -> float | None:
    """The paper's precision within radius 2, or None where it has none for this many labelled items."""
    return variant(method, dataset, bits, 1) if LABELLED.get(dataset) == labels else None


def variant(method: str, dataset: str, bits: int, figure: int) -> float | None:
    """A figure of Table 2: 0 for MAP, 1 for precision."""
    row = VARIANTS.get(method, {}).get(dataset)
    return None if row is None or bits not in VARIANT_BITS else row[figure][VARIANT_BITS.index(bits)]
