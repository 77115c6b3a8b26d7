"""Bounded-norm feature maps, one file each; the next methods bring them."""
