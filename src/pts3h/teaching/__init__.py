"""What people say of items, kept for good, and which question is worth their time."""
