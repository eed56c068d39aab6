"""What the training loop minimises, one file each."""
