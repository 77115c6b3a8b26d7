"""``python -m skdpgen`` is the command ``skdpgen``."""

from skdpgen.cli import main

if __name__ == "__main__":
    main(prog_name="skdpgen")
