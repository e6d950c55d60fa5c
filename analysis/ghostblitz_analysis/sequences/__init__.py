"""Sequence effects: what a trial owes to the trials before it, with the confounds held apart."""

from ghostblitz_analysis.sequences.costs import cost_comparisons, sequence_trials
from ghostblitz_analysis.sequences.effects import (
    EFFECT_MEANINGS,
    MIN_TRIALS,
    ParticipantEffects,
    group_effects,
    participant_effects,
)
from ghostblitz_analysis.sequences.history import (
    HISTORY_COLUMNS,
    previous_positions,
    trial_history,
)
from ghostblitz_analysis.sequences.matched_differences import Comparison, matched_differences
from ghostblitz_analysis.sequences.post_error import pair_differences, post_error_comparisons
from ghostblitz_analysis.sequences.results import SequenceResults, sequence_results

__all__ = [
    "EFFECT_MEANINGS",
    "HISTORY_COLUMNS",
    "MIN_TRIALS",
    "Comparison",
    "ParticipantEffects",
    "SequenceResults",
    "cost_comparisons",
    "group_effects",
    "matched_differences",
    "pair_differences",
    "participant_effects",
    "post_error_comparisons",
    "previous_positions",
    "sequence_results",
    "sequence_trials",
    "trial_history",
]
