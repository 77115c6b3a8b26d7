"""
Parquet files, read in chunks
=============================

A fit reads a folder of Parquet files a few rows at a time, several times.

The guide is :doc:`/how_to/large_tables`.
"""

# %%
# The folder stands for a table that does not fit into memory. Here it has ten files of
# 10,000 rows each.
import tempfile
import time
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
from matplotlib import pyplot as plt

from skdpgen import Chunks, DPPairwiseSynthesizer, plan
from skdpgen.datasets import load_example

folder = Path(tempfile.mkdtemp())
for part in range(10):
    X, y = load_example(10_000, random_state=part)
    X.assign(churn=y).to_parquet(folder / f"{part}.parquet")
print(len(list(folder.iterdir())), "files")

# %%
# Later questions of a fit depend on earlier, noisy answers, so it reads the rows
# several times. ``plan`` states how often at most, before a row is read.
print(plan(n=100_000, columns=16))

# %%
# Give ``fit`` the folder and the name of the target. The types of the columns in the
# files are public. The values are not, even those that a dictionary of Arrow lists.
synthesizer = DPPairwiseSynthesizer(epsilon=1.0, classes=["left", "stayed"])
synthesizer.fit(folder, "churn")
print(f"{synthesizer.privacy_.spent:.0%} of the budget was spent")

# %%
# Samples are written in chunks, too, with the types of the private file.
result = Path(tempfile.mkdtemp()) / "synthetic.parquet"
synthesizer.sample_parquet(result, 100_000)
print(pq.read_metadata(result).num_rows, "synthetic rows")
print(pq.read_schema(result).remove_metadata())

# %%
# To see the passes, wrap the files in a function that notes when each file is read.
# ``Chunks`` calls it once for each pass.
started = time.perf_counter()
noted = []


def open_chunks():
    """Yield each file as a pair (X, y)."""
    noted.append([])
    for part in range(10):
        table = pd.read_parquet(folder / f"{part}.parquet")
        noted[-1].append(time.perf_counter() - started)
        yield table.drop(columns="churn"), table["churn"]


synthesizer.fit(Chunks(open_chunks))
seconds = time.perf_counter() - started

# %%
# Each line is one pass over the ten files. Once the last pass has ended, training and
# sampling use released numbers only.
passes = [times for times in noted if len(times) == 10]  # others see the first columns
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
for times in passes:
    axes.plot(times, range(1, 11), marker=".", color="tab:orange")
end = passes[-1][-1]
axes.axvspan(end, seconds, color="0.92")
axes.text((end + seconds) / 2, 5.5, "training:\nno row is read", ha="center")
axes.set(xlabel="seconds", ylabel="file", title=f"{len(passes)} passes of one fit")
axes.set_yticks([1, 5, 10])
plt.show()
