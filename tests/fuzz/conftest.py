"""How long the fuzz tests look: seconds under `make test`, many examples under `make fuzz`."""

from hypothesis import settings

settings.register_profile("long", max_examples=20_000, derandomize=False)
