"""What is minimised: PTS3H, and its parts as variants."""
