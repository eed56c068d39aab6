"""What is learned from: items, what is known of their pairs, splits, batches, and the field's data sets."""
