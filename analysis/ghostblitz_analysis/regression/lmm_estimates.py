"""What a linear mixed model comes to, whichever library fitted it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

__all__ = ["LmmEstimates", "NotFittedError"]

FloatArray = npt.NDArray[np.float64]


class NotFittedError(Exception):
    """No estimates were found; the message says why, for the note of the model's row."""


@dataclass(frozen=True, eq=False)
class LmmEstimates:
    """REML estimates of a linear mixed model.

    Attributes
    ----------
    coefficients : (n_terms,) array
        Fixed effects.
    covariance : (n_terms, n_terms) array
        Their covariance.
    df : (n_terms,) array
        Satterthwaite's degrees of freedom.
    participant_covariance : (n_random, n_random) array
        Of the coefficients that vary over participants, intercept first.
    item_variance : float or None
        Of the intercepts of targets; None without them.
    residual_variance : float
    loglik : float
        Restricted log likelihood.
    n_variance_parameters : int
        Variances and covariances, the residual one among them.
    converged, singular : bool
        Whether the optimum was reached; whether it lies where a variance is 0 or a correlation
        is 1 or -1.
    engine, optimiser : str
        The library with its version, and its optimiser.
    notes : tuple of str
        Trouble on the way, in words.
    """

    coefficients: FloatArray
    covariance: FloatArray
    df: FloatArray
    participant_covariance: FloatArray
    item_variance: float | None
    residual_variance: float
    loglik: float
    n_variance_parameters: int
    converged: bool
    singular: bool
    engine: str
    optimiser: str
    notes: tuple[str, ...]

    def with_notes(self, notes: tuple[str, ...]) -> LmmEstimates:
        """Return the same estimates with these notes."""
        return replace(self, notes=notes)
