"""What the server answers to, one file per concern."""
