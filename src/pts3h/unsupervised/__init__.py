"""What items say without any known pair: principal directions, ITQ, the graph of neighbours."""
