"""What `make demo` runs: fit, print the guarantee, score, draw."""

from pathlib import Path

from skdpgen import DPIndependentSynthesizer, compare
from skdpgen.datasets import load_example
from skdpgen.plotting import plot_marginals


def main(n_samples: int = 10_000) -> None:
    """Protect one table, publish another, and look at both."""
    X, y = load_example(n_samples, random_state=0)
    X_test, y_test = load_example(n_samples // 2, random_state=1)
    print(f"The private table: {X.shape[0]} rows, {X.shape[1]} columns and a label.\n")
    print(X.head(3).to_string(), end="\n\n")

    synthesizer = DPIndependentSynthesizer(
        epsilon=1.0, delta=1e-5, classes=["left", "stayed"], random_state=0
    )
    synthesizer.fit(X, y)
    X_synthetic, _ = synthesizer.sample()
    print("A synthetic table, of the same columns and dtypes:\n")
    print(X_synthetic.head(3).to_string(), end="\n\n")
    print("What it cost:\n")
    print(synthesizer.privacy_, end="\n\n")

    print("Twelve classifiers, trained on each table and tested on real rows.")
    print("(The comparison fits the synthesizer anew: that is a release of its own.)\n")
    comparison = compare({"independent": synthesizer}, X, y, X_test, y_test)
    print(comparison, end="\n\n")

    picture = Path("demo.png").resolve()
    plot_marginals(X, X_synthetic).savefig(picture, dpi=110)
    print(f"Real against synthetic columns: {picture}")


if __name__ == "__main__":
    main()
