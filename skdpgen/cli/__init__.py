"""``skdpgen`` on the command line: from a file to a synthetic file, and its papers."""

from skdpgen.cli._command import main

__all__ = ["main"]
