"""The laboratory: reproductions of papers, peers, speed, and tables that are large.

Not part of the package. ``python -m benchmarks --help`` says what it measures.
"""
