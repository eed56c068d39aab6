"""From examples to a trained network: the loop, and what stands around it."""
