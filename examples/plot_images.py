"""
Images at three privacy budgets
===============================

DP-MGE makes synthetic images in seconds: no network is trained.

The guide is :doc:`/tutorials/images`.
"""

# %%
# scikit-learn has 1,797 handwritten digits of 8 x 8 pixels. An array of three
# dimensions counts as grey images, with pixels from 0 to 1. The last 497 digits are
# kept for tests.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from skdpgen import DPMGESynthesizer, SyntheticUtility
from skdpgen.metrics import image_fidelity
from skdpgen.privacy import PrivacyBudget

pixels, labels = load_digits(return_X_y=True)
images = pixels.reshape(-1, 8, 8) / 16
train, test = slice(0, 1300), slice(1300, None)

# %%
# DP-MGE releases noisy means and covariances of the low frequencies of the images, by
# class. The labels 0 to 9 are public. The accuracy is that of a classifier that is
# trained on synthetic digits and tested on real ones.
utility = SyntheticUtility(classifiers=["logistic_regression"])
drawn, lines = {}, {}
for epsilon in (3.0, 10.0, 30.0):
    synthesizer = DPMGESynthesizer(epsilon, classes=range(10), random_state=0)
    drawn[epsilon] = synthesizer.fit(images[train], labels[train]).sample(2000)
    scores = utility.evaluate(drawn[epsilon], images[test], labels[test])
    lines[epsilon] = {
        "mu": synthesizer.privacy_.mu,
        "accuracy": scores["accuracy"].iloc[0],
    }
table = pd.DataFrame(lines).T.rename_axis("epsilon")

# %%
# 1,300 images are few, so the budgets are large, and 30 promises next to nothing. More
# images need less: the noise of a mean is in inverse proportion to their number times
# mu. The last column has the number of images with the same noise at epsilon 1.
at_one = PrivacyBudget(1.0, 1e-6).mu
table["images at epsilon 1"] = (1300 * table["mu"] / at_one).round(-2).astype(int)
print(table.round(2))
real = utility.evaluate((images[train], labels[train]), images[test], labels[test])
print(f"trained on real images: accuracy {real['accuracy'].iloc[0]:.2f}")

# %%
# Image metrics compare features of real and synthetic images. They depend on the
# feature extractor, which the result names. Like the accuracy above, they read real
# images and are outside the guarantee.
print(image_fidelity(images[test], drawn[30.0][0]))

# %%
# Real digits are in the first row, and synthetic digits of one fit in each row below.
# Synthetic images have the guarantee of their fit. Do not publish the real ones of
# your own.
figure, panels = plt.subplots(4, 10, figsize=(7, 3.1), layout="constrained")
shown = {"real": (images[train], labels[train])}
shown |= {f"ε = {epsilon:g}": drawn[epsilon] for epsilon in (30.0, 10.0, 3.0)}
for line, (name, (rows, classes)) in zip(panels, shown.items(), strict=True):
    for digit, axes in enumerate(line):
        first = np.flatnonzero(np.asarray(classes) == digit)[0]
        axes.imshow(rows[first], cmap="gray_r", vmin=0, vmax=1)
        axes.set(xticks=[], yticks=[])
    line[0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=12)
plt.show()
