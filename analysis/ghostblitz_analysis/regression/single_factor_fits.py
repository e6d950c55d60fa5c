"""Linear mixed models with participants as the one grouping factor, by statsmodels and SciPy.

statsmodels' optimisers do not all get there on ordinary data, and do not always say so. They are
tried in a stated order until two agree, and the optimum is checked by its own slope and curvature.
They often stop short where a variance is 0 or a correlation 1, so that searches of the profiled
criterion by SciPy stand beside them.
"""

from __future__ import annotations

import warnings
from importlib.metadata import version
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from statsmodels.regression.mixed_linear_model import MixedLM, MixedLMParams

from ghostblitz_analysis.regression.lmm_estimates import LmmEstimates, NotFittedError
from ghostblitz_analysis.regression.variance_profile import (
    GroupedProducts,
    grouped_products,
    profile_at,
    satterthwaite,
)

__all__ = ["OPTIMISERS", "fit_single_factor"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

#: In the order in which they are tried. L-BFGS stops early on ordinary data, so it is not there.
OPTIMISERS = ("bfgs", "powell", "Nelder-Mead search", "cg", "nm", "Powell search")
#: Those that hold correlations at 0: of statsmodels' only the ones that go by slopes, as it masks
#: the slopes and not the values.
_UNCORRELATED = ("bfgs", "Nelder-Mead search", "cg", "Powell search")
#: SciPy's searches: its method, and the relative standard deviation from which each starts.
_SEARCHES: dict[str, tuple[Literal["Nelder-Mead", "Powell"], float]] = {
    "Nelder-Mead search": ("Nelder-Mead", 0.5),
    "Powell search": ("Powell", 1.0),
}

#: Two optimisers agree if their criteria (-2 log likelihood) differ by less.
_AGREE = 1e-3
#: An optimum is one where a Newton step would gain less.
_OPTIMAL = 1e-3
#: A standard deviation below this share of the residual one counts as 0, as in lme4.
_SINGULAR = 1e-4
#: Below this share it is tried at exactly 0, and kept there if the criterion rises by less.
_NEAR_ZERO = 0.2
_NO_WORSE = 1e-5


def fit_single_factor(
    y: FloatArray,
    fixed: FloatArray,
    *,
    random: tuple[int, ...],
    group: IntArray,
    correlated: bool,
    optimisers: tuple[str, ...] | None = None,
) -> LmmEstimates:
    """Fit by REML; coefficients of some columns vary over the groups.

    Assumes normal residuals of one variance, and normal random effects.

    Parameters
    ----------
    y : (n_rows,) array
        The outcome.
    fixed : (n_rows, n_terms) array
        The design; its first column is the intercept.
    random : tuple of int
        The columns of `fixed` whose coefficients vary over groups: 0 for the intercept.
    group : (n_rows,) int array
        The group of each row, numbered from 0.
    correlated : bool
        Whether these coefficients may be correlated over groups.
    optimisers : tuple of str, optional
        In the order in which they are tried; by default `OPTIMISERS` or, without correlations,
        those that hold them at 0.

    Returns
    -------
    LmmEstimates
        With Satterthwaite's degrees of freedom.

    Raises
    ------
    NotFittedError
        If no optimiser came to finite estimates; it says what each met.
    """
    columns = list(random)
    products = grouped_products(y, fixed, fixed[:, columns], group)
    found: list[tuple[float, str, FloatArray]] = []
    trouble: list[str] = []
    agreed = False
    if optimisers is None:
        optimisers = OPTIMISERS if correlated or len(columns) == 1 else _UNCORRELATED
    for name in optimisers:
        try:
            factor = (
                _searched_factor(products, len(columns), correlated, name)
                if name in _SEARCHES
                else _statsmodels_factor(y, fixed, columns, group, correlated, name)
            )
            criterion = profile_at(factor, products).criterion
        except (np.linalg.LinAlgError, ValueError, FloatingPointError) as error:
            trouble.append(f"{name}: {error}")
            continue
        if not np.isfinite(criterion):
            trouble.append(f"{name}: no finite likelihood")
            continue
        found.append((criterion, name, factor))
        best = min(found, key=lambda item: item[0])
        agreed = sum(c - best[0] < _AGREE for c, *_ in found) > 1
        if agreed:
            break
    if not found:
        raise NotFittedError(f"no optimiser came to an estimate ({'; '.join(trouble)})")
    _, name, factor = min(found, key=lambda item: item[0])
    return _estimates(
        _snapped(factor, products),
        products,
        correlated=correlated,
        optimiser=name,
        agreed=agreed,
        trouble=_trouble(found, trouble, agreed),
    )


def _statsmodels_factor(
    y: FloatArray,
    fixed: FloatArray,
    columns: list[int],
    group: IntArray,
    correlated: bool,
    optimiser: str,
) -> FloatArray:
    """Return the lower factor of the relative covariance that one optimiser finds."""
    model = MixedLM(y, fixed, groups=group, exog_re=fixed[:, columns])
    free = None
    if not correlated and len(columns) > 1:
        free = MixedLMParams.from_components(
            fe_params=np.ones(fixed.shape[1]), cov_re=np.eye(len(columns))
        )
    # What the warnings say is judged from the result itself, which they do not always fit.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = model.fit(reml=True, method=[optimiser], free=free)
        relative = np.asarray(result.cov_re_unscaled, dtype=np.float64)
    return lower_factor(relative)


def _searched_factor(
    products: GroupedProducts, n_random: int, correlated: bool, search: str
) -> FloatArray:
    """Return the lower factor of the relative covariance that a search without slopes finds.

    Its diagonal may take either sign, so that 0 is no edge.
    """
    method, start_sd = _SEARCHES[search]
    start = start_sd * np.eye(n_random)
    places = np.tril_indices(n_random) if correlated else np.diag_indices(n_random)

    def factor_of(values: FloatArray) -> FloatArray:
        factor = np.zeros_like(start)
        factor[places] = values
        return factor

    def criterion(values: FloatArray) -> float:
        return profile_at(factor_of(values), products).criterion

    found = minimize(
        criterion,
        start[places],
        method=method,
        tol=1e-7,
        options={"maxfev": 500 * len(places[0])},
    )
    factor = factor_of(found.x)
    return lower_factor(factor @ factor.T)


def lower_factor(covariance: FloatArray) -> FloatArray:
    """Return the lower triangular factor of a covariance that may be singular."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root = vectors * np.sqrt(np.clip(values, 0.0, None))
    upper = np.linalg.qr(root.T, mode="r")
    signs = np.where(np.diag(upper) < 0, -1.0, 1.0)
    return np.asarray((signs[:, None] * upper).T)


def _snapped(factor: FloatArray, products: GroupedProducts) -> FloatArray:
    """Return the factor with small directions at exactly 0, where the criterion is no worse.

    Optimisers without bounds come near a variance of 0, but stop before it.
    """
    left, sizes, _ = np.linalg.svd(factor)
    limit = profile_at(factor, products).criterion + _NO_WORSE
    for n_kept in range(int((sizes >= _NEAR_ZERO).sum()), len(sizes)):
        fewer = left[:, :n_kept] * sizes[:n_kept]
        snapped = lower_factor(fewer @ fewer.T)
        if profile_at(snapped, products).criterion < limit:
            return snapped
    return factor


def _estimates(
    factor: FloatArray,
    products: GroupedProducts,
    *,
    correlated: bool,
    optimiser: str,
    agreed: bool,
    trouble: tuple[str, ...],
) -> LmmEstimates:
    profile = profile_at(factor, products)
    n_random = len(factor)
    every = np.arange(n_random)
    places = np.tril_indices(n_random) if correlated else (every, every)
    df, still_to_gain = satterthwaite(factor[places], places, products)
    sd = np.linalg.svd(factor, compute_uv=False)
    singular = bool(sd.min() < _SINGULAR)
    return LmmEstimates(
        coefficients=profile.coefficients,
        covariance=profile.covariance,
        df=df,
        participant_covariance=profile.residual_variance * factor @ factor.T,
        item_variance=None,
        residual_variance=profile.residual_variance,
        loglik=-profile.criterion / 2,
        n_variance_parameters=len(places[0]) + 1,
        converged=agreed and still_to_gain < _OPTIMAL,
        singular=singular,
        engine=f"SciPy {version('scipy')}"
        if optimiser in _SEARCHES
        else f"statsmodels {version('statsmodels')}",
        optimiser=optimiser,
        notes=trouble,
    )


def _trouble(
    found: list[tuple[float, str, FloatArray]], failed: list[str], agreed: bool
) -> tuple[str, ...]:
    best = min(criterion for criterion, *_ in found)
    short = [f"{name} stopped {c - best:.3g} short" for c, name, _ in found if c - best >= _AGREE]
    notes = list(failed)
    if short:
        notes.append(f"of the best -2 log likelihood, {' and '.join(short)}")
    if not agreed:
        notes.append("no two optimisers agree, so the estimates may not be the best ones")
    return tuple(notes)
