"""``python -m pts3h`` is ``pts3h``."""

from .cli.start import main

main()
