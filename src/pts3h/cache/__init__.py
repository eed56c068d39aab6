"""What can be made again, kept on disk: rows under keys, in files that only grow, within a bound."""
