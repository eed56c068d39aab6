"""Which answers judge and never teach: those about one item in ten, by its name, the same ones for ever."""

from functools import lru_cache
from hashlib import sha256

ONE_IN = 10


@lru_cache(maxsize=100_000)
def kept_back(item: str) -> bool:
    """Whether answers about this item are kept back, on every machine and under every model."""
    digest = sha256(item.encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % ONE_IN == 0
