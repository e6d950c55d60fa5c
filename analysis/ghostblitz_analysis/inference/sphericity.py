"""How far the covariances of repeated measures are from sphericity, and whether that is chance."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
import numpy.typing as npt
from scipy import special

__all__ = ["Sphericity", "assess_sphericity"]

#: A participant-free covariance this far below its largest eigenvalue is rounding error.
_SINGULAR_BELOW = 1e-12


@dataclass(frozen=True, slots=True)
class Sphericity:
    """Mauchly's test and the factors by which degrees of freedom are corrected.

    Attributes
    ----------
    mauchly_w, mauchly_p : float
        NaN with one degree of freedom, where sphericity always holds, and where the covariances
        are singular, as with no more participants than degrees of freedom.
    epsilon_gg, epsilon_hf : float
        Greenhouse and Geisser's, from 1 / df to 1, and Huynh and Feldt's, cut at 1; NaN where
        there are too few participants for it.
    """

    mauchly_w: float
    mauchly_p: float
    epsilon_gg: float
    epsilon_hf: float


def assess_sphericity(scores: npt.ArrayLike) -> Sphericity:
    """Compare the covariances of orthonormal contrast scores with sphericity.

    Greenhouse-Geisser: tr(S)^2 / (d tr(S^2)) (Greenhouse & Geisser 1959, Psychometrika 24,
    95-112; Box 1954). Huynh-Feldt: (n d e - 2) / (d (n - 1 - d e)) with e the former (Huynh &
    Feldt 1976, Journal of Educational Statistics 1, 69-82), as R's car and afex have it; Lecoutre's
    (1991) correction of that formula changes it only with groups between participants, which
    there are none of here. Mauchly's W (1940, Annals of Mathematical Statistics 11, 204-209) with
    the chi-square approximation to second order (Anderson 1958, section 10.7); R's mauchly.test and
    car put the number of levels for d in one place of it, which moves p by some thousandths of
    itself. Assumes normal scores; Mauchly's test says little with few participants and too much
    with many.

    Parameters
    ----------
    scores : (n_participants, d) array
        Each participant's scores on d orthonormal contrasts, that span an effect; two or more
        participants, no missing ones.

    Returns
    -------
    Sphericity
        All missing where the scores do not vary.

    Examples
    --------
    >>> scores = [[0.1, 0.4], [0.3, 0.2], [0.6, 0.9], [0.2, 0.5], [0.4, 0.3]]
    >>> result = assess_sphericity(scores)
    >>> round(result.mauchly_w, 4), round(result.epsilon_gg, 4), round(result.epsilon_hf, 4)
    (0.5752, 0.7019, 0.9665)
    """
    x = np.asarray(scores, dtype=np.float64)
    n, d = x.shape
    centred = x - x.mean(axis=0)
    covariance = centred.T @ centred / (n - 1)
    trace = float(np.trace(covariance))
    if trace == 0:
        return Sphericity(nan, nan, nan, nan)
    if d == 1:
        return Sphericity(nan, nan, 1.0, 1.0)
    gg = trace**2 / (d * float((covariance**2).sum()))
    spare = n - 1 - d * gg
    hf = min(1.0, (n * d * gg - 2) / (d * spare)) if spare > _SINGULAR_BELOW * n else nan
    w, p = _mauchly(np.linalg.eigvalsh(covariance), n)
    return Sphericity(w, p, gg, hf)


def _mauchly(eigenvalues: npt.NDArray[np.float64], n: int) -> tuple[float, float]:
    d = len(eigenvalues)
    if eigenvalues.min() <= _SINGULAR_BELOW * eigenvalues.max():
        return nan, nan
    # The ratio of the eigenvalues' geometric to their arithmetic mean, to the power d.
    log_w = float(np.log(eigenvalues).sum() - d * np.log(eigenvalues.mean()))
    df = d * (d + 1) / 2 - 1
    rho = 1 - (2 * d**2 + d + 2) / (6 * d * (n - 1))
    polynomial = (d + 2) * (d - 1) * (d - 2) * (2 * d**3 + 6 * d**2 + 3 * d + 2)
    second = polynomial / 288 / (d * (n - 1) * rho) ** 2
    chi2 = -(n - 1) * rho * log_w
    first_p, second_p = (float(special.chdtrc(v, chi2)) for v in (df, df + 4))
    p = first_p + second * (second_p - first_p)
    return float(np.exp(log_w)), min(1.0, max(0.0, p))
