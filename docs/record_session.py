"""Record docs/session.md: the command line on the example table.

``python docs/record_session.py`` runs each command in an empty folder, for about two
minutes, and writes the page anew. The noise differs each time.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from skdpgen.datasets import load_example

PAGE = Path(__file__).parent / "session.md"
SKDPGEN = Path(sys.executable).parent / "skdpgen"
WIDTH = 100  # longer lines are cut, with dots
MOST_LINES = 24  # of one command

HEAD = """# A session on the command line

Four commands on one file, with everything they print. {doc}`guide/19_command_line` explains the
options. `people.csv` holds 20,000 rows of `skdpgen.datasets.load_example`: made-up bank customers,
and a column `status` that says who left. `python docs/record_session.py` records this page.
"""

# what a reader should know, and the command
STEPS = [
    (
        "Look at the file. Commands other than `skdpgen` are those of the shell.",
        "head -n 3 people.csv",
    ),
    (
        "**Fit.** This reads the private file once and prints the certificate. The two labels "
        "are public here.",
        "skdpgen fit people.csv --target status --classes left,stayed --out model",
    ),
    (
        "**Sample.** Synthetic rows use no privacy budget, however many you take.",
        "skdpgen sample model -n 10000 -o synthetic.csv",
    ),
    ("The rows have the format of the file.", "head -n 3 synthetic.csv"),
    (
        "**Report.** One page about the guarantee, from released quantities only. You may "
        "publish it.",
        "skdpgen report model -o report.html",
    ),
    (
        "**Bench.** Compare methods on the table. This fits each method, so it uses privacy "
        "budget for each fit, and scores read the real rows: keep the result where the rows are.",
        "skdpgen bench --data people.csv --target status --methods pairwise,independent "
        "--seeds 1",
    ),
]


def main() -> None:
    """Run the commands, and write the page."""
    with tempfile.TemporaryDirectory() as folder:
        X, y = load_example(20_000)
        X.assign(status=y).to_csv(Path(folder) / "people.csv", index=False)
        parts = [HEAD]
        for text, command in STEPS:
            output = _output_of(command, folder)
            parts.append(f"{text}\n\n```text\n$ {command}\n{output}\n```\n")
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def _output_of(command: str, folder: str) -> str:
    """Return what a command prints, except its progress."""
    words = command.split()
    if words[0] == "skdpgen":
        words[0] = str(SKDPGEN)
    done = subprocess.run(words, cwd=folder, env=os.environ, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command}\n{done.stdout}{done.stderr}")
    lines = [
        line if len(line) <= WIDTH else line[: WIDTH - 4] + " ..."
        for line in done.stdout.strip().splitlines()
    ]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], "..."]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
