"""What `make demo` runs: fit, print the certificate, look, score, draw."""

from pathlib import Path

from skdpgen import DPPairwiseSynthesizer, compare
from skdpgen.datasets import load_example
from skdpgen.plotting import plot_marginals, plot_pairs


def main(n_samples: int = 20_000) -> None:
    """Protect one table, publish another, and look at both."""
    X, y = load_example(n_samples, random_state=0)
    X_test, y_test = load_example(n_samples // 4, random_state=1)
    print(f"The private table: {X.shape[0]} rows, {X.shape[1]} columns and a label.\n")
    print(X.head(3).to_string(), end="\n\n")

    synthesizer = DPPairwiseSynthesizer(
        epsilon=1.0, classes=["left", "stayed"], random_state=0
    )
    synthesizer.fit(X, y)
    X_synthetic, _ = synthesizer.sample()
    print("A synthetic table, of the same columns and dtypes:\n")
    print(X_synthetic.head(3).to_string(), end="\n\n")
    print("Its certificate: what was promised, and what the budget went into.\n")
    print(synthesizer.privacy_, end="\n\n")

    print("Twelve classifiers, trained on each table and tested on real rows.")
    print("`baseline` keeps no relation between columns; `real` is no synthetic table.")
    print("(The comparison fits the synthesizers again: these are releases, too.)\n")
    comparison = compare({"pairwise": synthesizer}, X, y, X_test, y_test)
    print(comparison, end="\n\n")

    print("Real against synthetic rows. These pictures show real rows: keep them where")
    print("the rows are kept.")
    for name, plot in (("demo", plot_marginals), ("demo_pairs", plot_pairs)):
        picture = Path(f"{name}.png").resolve()
        plot(X, X_synthetic).savefig(picture, dpi=110)
        print(f"  {picture}")


if __name__ == "__main__":
    main()
