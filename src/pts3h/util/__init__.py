"""Files, progress and cores: what every room may use."""
