"""
Parties that do not share their rows
====================================

Four banks fit one synthesizer to all their customers. No bank sees rows of another.

The guide is :doc:`/how_to/rows_elsewhere`.
"""

# %%
# The banks have 500 to 4,000 customers. Parties that trust no one need a public schema
# of all columns, so this example takes five columns.
import warnings
from textwrap import fill

import pandas as pd
from matplotlib import pyplot as plt

from skdpgen import Boolean, Categorical, DPPairwiseSynthesizer, Integer, Schema
from skdpgen.datasets import load_example
from skdpgen.metrics import total_variation
from skdpgen.parties import GuardedParty, Parties, Party
from skdpgen.privacy import NoiseShares, PrivacyBudget, pair_keys

schema = Schema(
    {
        "age": Integer(18, 99),
        "n_products": Integer(1, 5),
        "owns_home": Boolean(),
        "contract": Categorical(["monthly", "one year", "two years"]),
        "payment": Categorical(["direct debit", "card", "transfer"]),
    }
)
X, y = load_example(8000)
X = X[list(schema.columns)]
bank = pd.cut(range(8000), [-1, 499, 1999, 3999, 7999], labels=["A", "B", "C", "D"])
rows = {name: (X[bank == name], y[bank == name]) for name in bank.categories}
print({name: len(labels) for name, (_, labels) in rows.items()})
options = {"epsilon": 1.0, "delta": 1e-5, "classes": ["left", "stayed"]}

# %%
# **Each bank for itself.** The noise is as large for a small bank, but more visible,
# because there are fewer rows. A bank that learns no relationship gets a warning.
fits = {}
for name, own in rows.items():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        synthesizer = DPPairwiseSynthesizer(schema=schema, **options).fit(*own)
    fits[f"bank {name} alone"] = synthesizer
    print(name, [str(warning.message).partition(":")[0] for warning in caught])

# %%
# **A trusted combiner.** Each party answers the questions of the fit with sums of its
# own rows. The combiner sees these sums without noise, adds them up, and adds the noise
# once.
parties = [Party(name, *own) for name, own in rows.items()]
combined = DPPairwiseSynthesizer(schema=schema, **options).fit(Parties(parties))
fits["together, trusted combiner"] = combined
line = next(line for line in combined.privacy_.statements if "trusted" in line)
print(fill(line, 80))

# %%
# **No trusted party.** Each party adds its share of the noise, and hides the result
# behind masks that cancel in the sum. So no one sees a sum without noise. Of four
# parties, one may work for an attacker. The noise is a little larger for that reason.
# In production each two parties agree on a new key for each fit.
noise = NoiseShares.honest_majority(4)
keys = pair_keys(list(rows))
guarded = [
    GuardedParty(name, *own, keys=keys[name], noise=noise, epsilon=1.0, delta=1e-5)
    for name, own in rows.items()
]
shared = DPPairwiseSynthesizer(schema=schema, **options)
shared.fit(Parties(guarded, n_rows=len(X), noise=noise))
fits["together, no one trusted"] = shared
line = next(line for line in shared.privacy_.statements if "shares" in line)
print(fill(line, 80))
against_two = noise.epsilon(PrivacyBudget(1.0, 1e-5), 2)
print(f"against two attackers, epsilon is {against_two:.2f}")

# %%
# The distance of each synthetic table to other customers, over all pairs of columns. It
# reads rows without noise, so it is outside the guarantee. (Each fit costs its own
# epsilon. Real banks would choose one of the three ways.)
others = load_example(8000, random_state=1)
test = others[0][list(schema.columns)], others[1]
distances = pd.Series(
    {
        name: total_variation(test, synthesizer.sample(8000), order=2)
        for name, synthesizer in fits.items()
    }
)
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
colors = ["0.6"] * 4 + ["tab:blue", "tab:orange"]
axes.bar_label(axes.barh(distances.index, distances, color=colors), fmt=" %.3f")
axes.set_title("two-way distance to other customers")
axes.margins(x=0.2)
axes.invert_yaxis()
plt.show()
