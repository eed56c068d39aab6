"""``python -m pts3h`` is ``pts3h``."""

from .cli import main

main()
