"""Codes go where people's data are, and come back: one table of file formats."""

from .formats import FORMATS, Format
from .moving import Exported, Imported, export_index, import_index

__all__ = ["FORMATS", "Exported", "Format", "Imported", "export_index", "import_index"]
