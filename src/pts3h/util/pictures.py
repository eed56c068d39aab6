"""Pictures inside of pages that need nothing else."""

import base64
import io

from PIL import Image


def to_png(image: Image.Image) -> bytes:
    """The bytes of a PNG file."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def to_jpeg(image: Image.Image) -> bytes:
    """The bytes of a JPEG file, small enough for a thumbnail."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=80)
    return buffer.getvalue()


def as_data(content: bytes, kind: str = "image/png") -> str:
    """A picture as an address that holds the picture itself."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
