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
from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec

from ghostblitz_analysis.regression.lmm_estimates import LmmEstimates, NotFittedError
from ghostblitz_analysis.regression.random_parts import RandomComponent, RandomPart
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
OPTIMISERS = (
    "bfgs",
    "BFGS search",
    "BFGS search from afar",
    "Nelder-Mead search",
    "powell",
    "Powell search",
)
#: SciPy's searches: its method, and the relative standard deviation from which each starts.
_SEARCHES: dict[str, tuple[Literal["BFGS", "Nelder-Mead", "Powell"], float]] = {
    "BFGS search": ("BFGS", 0.5),
    "BFGS search from afar": ("BFGS", 2.0),
    "Nelder-Mead search": ("Nelder-Mead", 0.5),
    "Powell search": ("Powell", 1.0),
}
#: Of slopes by differences, which are no finer, and of steps.
_TOLERANCES = {"BFGS": 1e-5, "Nelder-Mead": 1e-7, "Powell": 1e-7}

#: Two optimisers agree if their criteria (-2 log likelihood) differ by less.
_AGREE = 1e-3
#: An optimum is one where a Newton step would gain less.
_OPTIMAL = 1e-3
#: Below this share it is tried at exactly 0, and kept there if the criterion rises by less.
_NEAR_ZERO = 0.2
_NO_WORSE = 1e-5


def fit_single_factor(
    y: FloatArray,
    fixed: FloatArray,
    *,
    random: RandomPart,
    group: IntArray,
    optimisers: tuple[str, ...] = OPTIMISERS,
) -> LmmEstimates:
    """Fit by REML; some coefficients vary over the groups.

    Assumes normal residuals of one variance, and normal random effects.

    Parameters
    ----------
    y : (n_rows,) array
        The outcome.
    fixed : (n_rows, n_terms) array
        The design; its first column is the intercept.
    random : RandomPart
        What varies over the groups.
    group : (n_rows,) int array
        The group of each row, numbered from 0.
    optimisers : tuple of str
        In the order in which they are tried.

    Returns
    -------
    LmmEstimates
        With Satterthwaite's degrees of freedom.

    Raises
    ------
    NotFittedError
        If no optimiser came to finite estimates; it says what each met.
    """
    varying, basis = _varying(fixed, random)
    products = grouped_products(y, fixed, varying, group)
    found: list[tuple[float, str, FloatArray]] = []
    trouble: list[str] = []
    agreed = False
    for name in optimisers:
        try:
            parameters = (
                _searched(products, basis, random, name)
                if name in _SEARCHES
                else _by_statsmodels(y, fixed, random, group, name)
            )
            criterion = profile_at(_factor(parameters, basis), products).criterion
        except (np.linalg.LinAlgError, ValueError, FloatingPointError) as error:
            trouble.append(f"{name}: {error}")
            continue
        if not np.isfinite(criterion):
            trouble.append(f"{name}: no finite likelihood")
            continue
        found.append((criterion, name, parameters))
        best = min(found, key=lambda item: item[0])
        agreed = sum(c - best[0] < _AGREE for c, *_ in found) > 1
        if agreed:
            break
    if not found:
        raise NotFittedError(f"no optimiser came to an estimate ({'; '.join(trouble)})")
    _, name, parameters = min(found, key=lambda item: item[0])
    # Optimisers end within their tolerances, which standard errors show sooner than likelihoods.
    parameters = _minimised(parameters, products, basis, random, "BFGS")
    return _estimates(
        _snapped(parameters, basis, random, products),
        basis,
        products,
        random=random,
        optimiser=name,
        agreed=agreed,
        trouble=_trouble(found, trouble, agreed),
    )


def _varying(fixed: FloatArray, random: RandomPart) -> tuple[FloatArray, FloatArray]:
    """Return the columns that vary over groups, and what each parameter does to their factor.

    The lower factor of the relative covariance is the sum of the (n_parameters, n_random,
    n_random) `basis` times the parameters: first the triangle of the correlated columns, row by
    row, then one standard deviation for all levels of each grouping.
    """
    n_columns = len(random.columns)
    rows, columns = np.tril_indices(n_columns)
    n_random = n_columns + sum(each.n_levels for each in random.groupings)
    basis = np.zeros((random.n_parameters, n_random, n_random))
    basis[np.arange(len(rows)), rows, columns] = 1.0
    parts, start = [fixed[:, list(random.columns)]], n_columns
    for number, grouping in enumerate(random.groupings, start=len(rows)):
        places = np.arange(start, start + grouping.n_levels)
        basis[number, places, places] = 1.0
        parts.append(np.eye(grouping.n_levels)[grouping.level])
        start += grouping.n_levels
    return np.column_stack(parts), basis


def _factor(parameters: FloatArray, basis: FloatArray) -> FloatArray:
    return np.tensordot(parameters, basis, axes=1)


