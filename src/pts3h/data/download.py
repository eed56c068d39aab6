"""Verified downloads into the cache."""

import hashlib
from pathlib import Path

from ..errors import UserError
from ..files import cache_folder


def download(address: str, *, digest: str) -> Path:
    """Fetch ``address`` once, checked against ``digest`` ("sha256:..." or "md5:...")."""
    import pooch

    name = address.rsplit("/", 1)[-1]
    folder = cache_folder("downloads")
    pooch.get_logger().setLevel("ERROR")
    try:
        fetched = pooch.retrieve(
            address, known_hash=digest, fname=name, path=folder, downloader=pooch.HTTPDownloader(timeout=20)
        )
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise UserError(f"cannot download {address} ({reason})") from error
    return Path(fetched)


def has_digest(path: Path, digest: str) -> bool:
    """Whether a file's content has this digest."""
    kind, expected = digest.split(":")
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest() == expected
