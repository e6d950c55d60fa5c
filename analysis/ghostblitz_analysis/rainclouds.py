"""Parts of rainclouds: dots that are moved apart sideways, and half densities beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy import stats

from ghostblitz_analysis.plot_axes import FloatArray

__all__ = ["jitter", "plot_clouds"]

#: Steps of this share of a turn never come back near an earlier one: the golden section.
_GOLDEN = (5**0.5 - 1) / 2
#: A density of fewer values says more about its bandwidth than about them. A choice.
MIN_VALUES = 6
#: How far the highest cloud of a plot reaches, in units of the axis.
_HIGHEST = 0.36
_N_POINTS = 80


def jitter(participants: pd.Series) -> FloatArray:
    """Return a place from -0.5 to 0.5 per row: the same for all rows of a participant.

    It follows from the order of ids alone, so the same table gives the same plot.
    """
    codes = pd.factorize(participants, sort=True)[0]
    return np.asarray((codes * _GOLDEN) % 1.0 - 0.5, dtype=np.float64)


def plot_clouds(
    values: Sequence[FloatArray],
    ax: Axes,
    *,
    places: FloatArray,
    colours: Sequence[str],
    back: Callable[[FloatArray], FloatArray],
) -> Axes:
    """Draw half densities that stand on vertical lines and reach to the right.

    Parameters
    ----------
    values : sequence of (n,) arrays
        Of each cloud, on the scale on which densities are estimated: kernel density with Scott's
        bandwidth (Scott 1992, "Multivariate Density Estimation"), cut at the smallest and largest
        value. NaN are left out; under 6 values, or equal ones, give no cloud.
    ax : Axes
        Where to draw.
    places : (n_clouds,)
        Where each stands on the x axis.
    colours : sequence of str
        One per cloud.
    back : callable
        From the scale of `values` to that of the y axis.
    """
    shapes: list[tuple[FloatArray, FloatArray] | None] = []
    for each in values:
        found = each[~np.isnan(each)]
        if len(found) < MIN_VALUES or np.ptp(found) <= 1e-9 * max(1.0, np.abs(found).max()):
            shapes.append(None)
            continue
        grid = np.linspace(found.min(), found.max(), _N_POINTS)
        shapes.append((grid, np.asarray(stats.gaussian_kde(found)(grid), dtype=np.float64)))
    highest = max((shape[1].max() for shape in shapes if shape is not None), default=1.0)
    for shape, place, colour in zip(shapes, places, colours, strict=True):
        if shape is not None:
            grid, density = shape
            ax.fill_betweenx(
                back(grid), place, place + _HIGHEST * density / highest,
                color=colour, alpha=0.35, lw=0, zorder=1,
            )  # fmt: skip
    return ax
