"""What a linear mixed model comes to, whichever library fitted it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ghostblitz_analysis.regression.random_parts import RandomComponent

__all__ = ["SINGULAR", "LmmEstimates", "NotFittedError"]

FloatArray = npt.NDArray[np.float64]

#: A standard deviation below this share of the residual one counts as 0, as in lme4.
SINGULAR = 1e-4


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
    components : tuple of RandomComponent
        Of participants, then of the groupings within them, then of targets, where there are any.
    residual_variance : float
    loglik : float
        Restricted log likelihood.
    n_variance_parameters : int
        Variances and covariances, the residual one among them.
    converged : bool
        Whether the optimum was reached.
    engine, optimiser : str
        The library with its version, and its optimiser.
    notes : tuple of str
        Trouble on the way, in words.
    """

    coefficients: FloatArray
    covariance: FloatArray
    df: FloatArray
    components: tuple[RandomComponent, ...]
    residual_variance: float
    loglik: float
    n_variance_parameters: int
    converged: bool
    engine: str
    optimiser: str
    notes: tuple[str, ...]

    @property
    def singular(self) -> bool:
        """Whether the optimum lies where a variance is 0 or a correlation is 1 or -1."""
        smallest = min(float(np.linalg.eigvalsh(each.covariance)[0]) for each in self.components)
        return smallest < SINGULAR**2 * self.residual_variance

    def with_notes(self, notes: tuple[str, ...]) -> LmmEstimates:
        """Return the same estimates with these notes."""
        return replace(self, notes=notes)
