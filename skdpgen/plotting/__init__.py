"""Plots of real against synthetic rows, and of training."""

from skdpgen.plotting._marginals import plot_marginals
from skdpgen.plotting._overview import plot_overview
from skdpgen.plotting._pair_plot import plot_pairs
from skdpgen.plotting._training import plot_calibration, plot_images, plot_loss

__all__ = [
    "plot_calibration",
    "plot_images",
    "plot_loss",
    "plot_marginals",
    "plot_overview",
    "plot_pairs",
]
