"""
Digits
======

Images of handwritten digits, private and drawn in under a minute.
"""

# %%
# 1,797 digits of 8 x 8 pixels come with scikit-learn. That is few, so epsilon is large.
from sklearn.datasets import load_digits

from skdpgen import DPMERFSynthesizer, Generator, SyntheticUtility
from skdpgen.metrics import image_fidelity
from skdpgen.plotting import plot_images, plot_loss

digits, labels = load_digits(return_X_y=True)
images = digits.reshape(-1, 8, 8) / 16
train, test = slice(0, 1300), slice(1300, None)
synth = DPMERFSynthesizer(
    epsilon=10.0,
    classes=range(10),
    n_features=2000,
    generator=Generator(max_iter=300),
    random_state=0,
)
synth.fit(images[train], labels[train])
print(synth.privacy_)

# %%
# A row for each digit. Pictures of synthetic images are covered by the guarantee.
X_synthetic, y_synthetic = synth.sample(2000)
plot_images(X_synthetic, y_synthetic).savefig("digits.png", dpi=80)
plot_loss(synth).savefig("digits_loss.png", dpi=80)

# %%
# What models make of them, tested on real digits: outside the guarantee.
utility = SyntheticUtility(classifiers=["logistic_regression", "random_forest", "cnn"])
synthetic = utility.evaluate((X_synthetic, y_synthetic), images[test], labels[test])
real = utility.evaluate((images[train], labels[train]), images[test], labels[test])
print(synthetic[["accuracy"]].assign(real=real["accuracy"]).round(3))
print(image_fidelity(images[test], X_synthetic))
