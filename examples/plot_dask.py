"""
A table in partitions of Dask
=============================

Rows stay in their partitions. Only sums travel to the process of the fit.

The guide is :doc:`/how_to/rows_elsewhere`.
"""

# %%
# Eight partitions stand for a table in a cluster. In production it would come from
# ``dd.read_parquet``, and the partitions would be on several machines.
import dask.dataframe as dd
from matplotlib import pyplot as plt

from skdpgen import DPPairwiseSynthesizer
from skdpgen.datasets import load_example

X, y = load_example(40_000)
X_parts = dd.from_pandas(X, npartitions=8, sort=False)
y_parts = dd.from_pandas(y, npartitions=8, sort=False)
print(X_parts.npartitions, "partitions")

# %%
# ``fit`` takes the collections. Each partition is summed where it is, and the process
# of the fit adds the noise once. So the noise is as large as with all rows in memory.
# The workers and the process of the fit see sums without noise: the certificate states
# who must be trusted.
synthesizer = DPPairwiseSynthesizer(epsilon=1.0, classes=["left", "stayed"])
synthesizer.fit(X_parts, y_parts)
print(next(line for line in synthesizer.privacy_.statements if "Dask" in line))

# %%
# ``sample_dask`` returns a Dask DataFrame whose partitions are drawn where they are
# needed.
synthetic = synthesizer.sample_dask(40_000, chunk_size=5000)
print(type(synthetic).__name__, synthetic.npartitions, "partitions")

# %%
# Now the same query runs on both tables: which share of the customers has a contract,
# a way to pay and a number of products?
names = ["contract", "payment", "n_products"]


def shares(table):
    """Return the share of rows of each group, computed in the partitions."""
    sizes = table.groupby(names, observed=True).size().compute()
    return sizes / sizes.sum()


real = shares(X_parts)
estimated = shares(synthetic).reindex(real.index, fill_value=0.0)
print(
    (100 * real.nlargest(5))
    .to_frame("real %")
    .round(1)
    .join((100 * estimated).rename("synthetic %").round(1))
)

# %%
# Every point is one of the groups. Rare groups are further from the line, because the
# noise is as large as for frequent ones. The shares of real rows have no noise, so this
# picture is outside the guarantee.
figure, axes = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
for contract, color in zip(
    ["monthly", "one year", "two years"],
    ["tab:orange", "tab:blue", "tab:green"],
    strict=True,
):
    axes.scatter(real[contract], estimated[contract], color=color, label=contract)
top = 1.5 * real.max()
axes.plot([1e-4, top], [1e-4, top], color="black", linewidth=0.8, zorder=0)
axes.set(xscale="log", yscale="log", xlabel="share of real rows")
axes.set(ylabel="share of synthetic rows", title="contract × payment × products")
axes.legend(frameon=False)
plt.show()
