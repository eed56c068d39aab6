"""What reading a damaged database raises, until the store turns it into advice for the user."""


class Damage(Exception):
    """The database holds what no index has written."""
