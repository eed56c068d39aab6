"""``python -m pts3h`` is ``pts3h``."""

from .cli.app import main

main()
