"""
Public rows beside private ones
===============================

A similar table that is already public can improve a private fit.

The guide is :doc:`/how_to/public_rows`.
"""

# %%
# The private rows are 3,000 customers with a monthly contract. The public rows are
# 10,000 customers with a longer contract: say that the bank has published them. They
# have the same columns, but they pay lower fees, and pay them otherwise.
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from skdpgen import DPPairwiseSynthesizer, SyntheticUtility
from skdpgen.datasets import load_example
from skdpgen.metrics import total_variation

X, y = load_example(25_000)
is_private = (X.pop("contract") == "monthly").rename("is_private")
private, others = np.split(np.flatnonzero(is_private)[:8000], [3000])
public = np.flatnonzero(~is_private)[:10_000]
X_public, y_public = X.iloc[public], y.iloc[public]
print(X.groupby(is_private)["monthly_fee"].mean().round(2))
print(X.groupby(is_private)["payment"].value_counts(normalize=True).round(2))


# %%
# Fit without and with public rows, at the same epsilon. **You vouch that they are
# public**: nothing protects them, and their values may appear in samples. The
# certificate states how many there were.
def fitted(public_data):
    """Return a synthesizer of the private rows."""
    synthesizer = DPPairwiseSynthesizer(
        epsilon=1.0, classes=["left", "stayed"], random_state=0
    )
    return synthesizer.fit(X.iloc[private], y.iloc[private], public_data=public_data)


alone, helped = fitted(None), fitted((X_public, y_public))
print(next(line for line in helped.privacy_.statements if "public rows" in line))

# %%
# Public rows are used as far as the private release agrees with them. Here each column
# of the public rows is shuffled: they know ranges and categories, and no relationship.
rng = np.random.default_rng(0)
order = [rng.permutation(len(public)) for _ in X]
shuffled = X_public.copy()
for name, rows in zip(X, order, strict=True):
    shuffled[name] = X_public[name].iloc[rows].array
useless = fitted((shuffled, y_public))

# %%
# Compare with other private rows: the distance of all pairs of columns, and the score
# of a classifier that is trained on each table. Both read private rows, so they are
# outside the guarantee.
tables = {
    "no public rows": alone.sample(5000),
    "shuffled public rows": useless.sample(5000),
    "public rows": helped.sample(5000),
    "only the public rows": (X_public, y_public),
}
utility = SyntheticUtility(classifiers=["gradient_boosting"])
X_test, y_test = X.iloc[others], y.iloc[others]
lines = {}
for name, table in tables.items():
    lines[name] = {
        "two-way distance": total_variation((X_test, y_test), table, order=2),
        "ROC-AUC": utility.evaluate(table, X_test, y_test)["roc_auc"].iloc[0],
    }
scores = pd.DataFrame(lines).T
print(scores.round(3))

# %%
# With public rows the synthetic table is closer to the private one, and a classifier
# learns more from it. Shuffled rows help with the first. Many public rows alone may
# train an even better classifier, since they have no noise. But their fees and payments
# are not those of the private table.
figure, (left, right) = plt.subplots(
    ncols=2, figsize=(7, 2.8), sharey=True, layout="constrained"
)
colors = ["tab:blue", "tab:olive", "tab:orange", "0.6"]
for axes, (name, column) in zip((left, right), scores.items(), strict=True):
    axes.bar_label(axes.barh(scores.index, column, color=colors), fmt=" %.2f")
    axes.set_title(name)
    axes.margins(x=0.2)
left.invert_yaxis()
plt.show()