def _by_statsmodels(
    y: FloatArray, fixed: FloatArray, random: RandomPart, group: IntArray, optimiser: str
) -> FloatArray:
    """Return the parameters that one optimiser of statsmodels finds."""
    components = None
    if random.groupings:
        people = np.unique(group)
        components = VCSpec(
            [each.name for each in random.groupings],
            [[[str(n) for n in range(g.n_levels)] for _ in people] for g in random.groupings],
            [[np.eye(g.n_levels)[g.level[group == p]] for p in people] for g in random.groupings],
        )
    model = MixedLM(
        y, fixed, groups=group, exog_re=fixed[:, list(random.columns)], exog_vc=components
    )
    # What the warnings say is judged from the result itself, which they do not always fit.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = model.fit(reml=True, method=[optimiser])
        relative = np.asarray(result.cov_re_unscaled, dtype=np.float64)
        shares = np.asarray(result.vcomp, dtype=np.float64) / result.scale
    return _parameters(lower_factor(relative), np.sqrt(shares))


def _parameters(factor: FloatArray, sds: FloatArray) -> FloatArray:
    """Return the parameters of the correlated columns' factor, and of the groupings' SDs."""
    return np.concatenate([factor[np.tril_indices(len(factor))], sds])


def _searched(
    products: GroupedProducts, basis: FloatArray, random: RandomPart, search: str
) -> FloatArray:
    """Return the parameters that a search of SciPy finds from a start of its own."""
    method, start_sd = _SEARCHES[search]
    start = _parameters(
        start_sd * np.eye(len(random.columns)), np.full(len(random.groupings), start_sd)
    )
    return _minimised(start, products, basis, random, method)


def _minimised(
    start: FloatArray,
    products: GroupedProducts,
    basis: FloatArray,
    random: RandomPart,
    method: Literal["BFGS", "Nelder-Mead", "Powell"],
) -> FloatArray:
    """Return the parameters at the minimum; on the way they take either sign, so 0 is no edge."""

    def criterion(values: FloatArray) -> float:
        return profile_at(_factor(values, basis), products).criterion

    found = minimize(criterion, start, method=method, tol=_TOLERANCES[method])
    n_columns = len(random.columns)
    block = _factor(found.x, basis)[:n_columns, :n_columns]
    return _parameters(lower_factor(block @ block.T), np.abs(found.x[_n_block(random) :]))


def _n_block(random: RandomPart) -> int:
    """Count the parameters of the correlated columns; those of the groupings come after."""
    return random.n_parameters - len(random.groupings)


def lower_factor(covariance: FloatArray) -> FloatArray:
    """Return the lower triangular factor of a covariance that may be singular."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root = vectors * np.sqrt(np.clip(values, 0.0, None))
    upper = np.linalg.qr(root.T, mode="r")
    signs = np.where(np.diag(upper) < 0, -1.0, 1.0)
    return np.asarray((signs[:, None] * upper).T)


def _snapped(
    parameters: FloatArray, basis: FloatArray, random: RandomPart, products: GroupedProducts
) -> FloatArray:
    """Return the parameters with small variances at exactly 0, where the criterion is no worse.

    Optimisers without bounds come near a variance of 0, but stop before it. Of correlated columns
    it is a direction that may have none.
    """
    limit = profile_at(_factor(parameters, basis), products).criterion + _NO_WORSE
    n_columns, n_block = len(random.columns), _n_block(random)
    left, sizes, _ = np.linalg.svd(_factor(parameters, basis)[:n_columns, :n_columns])
    for n_kept in range(int((sizes >= _NEAR_ZERO).sum()), len(sizes)):
        fewer = left[:, :n_kept] * sizes[:n_kept]
        snapped = _parameters(lower_factor(fewer @ fewer.T), parameters[n_block:])
        if profile_at(_factor(snapped, basis), products).criterion < limit:
            parameters = snapped
            break
    for place in range(n_block, len(parameters)):
        if parameters[place] >= _NEAR_ZERO:
            continue
        snapped = parameters.copy()
        snapped[place] = 0.0
        if profile_at(_factor(snapped, basis), products).criterion < limit:
            parameters = snapped
    return parameters


def _estimates(
    parameters: FloatArray,
    basis: FloatArray,
    products: GroupedProducts,
    *,
    random: RandomPart,
    optimiser: str,
    agreed: bool,
    trouble: tuple[str, ...],
) -> LmmEstimates:
    factor = _factor(parameters, basis)
    profile = profile_at(factor, products)
    df, still_to_gain = satterthwaite(parameters, basis, products)
    n_columns = len(random.columns)
    block = factor[:n_columns, :n_columns]
    components = [
        RandomComponent(
            "participant_id", random.columns, profile.residual_variance * block @ block.T
        )
    ]
    for grouping, sd in zip(random.groupings, parameters[_n_block(random) :], strict=True):
        variance = np.array([[profile.residual_variance * sd**2]])
        components.append(RandomComponent(grouping.name, (0,), variance))
    return LmmEstimates(
        coefficients=profile.coefficients,
        covariance=profile.covariance,
        df=df,
        components=tuple(components),
        residual_variance=profile.residual_variance,
        loglik=-profile.criterion / 2,
        n_variance_parameters=random.n_parameters + 1,
        converged=agreed and still_to_gain < _OPTIMAL,
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
    short = [f"{name} {c - best:.3g} above it" for c, name, _ in found if c - best >= _AGREE]
    notes = list(failed)
    if short:
        notes.append(
            f"the estimates are those of the smallest -2 log likelihood; other searches for it "
            f"ended early: {' and '.join(short)}"
        )
    if not agreed:
        notes.append("no two optimisers agree, so the estimates may not be the best ones")
    return tuple(notes)
