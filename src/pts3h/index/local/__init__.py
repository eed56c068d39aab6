"""The local engine: one SQLite file, searched in memory."""
