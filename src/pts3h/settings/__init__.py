"""Settings in two types: what a user asks for, and what is used once the data is known."""
