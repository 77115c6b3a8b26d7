"""
Pipelines before and after
==========================

A synthesizer is the last step of a pipeline. The pipeline of a model is trained on
synthetic rows, as it would be on real ones.

The guide is :doc:`/how_to/searching`.
"""

# %%
# The table has 10,000 flats and their rents. A target of floats makes the task a
# regression.
import warnings

import numpy as np
from matplotlib import pyplot as plt
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skdpgen import DPPairwiseSynthesizer, SyntheticUtility, search_cost
from skdpgen.datasets import load_example_regression

X, y = load_example_regression(10_000)
X_test, y_test = load_example_regression(3000, random_state=1)
print(X.head(3))

# %%
# The synthesizer needs no scaler and no encoder before it: it takes text, truth values
# and missing values. So it is the only step of its pipeline.
pipeline = Pipeline([("synthesizer", DPPairwiseSynthesizer())])
pipeline.set_params(synthesizer__epsilon=2.0).fit(X, y)
X_synthetic, y_synthetic = pipeline[-1].sample()
print(X_synthetic.head(3))

# %%
# Synthetic rows may be scaled, encoded and imputed freely. What a model learns from
# them has the guarantee of the fit, at no further cost.
texts = ["district", "heating"]
encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
model = make_pipeline(
    make_column_transformer((encoder, texts), remainder="passthrough"),
    HistGradientBoostingRegressor(random_state=0),
)
model[0].set_output(transform="pandas")
by_real = model.fit(X, y).predict(X_test)
by_synthetic = model.fit(X_synthetic, y_synthetic).predict(X_test)
print(f"R2, trained on real flats:      {r2_score(y_test, by_real):.2f}")
print(f"R2, trained on synthetic flats: {r2_score(y_test, by_synthetic):.2f}")

# %%
# **Do not put a fitted step before the synthesizer.** A scaler there holds the exact
# mean of the private rows, so one changed row moves all others. Noise does not cover
# that, and the certificate cannot know of it. ``search_cost`` refuses such a search.
search = GridSearchCV(
    Pipeline([("scaler", StandardScaler()), *pipeline.steps]),
    {"synthesizer__epsilon": [1.0]},
    scoring=SyntheticUtility(classifiers=["ridge"]),
    cv=KFold(2, shuffle=True, random_state=0),
)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    search.fit(X[["area", "rooms"]][:1000], y[:1000])
try:
    search_cost(search)
except ValueError as error:
    print(error)

# %%
# Predicted and true rents of flats that neither model has seen. Dear flats are rare, so
# noise hides them first. Test rows are real, so the scores and this picture are outside
# the guarantee.
figure, panels = plt.subplots(
    ncols=2, figsize=(7, 3.6), sharex=True, sharey=True, layout="constrained"
)
for axes, predicted, name, color in (
    (panels[0], by_real, "real flats", "0.45"),
    (panels[1], by_synthetic, "synthetic flats", "tab:orange"),
):
    axes.scatter(y_test, predicted, s=4, alpha=0.4, color=color, linewidth=0)
    axes.axline((0, 0), slope=1, color="black", linewidth=0.8)
    axes.set(title=f"{name}: R² = {r2_score(y_test, predicted):.2f}", xlabel="rent")
limits = np.quantile(y_test, [0, 0.995])
panels[0].set(ylabel="predicted rent", xlim=limits, ylim=limits)
plt.show()
