"""Generator networks, torch modules only; the next methods bring them."""
