"""
Search over epsilon and the number of features
==============================================

``GridSearchCV`` compares settings of a synthesizer, and ``search_cost`` adds up what
the search itself cost.

The guide is :doc:`/how_to/searching`.
"""

# %%
# DP-MERF releases random Fourier features of private rows, and trains a generator to
# match them. How many features, and which epsilon? The rows are the 1,797 handwritten
# digits of scikit-learn. They are few, so even ``epsilon=10`` is not large here.
import warnings

from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, KFold

from skdpgen import DPMERFSynthesizer, Generator, SyntheticUtility, search_cost

pixels, digits = load_digits(return_X_y=True)
images = pixels.reshape(-1, 8, 8) / 16

# %%
# The score of a candidate is the accuracy of a classifier that is trained on synthetic
# digits and tested on real digits that the synthesizer did not read. Folds must not
# depend on the rows, so use ``KFold`` and not ``StratifiedKFold``.
epsilons, numbers = [1.0, 3.0, 10.0], [20, 200, 1000]
search = GridSearchCV(
    DPMERFSynthesizer(
        classes=range(10), generator=Generator(max_iter=30), random_state=0
    ),
    {"epsilon": epsilons, "n_features": numbers},
    scoring=SyntheticUtility(classifiers=["lda"]),
    cv=KFold(2, shuffle=True, random_state=0),
)
with warnings.catch_warnings():  # it warns that each fit costs, which is shown below
    warnings.simplefilter("ignore")
    search.fit(images, digits)
print(search.best_params_)

# %%
# Every candidate is a release on the same rows, and all of them count, not only the
# best one. The choice among them reads real rows without noise and is not covered.
cost = search_cost(search)
print(cost)

# %%
# On the left are the scores. On the right is the epsilon of the best candidate, and
# that of all releases of the search together. So search on public images, as here, and
# then fit once on the private ones.
scores = search.cv_results_["mean_test_score"].reshape(len(epsilons), len(numbers)).T
figure, (left, right) = plt.subplots(
    ncols=2, figsize=(7, 3.4), width_ratios=[2, 1], layout="constrained"
)
left.imshow(scores, cmap="Oranges", origin="lower", aspect="auto", vmin=0, vmax=1)
for (row, column), score in zip(
    [(i, j) for i in range(3) for j in range(3)], scores.ravel(), strict=True
):
    left.text(column, row, f"{score:.2f}", ha="center", va="center", fontsize=13)
left.set_xticks(range(3), epsilons)
left.set_yticks(range(3), numbers)
left.set(xlabel="epsilon", ylabel="features", title="accuracy on real digits")
bars = right.bar(
    ["best\ncandidate", "whole\nsearch"],
    [search.best_params_["epsilon"], cost.epsilon],
    color=["0.6", "tab:orange"],
)
right.bar_label(bars, fmt="%.1f")
right.set_title("epsilon")
right.margins(y=0.12)
plt.show()
