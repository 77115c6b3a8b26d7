"""
Reading a certificate
=====================

A certificate states what is promised, what the budget was used for, and what was
assumed to be public.

The guide is :doc:`/read_a_certificate`.
"""

# %%
# Every fitted synthesizer has a certificate, ``privacy_``.
from textwrap import shorten

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from skdpgen import DPPairwiseSynthesizer
from skdpgen.datasets import load_example

X, y = load_example(20_000)
synthesizer = DPPairwiseSynthesizer(epsilon=1.0, classes=["left", "stayed"])
synthesizer.fit(X, y)
certificate = synthesizer.privacy_
print(certificate)

# %%
# **The promise** is in the first line. If it begins with ``NOT PRIVATE``, stop. The
# unit is one row. Under "replace" the values of a row are protected, but not the fact
# that somebody is in the table. At another delta the same fit has another epsilon.
for delta in (1e-5, 1e-6, 2e-7):
    print(f"delta {delta:g}: epsilon {certificate.epsilon_at(delta):.2f}")

# %%
# **What was read** is a list of releases: counts of the private rows, with noise. The
# column ``share`` is the part of the budget, in squares of mu. Nothing else goes from
# the rows into the result, except what the last lines list as public.
releases = pd.DataFrame(certificate.to_dict()["releases"])
print(releases[["name", "sensitivity", "noise_std", "share"]].round(3).to_string())
print(f"spent: {certificate.spent:.1%}")

# %%
# **What was assumed** is in the last lines, and also what was lost, if much was.
# Somebody vouches for the assumptions: object if one of these facts is not public.
for statement in certificate.statements:
    print("-", statement)

# %%
# **What epsilon means.** Somebody suspects something about you, and knows all other
# rows. The lines bound the probability of the suspicion after the release, up to the
# small probability delta. At epsilon 1 a guess of one in two becomes at most about
# three in four. At epsilon 10 the bound is near certainty.
#
# No certificate knows how often the same rows were fitted: ask for all of them.
figure, (left, right) = plt.subplots(
    ncols=2, figsize=(8.5, 3.6), width_ratios=[1.1, 1], layout="constrained"
)
names = [shorten(name, 34, placeholder=" …") for name in releases["name"]]
bars = left.barh(names, 100 * releases["share"], color="tab:orange")
left.bar_label(bars, fmt=" %.1f %%")
left.set_title("use of the budget")
left.set_xticks([])
left.margins(x=0.3)
left.invert_yaxis()
before = np.linspace(0, 1, 201)
for epsilon, color in ((0.1, "0.7"), (1, "tab:orange"), (3, "tab:red"), (10, "black")):
    odds = np.exp(epsilon) * before
    after = odds / (odds + 1 - before)
    right.plot(before, after, color=color, label=f"ε = {epsilon:g}")
right.plot([0.5, 0.5], [0.5, np.e / (1 + np.e)], color="tab:orange", linestyle=":")
right.set(
    xlabel="suspected before", ylabel="at most, after", title="odds of a suspicion"
)
right.legend(frameon=False)
right.set_aspect("equal")
plt.show()
