"""Record docs/how_to/session.md: the command line on the example table.

``python docs/record_session.py`` runs each command in an empty folder, and writes the
page. The noise differs each time.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from skdpgen.datasets import load_example

PAGE = Path(__file__).parent / "how_to" / "session.md"
SKDPGEN = Path(sys.executable).parent / "skdpgen"
WIDTH = 100  # longer lines are cut, with dots
MOST_LINES = 30  # of one command

HEAD = """# A session on the command line

Three commands on one file, with what they print. {doc}`/how_to/command_line` explains
the options. `people.csv` holds 20,000 artificial bank customers. Its column `status`
states who left. Long lines end in dots.
"""

# what a reader should know, and the command
STEPS = [
    (
        "**Fit.** This reads the private file and prints the certificate\n"
        "({doc}`../read_a_certificate`). The two labels are public here.",
        "skdpgen fit people.csv --target status --classes left,stayed --out model",
    ),
    (
        "**Sample.** Synthetic rows use no privacy budget, however many you take.",
        "skdpgen sample model -n 10000 -o synthetic.csv",
    ),
    (
        "They have the columns of the file, in its order, and write numbers and dates\n"
        'as it does ({doc}`/how_to/command_line`, "Output").',
        "head -n 3 synthetic.csv",
    ),
    (
        "**Report.** One page about the guarantee, from released quantities only.\n"
        "You may publish it.",
        "skdpgen report model -o report.html",
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
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
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
