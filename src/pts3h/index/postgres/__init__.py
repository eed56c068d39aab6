"""The Postgres engine: the same contract in a table of a database that people have already."""
