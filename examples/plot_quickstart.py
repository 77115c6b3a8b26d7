"""
Quick start
===========

Fit a synthesizer on a private table, sample, look at what it cost and what it is worth.
"""

# %%
# A private table of mixed types: 20,000 customers, 15 % of whom left.
from skdpgen import DPPairwiseSynthesizer, SyntheticUtility
from skdpgen.datasets import load_example
from skdpgen.plotting import plot_marginals, plot_pairs

X, y = load_example(20_000)

# %%
# One call reads it. The labels are public; bounds and categories are found privately.
synthesizer = DPPairwiseSynthesizer(epsilon=1.0, classes=["left", "stayed"])
synthesizer.fit(X, y)
print(synthesizer.privacy_)

# %%
# Sampling costs nothing.
X_synthetic, y_synthetic = synthesizer.sample()
print(X_synthetic.head())

# %%
# Classifiers learn from the synthetic rows and are tested on real ones: three of
# twelve, to be quick.
X_test, y_test = load_example(2000, random_state=1)
utility = SyntheticUtility(
    classifiers=["logistic_regression", "gaussian_nb", "gradient_boosting"]
)
print(utility.evaluate(synthesizer, X_test, y_test).round(3))

# %%
# Pictures show true frequencies of the real rows: they are outside the guarantee.
plot_marginals(X, X_synthetic).savefig("quickstart.png")
columns = ["job", "weekly_hours", "education", "income"]
pairs = plot_pairs(X, X_synthetic, columns=columns, max_pairs=2)
pairs.savefig("quickstart_pairs.png", dpi=75)
