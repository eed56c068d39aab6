"""The paper's tables and figures: a matrix of runs, and reports made of its cells."""
