"""Which files are pictures: the formats that are read, and those that are left out of a folder and named."""

from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

HEIC = "HEIF"  # Pillow's name for it
HEIC_EXTRA = "pip install 'pts3h[heic]'"

# decoders we let loose on strangers' files: the picture formats people have, none of the exotic ones
SUFFIXES_OF = {
    "JPEG": (".jpg", ".jpeg", ".jpe", ".jfif"),
    "PNG": (".png", ".apng"),
    "WEBP": (".webp",),
    "BMP": (".bmp",),
    "GIF": (".gif",),
    "TIFF": (".tif", ".tiff"),
    "AVIF": (".avif",),
    HEIC: (".heic", ".heif", ".hif"),
}
SUFFIXES = tuple(suffix for suffixes in SUFFIXES_OF.values() for suffix in suffixes)
# pictures too, but nothing here reads them
OTHERS = (
    *(".psd", ".xcf", ".svg", ".eps", ".ico", ".tga", ".pbm", ".pgm", ".ppm", ".pnm", ".exr", ".hdr"),
    *(".jp2", ".j2k", ".jxl", ".dng", ".cr2", ".cr3", ".nef", ".arw", ".orf", ".rw2", ".raf", ".pef", ".srw"),
)


@cache
def readable_formats() -> tuple[str, ...]:
    """Formats that can be read here, by Pillow's names; HEIC needs an extra."""
    try:
        import_module("pillow_heif").register_heif_opener()
    except ImportError:
        return tuple(name for name in SUFFIXES_OF if name != HEIC)
    return tuple(SUFFIXES_OF)


def formats_for(suffix: str) -> tuple[str, ...]:
    """The same, that of a file's suffix first: to try another, Pillow may load the decoders of all.

    Each format begins in its own way, so that the order does not matter, but for HEIC: the decoder of AVIF
    takes some of its files, and stays before it.
    """
    return tuple(sorted(readable_formats(), key=lambda name: name == HEIC or suffix not in SUFFIXES_OF[name]))


def lacks_extra(path: Path) -> bool:
    """Whether a file would be read if the extra for HEIC were installed."""
    return path.suffix.lower() in SUFFIXES_OF[HEIC] and HEIC not in readable_formats()


def find_images(folder: Path) -> tuple[list[Path], Counter[str]]:
    """All picture files below ``folder`` in a fixed order, and how many of which suffix are left out.

    Hidden files and folders are passed over. A link that leads nowhere counts: reading it will say so.
    """
    found, left_out = list[Path](), Counter[str]()
    for path in sorted(folder.rglob("*")):
        suffix = path.suffix.lower()
        if suffix not in (*SUFFIXES, *OTHERS) or not (path.is_file() or leads_nowhere(path)):
            continue
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if suffix in OTHERS or lacks_extra(path):
            left_out[suffix] += 1
        else:
            found.append(path)
    return found, left_out


def leads_nowhere(path: Path) -> bool:
    """Whether a path is a link to something that is not there."""
    return path.is_symlink() and not path.exists()


def describe_left_out(left_out: Mapping[str, int]) -> str:
    """ "12 .heic (pip install 'pts3h[heic]' reads them), 1 .psd"."""
    return ", ".join(
        f"{count:,} {suffix}{f' ({HEIC_EXTRA} reads them)' if suffix in SUFFIXES_OF[HEIC] else ''}"
        for suffix, count in sorted(left_out.items())
    )
