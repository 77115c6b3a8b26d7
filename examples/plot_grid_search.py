"""
How much epsilon?
=================

Search over the privacy budget, and see what the search itself costs.
"""

# %%
# Every candidate of a search is a release on the same rows. The warning of it is
# silenced here because the costs are added up below.
import warnings

from matplotlib import pyplot as plt
from sklearn.model_selection import GridSearchCV, KFold

from skdpgen import DPIndependentSynthesizer, SyntheticUtility, search_cost
from skdpgen.datasets import load_example
from skdpgen.exceptions import SearchCostWarning

X, y = load_example(20_000)
search = GridSearchCV(
    DPIndependentSynthesizer(classes=["left", "stayed"]),
    {"epsilon": [0.3, 1.0, 5.0]},
    scoring=SyntheticUtility(classifiers=["logistic_regression", "lda"]),
    cv=KFold(3, shuffle=True, random_state=0),
)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", SearchCostWarning)
    search.fit(X, y)

# %%
# The whole search spent more than any one candidate.
print(search_cost(search))

# %%
# Utility against budget.
results = search.cv_results_
figure, axes = plt.subplots(figsize=(5, 3.2), layout="constrained")
axes.errorbar(
    results["param_epsilon"].astype(float),
    results["mean_test_score"],
    results["std_test_score"],
    marker="o",
    capsize=3,
)
axes.set(xscale="log", xlabel="epsilon", ylabel="mean ROC-AUC on real rows")
axes.set_xticks([0.3, 1.0, 5.0], ["0.3", "1", "5"])
axes.minorticks_off()
figure.savefig("grid_search.png")
plt.close(figure)
