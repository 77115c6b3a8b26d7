"""Try out an installed skdpgen that has no extras: `make smoke` runs this file.

It runs in a folder of its own, with ``python -I``, so nothing of a copy of the
repository can be imported by mistake.
"""

import importlib.metadata
import importlib.util
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# autodp brings matplotlib along.
EXTRAS = ("dask", "opacus", "polars", "pyarrow", "pytest", "torchvision")
ROWS = 20_000


class Steps:
    """Print what each step took."""

    def __init__(self):
        self.start = time.perf_counter()

    def done(self, what):
        """End a step, and start the next."""
        now = time.perf_counter()
        print(f"{now - self.start:6.1f} s  {what}", flush=True)
        self.start = now


def command(*arguments):
    """Run the installed command line; return what it prints."""
    program = Path(sys.executable).parent / "skdpgen"
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"skdpgen {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def try_out_python(folder, steps):
    """Use the package as the first page of the documentation does."""
    import skdpgen

    steps.done("import skdpgen")
    assert Path(skdpgen.__file__).is_relative_to(sys.prefix), skdpgen.__file__
    assert importlib.metadata.version("skdpgen") == skdpgen.__version__
    extras = [name for name in EXTRAS if importlib.util.find_spec(name)]
    assert not extras, f"this environment is not bare: it has {extras}"

    from skdpgen.datasets import load_example

    X, y = load_example(ROWS)
    synthesizer = skdpgen.DPPairwiseSynthesizer(epsilon=1.0, classes=["left", "stayed"])
    steps.done(f"libraries, and the example table of {ROWS} rows")
    X_synthetic, y_synthetic = synthesizer.fit(X, y).sample()
    steps.done("fit and sample")
    assert X_synthetic.dtypes.astype(str).equals(X.dtypes.astype(str))
    assert len(X_synthetic) == len(y_synthetic) == ROWS
    assert synthesizer.privacy_.epsilon <= 1.0

    synthesizer.save(folder / "fitted.skdpgen")
    loaded = skdpgen.load(folder / "fitted.skdpgen")
    first, second = (
        one.sample(100, random_state=0)[0] for one in (synthesizer, loaded)
    )
    assert first.equals(second)
    steps.done("save and load")
    loaded.report(folder / "report.html")
    assert "<html" in (folder / "report.html").read_text("utf-8")
    steps.done("report")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{peak:6.0f} MB of memory at most, so far")
    X.assign(y=y).to_csv(folder / "rows.csv", index=False)
    return skdpgen.__version__


def try_out_command_line(folder, steps, version):
    """Use the command line as its page does."""
    steps.done("a CSV file is written")
    assert command("--version").split()[-1] == version
    model, sampled = folder / "model", folder / "synthetic.csv"
    command("fit", str(folder / "rows.csv"), "--target", "y", "--out", str(model))
    steps.done("skdpgen fit")
    command("sample", str(model), "-n", "1000", "-o", str(sampled))
    assert len(sampled.read_text("utf-8").splitlines()) == 1001
    steps.done("skdpgen sample")
    command("report", str(model), "-o", str(folder / "of_command.html"))
    assert (folder / "of_command.html").stat().st_size > 10_000
    steps.done("skdpgen report")


def main():
    """Try out everything in a temporary folder."""
    steps = Steps()
    with tempfile.TemporaryDirectory() as name:
        version = try_out_python(Path(name), steps)
        try_out_command_line(Path(name), steps, version)
    print(f"skdpgen {version} works without extras.")


if __name__ == "__main__":
    main()
