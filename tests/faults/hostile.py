"""Pictures and names that nobody would wish for, made by code."""

import io
import os
import struct
import unicodedata
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

from tests.data.test_decoding import chunk, png_header
from tests.pictures import smooth

START = b"\x89PNG\r\n\x1a\n"


def saved(image=None, kind="PNG", **options):
    buffer = io.BytesIO()
    (image or Image.fromarray(smooth(24, 24))).save(buffer, format=kind, **options)
    return buffer.getvalue()


def with_chunks(*chunks):
    """A sound PNG with more chunks behind its header."""
    content = saved()
    return content[:33] + b"".join(chunks) + content[33:]


def orientation(number):
    exif = Image.Exif()
    exif[0x0112] = number
    return exif


def animated(kind):
    frames = [Image.new("RGB", (24, 24), colour) for colour in ("red", "green", "blue")]
    return saved(frames[0], kind, save_all=True, append_images=frames[1:], duration=20)


def grey(side, value, dtype):
    return Image.fromarray(np.full((side, side), value, dtype))


def sound():
    """Odd but whole: each must be encoded."""
    picture = Image.fromarray(smooth(24, 24))
    palette = picture.convert("P")
    alpha = picture.convert("RGBA")
    alpha.putalpha(40)
    return {
        "one-pixel.png": saved(Image.new("RGB", (1, 1), "red")),
        "one-line.png": saved(Image.new("RGB", (300, 1), "red")),
        "cmyk.jpg": saved(picture.convert("CMYK"), "JPEG"),
        "one-bit.png": saved(picture.convert("1")),
        "palette.png": saved(palette),
        "palette-transparent.png": saved(palette, transparency=3),
        "palette-all-transparent.png": saved(palette, transparency=bytes(256)),
        "transparent.png": saved(alpha),
        "deep.png": saved(grey(24, 40_000, np.uint16)),
        "deep.tif": saved(grey(24, 40_000, np.uint16), "TIFF"),
        "float.tif": saved(grey(24, 0.5, np.float32), "TIFF"),
        "animated.gif": animated("GIF"),
        "animated.png": animated("PNG"),
        "animated.webp": animated("WEBP"),
        "orientation-0.jpg": saved(kind="JPEG", exif=orientation(0)),
        "orientation-99.jpg": saved(kind="JPEG", exif=orientation(99)),
        "orientation-6.png": saved(exif=orientation(6)),
        "broken-exif.jpg": saved(kind="JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\xff"),
        "broken-icc.png": saved(icc_profile=b"no profile" * 20),
        "broken-icc.jpg": saved(kind="JPEG", icc_profile=bytes(range(256)) * 9),
        "unknown-chunks.png": with_chunks(*(chunk(b"quIz", bytes(9)) for _ in range(50))),
        "bad-gamma.png": with_chunks(chunk(b"gAMA", struct.pack(">I", 0))),
        "wrong-suffix.png": saved(kind="JPEG"),
        "png-called.jpg": saved(),
        "with-html-behind.png": saved() + b"<script>alert(1)</script>",
        "with-zip-behind.jpg": saved(kind="JPEG") + b"PK\x03\x04" + bytes(99),
        "progressive.jpg": saved(kind="JPEG", progressive=True),
    }


def broken():
    """Each must be named, and leave the others alone."""
    whole, photo = saved(), saved(kind="JPEG")
    huge = struct.pack(">IIBBBBB", 2**31 - 1, 2**31 - 1, 8, 2, 0, 0, 0)
    none = struct.pack(">IIBBBBB", 0, 0, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(24 * 73))
    header = struct.pack(">IIBBBBB", 24, 24, 8, 2, 0, 0, 0)
    return {
        "empty.png": b"",
        "empty.jpg": b"",
        "text.png": b"this is no picture",
        "html.jpg": b"<html><body>404</body></html>",
        "cut.png": whole[: len(whole) // 2],
        "cut.jpg": photo[:200],
        "header-alone.png": whole[:33],
        "signature-alone.png": START,
        "bomb-palette.png": png_header(13_300, 13_300, 3),
        "bomb-colour.png": png_header(60_000, 60_000, 2),
        "bomb-largest.png": START + chunk(b"IHDR", huge) + chunk(b"IDAT", rows) + chunk(b"IEND", b""),
        "bomb-wide.png": png_header(2**31 - 1, 1, 2),
        "no-pixels.png": START + chunk(b"IHDR", none) + chunk(b"IDAT", rows) + chunk(b"IEND", b""),
        "no-palette-no-data.png": png_header(24, 24, 3),
        "long-chunk.png": START + chunk(b"IHDR", header) + struct.pack(">I", 2**31 - 1) + b"IDAT" + rows,
        "nan.tif": saved(grey(24, np.nan, np.float32), "TIFF"),
        "negative.tif": saved(grey(24, -5, np.float32), "TIFF"),
        "gif-header.gif": b"GIF89a" + struct.pack("<HH", 65535, 65535),
        "riff.webp": b"RIFF\xff\xff\xff\xffWEBPVP8 " + bytes(50),
        "a-folder-of-zip.png": b"PK\x03\x04" + bytes(200),
    }


NAMES = [
    "plain.png",
    "-o.png",
    "--help.png",
    "new\nline.png",
    "carriage\rreturn.png",
    "tab\there.png",
    "bell\a\x1b[31m.png",
    " leading.png",
    "trailing .png",
    "[bold]markup[/bold].png",
    "<b>&amp;.png",
    "quote\"'`.png",
    "$(true);|&.png",
    "%s%n{0}.png",
    "back\\slash.png",
    "comma,semicolon;.png",
    "a..dots...png",
    "*?[a].png",
    "right\u202eleft.png",
    "\U0001f600.png",
    unicodedata.normalize("NFC", "é.png"),
    unicodedata.normalize("NFD", "é.png"),
    "x" * 251 + ".png",
    os.fsdecode(b"caf\xe9.png"),
    "null.png",
    "1e5.png",
    "_path.png",
]


def write_odd_names(folder):
    """A picture of its own under each name, and three more in folders."""
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    paths = [Path(name) for name in NAMES]
    (folder / "up").mkdir()
    paths += [Path("up") / ".." / "up" / "a.png", Path("-dash") / "b.png", Path("new\nline") / "c.png"]
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (16, 16, 3), np.uint8)).save(folder / path)
    return paths
