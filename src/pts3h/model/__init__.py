"""A trained model: inference, its folder, its card."""
