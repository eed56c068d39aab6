"""A page to look at: what a model makes of items."""

from .write import write_report

__all__ = ["write_report"]
