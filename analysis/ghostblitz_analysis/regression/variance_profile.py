"""The profiled REML criterion of a linear mixed model with one grouping factor.

Given the covariance of the random effects relative to the residual variance, everything else of
the model follows in closed form (Bates et al. 2015, Journal of Statistical Software 67(1)):
coefficients, residual variance, likelihood. An optimiser only has to find the relative covariance;
here what it found is judged, and degrees of freedom follow from the curvature.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["GroupedProducts", "Profile", "grouped_products", "profile_at", "satterthwaite"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

#: Steps of the central differences, for standard deviations relative to the residual one.
_STEP = 1e-4
#: Curvature below this share of the largest counts as none.
_FLAT = 1e-8


@dataclass(frozen=True, eq=False)
class GroupedProducts:
    """Sums of products of a data set, all that the criterion needs of it.

    Attributes
    ----------
    zz : (n_groups, n_random, n_random) array
    zx : (n_groups, n_random, n_terms) array
    zy : (n_groups, n_random) array
    xx : (n_terms, n_terms) array
    xy : (n_terms,) array
    yy : float
    n : int
        Rows.
    """

    zz: FloatArray
    zx: FloatArray
    zy: FloatArray
    xx: FloatArray
    xy: FloatArray
    yy: float
    n: int


@dataclass(frozen=True, eq=False)
class Profile:
    """The model at one relative covariance.

    Attributes
    ----------
    criterion : float
        -2 times the restricted log likelihood.
    coefficients : (n_terms,) array
    covariance : (n_terms, n_terms) array
        Of the coefficients.
    residual_variance : float
    """

    criterion: float
    coefficients: FloatArray
    covariance: FloatArray
    residual_variance: float


def grouped_products(
    y: FloatArray, fixed: FloatArray, random: FloatArray, group: IntArray
) -> GroupedProducts:
    """Sum products over the rows of each group.

    Parameters
    ----------
    y : (n_rows,) array
    fixed : (n_rows, n_terms) array
    random : (n_rows, n_random) array
        Columns whose coefficients vary over groups.
    group : (n_rows,) int array
        From 0, none without rows.
    """
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    y, fixed, random = y[order], fixed[order], random[order]

    def summed(values: FloatArray) -> FloatArray:
        return np.asarray(np.add.reduceat(values, starts, axis=0), dtype=np.float64)

    return GroupedProducts(
        zz=summed(random[:, :, None] * random[:, None, :]),
        zx=summed(random[:, :, None] * fixed[:, None, :]),
        zy=summed(random * y[:, None]),
        xx=fixed.T @ fixed,
        xy=fixed.T @ y,
        yy=float(y @ y),
        n=len(y),
    )


def profile_at(factor: FloatArray, products: GroupedProducts) -> Profile:
    """Return the model at a relative covariance.

    Parameters
    ----------
    factor : (n_random, n_random) array
        Lower triangular; times its transpose it is the covariance of the random effects over the
        residual variance.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the coefficients are not determined by the data.
    """
    n_random, n_terms = len(factor), len(products.xy)
    penalised = factor.T @ products.zz @ factor + np.eye(n_random)
    lower = np.linalg.cholesky(penalised)
    right = np.concatenate([products.zx, products.zy[:, :, None]], axis=2)
    solved = np.linalg.solve(lower, factor.T @ right)
    z_x, z_y = solved[:, :, :n_terms], solved[:, :, n_terms]
    information = products.xx - np.einsum("gri,grj->ij", z_x, z_x)
    coefficients = np.linalg.solve(information, products.xy - np.einsum("gri,gr->i", z_x, z_y))
    explained = coefficients @ (products.xy - np.einsum("gri,gr->i", z_x, z_y))
    residual = products.yy - float(np.sum(z_y**2)) - float(explained)
    free = products.n - n_terms
    log_det_random = 2 * float(np.log(np.diagonal(lower, axis1=1, axis2=2)).sum())
    log_det_fixed = float(np.linalg.slogdet(information)[1])
    variance = residual / free
    criterion = free * (1 + np.log(2 * np.pi * variance)) + log_det_random + log_det_fixed
    return Profile(
        criterion=float(criterion),
        coefficients=coefficients,
        covariance=variance * np.linalg.inv(information),
        residual_variance=float(variance),
    )


def satterthwaite(
    parameters: FloatArray, basis: FloatArray, products: GroupedProducts
) -> tuple[FloatArray, float]:
    """Find Satterthwaite's degrees of freedom, and how far the parameters are from the optimum.

    The variance of each coefficient is a function of the variance parameters; its own variance
    follows from their curvature (Giesbrecht & Burns 1985, Biometrics 41:477; Kuznetsova et al.
    2017, Journal of Statistical Software 82(13)). The residual variance is profiled out,
    which adds 2 / (n - p) to the squared relative uncertainty.

    Parameters
    ----------
    parameters : (n_parameters,) array
        Standard deviations relative to the residual one, or entries of a factor.
    basis : (n_parameters, n_random, n_random) array
        What each adds to the relative covariance's lower factor.
    products : GroupedProducts

    Returns
    -------
    df : (n_terms,) array
        Between 1 and n - p.
    still_to_gain : float
        By how much a Newton step would lower the criterion; near 0 at an optimum. Directions in
        which the criterion does not curve, as at a variance of 0, count for nothing.
    """

    def at(values: FloatArray) -> Profile:
        return profile_at(np.tensordot(values, basis, axes=1), products)

    n = len(parameters)
    steps = _STEP * np.eye(n) * np.maximum(1.0, np.abs(parameters))
    here = at(parameters)
    up, down = [at(parameters + s) for s in steps], [at(parameters - s) for s in steps]
    size = np.diag(steps)
    gradient = np.array([u.criterion - d.criterion for u, d in zip(up, down, strict=True)])
    gradient /= 2 * size
    hessian = np.zeros((n, n))
    for i in range(n):
        hessian[i, i] = (up[i].criterion - 2 * here.criterion + down[i].criterion) / size[i] ** 2
        for j in range(i):
            corners = [
                a * b * at(parameters + a * steps[i] + b * steps[j]).criterion
                for a in (1, -1)
                for b in (1, -1)
            ]
            hessian[i, j] = hessian[j, i] = sum(corners) / (4 * size[i] * size[j])
    values, vectors = np.linalg.eigh(hessian)
    curved = values > _FLAT * max(float(np.abs(values).max()), 1.0)
    uncertain = (vectors[:, curved] * (2 / values[curved])) @ vectors[:, curved].T
    slopes = np.array(
        [
            (np.diag(u.covariance) - np.diag(d.covariance)) / (2 * s)
            for u, d, s in zip(up, down, size, strict=True)
        ]
    ) / np.diag(here.covariance)
    free = products.n - len(products.xy)
    relative = np.einsum("ki,kl,li->i", slopes, uncertain, slopes) + 2 / free
    gain = float(gradient @ uncertain @ gradient) / 4
    return np.clip(2 / relative, 1.0, free), gain
