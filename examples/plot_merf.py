"""
Relations between columns
=========================

DP-MERF against independent columns: what training finds, and how it looks.
"""

# %%
# 20,000 customers. A relationship is learned if it exceeds the noise: many rows help,
# a larger epsilon, and a larger share of the release for pairs.
from skdpgen import DPIndependentSynthesizer, DPMERFSynthesizer, Generator
from skdpgen.datasets import load_example
from skdpgen.metrics import total_variation
from skdpgen.plotting import plot_loss, plot_marginals, plot_pairs

X, y = load_example(20_000)
shared = {"epsilon": 3.0, "classes": ["left", "stayed"], "random_state": 0}
merf = DPMERFSynthesizer(
    feature_norm=0.3, generator=Generator(n_latent=4, max_iter=250), **shared
)
merf.fit(X, y)
print(merf.privacy_)

# %%
# How far the generator came: below 1 are relations that single columns do not have.
plot_loss(merf).savefig("merf_loss.png", dpi=80)

# %%
# Each column by itself, and pairs of columns beside the real ones. Pictures of real
# rows show true frequencies: they are outside the guarantee.
X_synthetic, y_synthetic = merf.sample()
plot_marginals(X, X_synthetic, max_columns=8).savefig("merf_marginals.png", dpi=60)
plot_pairs(X, X_synthetic, max_pairs=4).savefig("merf_pairs.png", dpi=70)

# %%
# The mean distance of all pairs, beside that of the baseline, which knows single
# columns only.
baseline = DPIndependentSynthesizer(**shared).fit(X, y)
for name, rows in (("merf", X_synthetic), ("baseline", baseline.sample()[0])):
    print(name, round(total_variation(X, rows, order=2), 4))
