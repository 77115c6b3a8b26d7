"""
A number as the target
======================

Rents of flats: a float target makes it a regression, with twelve regressors to score.
"""

# %%
# A schema of public knowledge leaves the whole budget to the histograms.
from skdpgen import (
    Boolean,
    Categorical,
    DPIndependentSynthesizer,
    Integer,
    Numeric,
    Schema,
    SyntheticUtility,
)
from skdpgen.datasets import load_example_regression
from skdpgen.plotting import plot_marginals

X, y = load_example_regression(5000)
schema = Schema(
    {
        "district": Categorical(["centre", "harbour", "hill", "garden", "edge"]),
        "area": Numeric(10, 300, decimals=1),
        "rooms": Integer(1, 10),
        "year_built": Integer(1850, 2030),
        "balcony": Boolean(),
        "parking_fee": Numeric(0, 400, decimals=2),
        "furnished": Boolean(),
        "heating": Categorical(["district", "gas", "electric", "heat pump"]),
    },
    target=Numeric(0, 6000, decimals=2),
)

# %%
# The target is cut into bins, and the columns are drawn independently given the bin.
synthesizer = DPIndependentSynthesizer(epsilon=2.0, schema=schema).fit(X, y)
print(synthesizer.privacy_)

# %%
# R² on real flats.
X_test, y_test = load_example_regression(2000, random_state=1)
print(SyntheticUtility().evaluate(synthesizer, X_test, y_test).round(3))

# %%
# Flats of a given rent.
X_cheap, _ = synthesizer.sample(y=[500.0] * 200)
X_dear, _ = synthesizer.sample(y=[2000.0] * 200)
print("mean area:", X_cheap["area"].mean().round(), X_dear["area"].mean().round())

# %%
# Real against synthetic columns; a picture of real rows is outside the guarantee.
X_synthetic, y_synthetic = synthesizer.sample()
plot_marginals(X, X_synthetic).savefig("regression.png")
