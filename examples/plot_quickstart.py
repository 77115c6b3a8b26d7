"""
Quick start
===========

Fit a synthesizer on a private table, sample, look at what it cost and what it is worth.
"""

# %%
# A private table of mixed types: 5000 customers, 15 % of whom left.
from skdpgen import DPIndependentSynthesizer, SyntheticUtility
from skdpgen.datasets import load_example
from skdpgen.plotting import plot_marginals

X, y = load_example(5000)

# %%
# One call reads it. The labels are public; bounds and categories are found privately.
synthesizer = DPIndependentSynthesizer(epsilon=1.0, classes=["left", "stayed"])
synthesizer.fit(X, y)
print(synthesizer.privacy_)

# %%
# Sampling costs nothing.
X_synthetic, y_synthetic = synthesizer.sample()
print(X_synthetic.head())

# %%
# Twelve classifiers learn from the synthetic rows and are tested on real ones.
X_test, y_test = load_example(2000, random_state=1)
print(SyntheticUtility().evaluate(synthesizer, X_test, y_test).round(3))

# %%
# A picture shows true frequencies of the real rows: it is outside the guarantee.
figure = plot_marginals(X, X_synthetic)
figure.savefig("quickstart.png")
