"""
From a CSV file to a synthetic CSV file
=======================================

A private CSV file becomes a synthetic file with the same columns, types and formats.

The guide is :doc:`/tutorials/your_csv`.
"""

# %%
# First we need a private file. This one is artificial: 20,000 customers of a bank, some
# of whom left. One customer is one row, which is the unit that is protected.
import tempfile
from pathlib import Path

import pandas as pd

from skdpgen import Categorical, DPPairwiseSynthesizer, Integer
from skdpgen.datasets import load_example
from skdpgen.plotting import plot_marginals

folder = Path(tempfile.mkdtemp())
X, y = load_example(20_000)
X.assign(churn=y).to_csv(folder / "customers.csv", index=False)
print(*(folder / "customers.csv").read_text().splitlines()[:4], sep="\n")

# %%
# Read the file with a stated dtype for each column. The guarantee takes dtypes as
# public, but a dtype that pandas guesses depends on private values. Text is a safe
# choice: dates and numbers in it are recognised privately.
whole = dict.fromkeys(["age", "weekly_hours", "n_products", "late_payments"], "Int64")
numbers = dict.fromkeys(["income", "balance", "monthly_fee"], "float64")
table = pd.read_csv(
    folder / "customers.csv",
    dtype=dict.fromkeys([*X.columns, "churn"], "str") | whole | numbers,
)
target = table.pop("churn")

# %%
# State what everyone may know, such as the values that the form offers. ``-9`` in the
# late payments is a code for "not asked" and not a number. All other columns are
# discovered privately. That uses a part of the budget.
schema = {
    "contract": Categorical(["monthly", "one year", "two years"]),
    "payment": Categorical(["direct debit", "card", "transfer"]),
    "late_payments": Integer(0, 20, codes=[-9]),
}
synthesizer = DPPairwiseSynthesizer(
    epsilon=1.0, schema=schema, classes=["left", "stayed"]
)
synthesizer.fit(table, target)
print(synthesizer.columns_[["type", "is_discovered", "other", "missing"]].round(2))

# %%
# Write the synthetic file and its certificate. You may share both: they were computed
# from noisy counts only.
X_synthetic, y_synthetic = synthesizer.sample()
X_synthetic.assign(churn=y_synthetic).to_csv(folder / "synthetic.csv", index=False)
(folder / "certificate.txt").write_text(str(synthesizer.privacy_), encoding="utf-8")
print(*(folder / "synthetic.csv").read_text().splitlines()[:4], sep="\n")

# %%
# Compare single columns: real rows are grey, synthetic rows are orange. Codes, missing
# values and rare values have bars of their own, in percent. The real rows in this
# picture have no noise, so a picture of your own private rows is only for you.
columns = [
    *("age", "job", "region", "weekly_hours"),
    *("income", "contract_end", "monthly_fee", "late_payments"),
]
figure = plot_marginals(table, X_synthetic, columns=columns)
figure
