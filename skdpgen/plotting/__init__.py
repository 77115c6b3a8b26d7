"""Pictures of real against synthetic rows."""

from skdpgen.plotting._marginals import plot_marginals

__all__ = ["plot_marginals"]
