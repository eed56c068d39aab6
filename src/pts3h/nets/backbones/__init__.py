"""Image networks, one file each, and the table that names them."""
