"""The data sets of the field, one file each, and the table that names them."""
