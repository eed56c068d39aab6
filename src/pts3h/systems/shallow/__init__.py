"""Systems that learn from plain vectors, without a network."""
