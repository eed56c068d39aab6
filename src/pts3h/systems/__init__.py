"""Every system that is compared, behind one protocol."""
