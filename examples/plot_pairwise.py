"""
Pairs of columns
================

DP-Pairwise: the pairs that exceed the noise, measured twice.
"""

# %%
# The 20,000 customers of the DP-MERF example, at the same epsilon. The report lists the
# three releases: single columns, all pairs, and the pairs that were worth more.
import pandas as pd

from skdpgen import DPIndependentSynthesizer, DPPairwiseSynthesizer
from skdpgen.datasets import load_example
from skdpgen.metrics import total_variation
from skdpgen.plotting import plot_loss, plot_marginals, plot_overview, plot_pairs

X, y = load_example(20_000)
shared = {"epsilon": 3.0, "classes": ["left", "stayed"], "random_state": 0}
pairwise = DPPairwiseSynthesizer(**shared).fit(X, y)
print(pairwise.privacy_)

# %%
# Which pairs were measured again. The choice is made of a release: it may be shown.
names = list(pairwise.cells_)
for j, k in pairwise.pair_releases_[-1].pairs:
    print(names[j], "and", names[k])

# %%
# How near the mixture came to the denoised pairs; 1 is what independent columns leave.
plot_loss(pairwise).savefig("pairwise_loss.png", dpi=80)

# %%
# Each column by itself, and pairs of columns beside the real ones. Pictures of real
# rows show true frequencies: they are outside the guarantee.
X_synthetic, y_synthetic = pairwise.sample()
plot_marginals(X, X_synthetic, max_columns=8).savefig("pairwise_marginals.png", dpi=60)
plot_pairs(X, X_synthetic, max_pairs=4).savefig("pairwise_pairs.png", dpi=70)

# %%
# One page about what came near and what was lost, the label among the columns.
overview = plot_overview((X, y), (X_synthetic, y_synthetic))
overview.savefig("pairwise_overview.png", dpi=70)

# %%
# Rows to be completed: the retired, and the office. All other columns are drawn from
# what the mixture says of such rows.
jobs = pd.DataFrame({"job": ["retired"] * 500 + ["office"] * 500})
completed, _ = pairwise.sample(conditions=jobs)
print(completed.groupby("job")["weekly_hours"].mean())

# %%
# The mean distance of all pairs, beside that of the baseline, which knows single
# columns only.
baseline = DPIndependentSynthesizer(**shared).fit(X, y)
for name, rows in (("pairwise", X_synthetic), ("baseline", baseline.sample()[0])):
    print(name, round(total_variation(X, rows, order=2), 4))
