"""All tables on the distributions of RTs of one data set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.distributions.central_tendency import (
    central_tendency,
    group_central_tendency,
)
from ghostblitz_analysis.distributions.conditional_accuracy import (
    accuracy_differences,
    conditional_accuracy,
    group_accuracy_differences,
    group_conditional_accuracy,
)
from ghostblitz_analysis.distributions.delta_plots import (
    delta_functions,
    delta_slopes,
    group_delta_functions,
    group_delta_slopes,
)
from ghostblitz_analysis.distributions.ex_gaussian_cells import (
    ex_gaussian_cells,
    group_ex_gaussian,
)
from ghostblitz_analysis.distributions.quantiles import participant_quantiles, vincentiles
from ghostblitz_analysis.exclusions import used_for_accuracy, used_for_rt
from ghostblitz_analysis.settings import AnalysisSettings

__all__ = ["DistributionResults", "answered", "distribution_results"]

#: Rules are compared with this one, as in `ghostblitz_analysis.models.rule_contrasts`.
_REFERENCE_RULE = "direct"

#: Flags that say something of correct RTs alone: that the answer was wrong, and the further steps,
#: which look at the right ones that are left. A conditional accuracy function wants right and
#: wrong answers cut alike, or its slowest bin would be too full of errors.
_OF_CORRECT_RTS = re.compile(
    r"exclude_(error|after_error|after_break|dropped_frames|sd|mad|van_selst_jolicoeur)(_\d+)?"
)


@dataclass(frozen=True, slots=True, eq=False)
class DistributionResults:
    """What the RTs of a data set are distributed like.

    Attributes
    ----------
    participants, groups : DataFrame
        From `central_tendency` and `group_central_tendency`.
    participant_quantiles, group_quantiles : DataFrame
        From `participant_quantiles` and `vincentiles`.
    participant_delta, group_delta : DataFrame
        From `delta_functions` and `group_delta_functions`: every other rule against direct, in
        each level of the other factors.
    participant_delta_slopes, group_delta_slopes : DataFrame
        From `delta_slopes` and `group_delta_slopes`.
    participant_caf, group_caf : DataFrame
        From `conditional_accuracy` and `group_conditional_accuracy`.
    participant_caf_differences, group_caf_differences : DataFrame
        From `accuracy_differences` and `group_accuracy_differences`.
    participant_ex_gaussian, group_ex_gaussian : DataFrame
        From `ex_gaussian_cells` and `group_ex_gaussian`.
    """

    participants: pd.DataFrame
    groups: pd.DataFrame
    participant_quantiles: pd.DataFrame
    group_quantiles: pd.DataFrame
    participant_delta: pd.DataFrame
    group_delta: pd.DataFrame
    participant_delta_slopes: pd.DataFrame
    group_delta_slopes: pd.DataFrame
    participant_caf: pd.DataFrame
    group_caf: pd.DataFrame
    participant_caf_differences: pd.DataFrame
    group_caf_differences: pd.DataFrame
    participant_ex_gaussian: pd.DataFrame
    group_ex_gaussian: pd.DataFrame

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The tables under the names of their CSV files."""
        return {
            "rt_participants": self.participants,
            "rt_groups": self.groups,
            "rt_quantiles_participants": self.participant_quantiles,
            "rt_quantiles_groups": self.group_quantiles,
            "rt_delta_participants": self.participant_delta,
            "rt_delta_groups": self.group_delta,
            "rt_delta_slopes_participants": self.participant_delta_slopes,
            "rt_delta_slopes_groups": self.group_delta_slopes,
            "rt_caf_participants": self.participant_caf,
            "rt_caf_groups": self.group_caf,
            "rt_caf_differences_participants": self.participant_caf_differences,
            "rt_caf_differences_groups": self.group_caf_differences,
            "rt_ex_gaussian_participants": self.participant_ex_gaussian,
            "rt_ex_gaussian_groups": self.group_ex_gaussian,
        }


def distribution_results(
    flagged: pd.DataFrame, *, factors: tuple[str, ...], settings: AnalysisSettings
) -> DistributionResults | None:
    """Describe the distributions of RTs per participant and cell, and over participants.

    RT measures are of the trials that no exclusion flags, accuracy is of all analysed ones;
    conditional accuracy is of those with an RT, right or wrong, see `answered`.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions`.
    factors : tuple of str
        From `cell_factors`, so that grab and shout RTs are never pooled.
    settings : AnalysisSettings
        For the level of the intervals.

    Returns
    -------
    DistributionResults or None
        None where no trial is analysed.
    """
    analysed = flagged[used_for_accuracy(flagged)]
    if analysed.empty:
        return None
    usable, with_rt = used_for_rt(analysed), answered(analysed)
    confidence = settings.confidence
    people = central_tendency(analysed, factors=factors, confidence=confidence, used=usable)
    quantiles = participant_quantiles(analysed, factors=factors, used=usable)
    delta = delta_functions(quantiles, of="rule", reference=_REFERENCE_RULE, factors=factors)
    slopes = delta_slopes(delta, of="rule", factors=factors)
    caf = conditional_accuracy(analysed, factors=factors, used=with_rt)
    differences = accuracy_differences(caf, of="rule", reference=_REFERENCE_RULE, factors=factors)
    fits = ex_gaussian_cells(analysed, factors=factors, confidence=confidence, used=usable)
    return DistributionResults(
        participants=people,
        groups=group_central_tendency(people, factors=factors, confidence=confidence),
        participant_quantiles=quantiles,
        group_quantiles=vincentiles(quantiles, factors=factors, confidence=confidence),
        participant_delta=delta,
        group_delta=group_delta_functions(delta, of="rule", factors=factors, confidence=confidence),
        participant_delta_slopes=slopes,
        group_delta_slopes=group_delta_slopes(
            slopes, of="rule", factors=factors, confidence=confidence
        ),
        participant_caf=caf,
        group_caf=group_conditional_accuracy(caf, factors=factors, confidence=confidence),
        participant_caf_differences=differences,
        group_caf_differences=group_accuracy_differences(
            differences, of="rule", factors=factors, confidence=confidence
        ),
        participant_ex_gaussian=fits,
        group_ex_gaussian=group_ex_gaussian(fits, factors=factors, confidence=confidence),
    )


def answered(flagged: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return the mask of trials whose answer, right or wrong, a conditional accuracy function uses.

    They have an RT within the bounds and no flag but those that say something of correct RTs
    alone: a wrong answer, and the further steps of the settings but the limits of participants.
    """
    cleared = [name for name in flagged.columns if _OF_CORRECT_RTS.fullmatch(str(name))]
    return used_for_rt(flagged.assign(**dict.fromkeys(cleared, False)))
