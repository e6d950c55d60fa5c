"""The steps of the exclusions: what each takes, why, and how far it goes.

First come those that are always made, then those that the settings state, in their order. A step
either takes a trial out of everything (``scope == "all"``: the wrong phase, cards that came again
in a game for cards, and participants who miss a limit) or only out of the RT measures
(``scope == "rt"``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.exclusion_settings import (
    AfterBreaks,
    AfterErrors,
    DroppedFrames,
    ExclusionSettings,
    MadTrim,
    ParticipantLimits,
    SdTrim,
    VanSelstJolicoeurTrim,
    Within,
)
from ghostblitz_analysis.level_codes import crossed_codes, level_codes
from ghostblitz_analysis.participant_limits import limits_in_words, missed_limits
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_analysis.trimming import (
    MAD_SCALE,
    mad_outliers,
    modified_recursive_outliers,
    nonrecursive_outliers,
    sd_outliers,
)

__all__ = [
    "ExclusionStep",
    "TrialsLeft",
    "cell_columns",
    "exclusion_steps",
    "scope_of",
    "where_true",
]

Mask = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Scope = Literal["all", "rt"]

#: The steps that are always made, in order, and how far each goes.
_ALWAYS_MADE: Mapping[str, Scope] = MappingProxyType(
    {
        "exclude_phase": "all",
        "exclude_recycled": "all",
        "exclude_first_trials": "rt",
        "exclude_early": "rt",
        "exclude_no_rt": "rt",
        "exclude_error": "rt",
        "exclude_too_fast": "rt",
        "exclude_too_slow": "rt",
    }
)
#: The flag of each step that settings may state; a second one of a kind gets ``_2``, and so on.
_STATED: Mapping[str, tuple[str, Scope]] = MappingProxyType(
    {
        "after_error": ("exclude_after_error", "rt"),
        "after_break": ("exclude_after_break", "rt"),
        "dropped_frames": ("exclude_dropped_frames", "rt"),
        "sd": ("exclude_sd", "rt"),
        "mad": ("exclude_mad", "rt"),
        "van_selst_jolicoeur": ("exclude_van_selst_jolicoeur", "rt"),
        "participants": ("exclude_participant", "all"),
    }
)
_SCOPES: Mapping[str, Scope] = MappingProxyType({**_ALWAYS_MADE, **dict(_STATED.values())})
_NUMBERED = re.compile(r"(.+?)(_\d+)?")

_GROUPS_IN_WORDS: Mapping[Within, str] = MappingProxyType(
    {
        "participant": "the participant's RTs (grab and shout apart)",
        "cell": "all participants' RTs in the cell",
        "participant_and_cell": "the participant's RTs in the cell",
    }
)


@dataclass(frozen=True, slots=True)
class TrialsLeft:
    """The trials that no step so far took out.

    Attributes
    ----------
    analysed : (n_trials,) booleans
        Those that count for accuracy.
    usable : (n_trials,) booleans
        Those that count for RT.
    """

    analysed: Mask
    usable: Mask

    def without(self, hit: Mask, scope: Scope) -> TrialsLeft:
        """Take trials out of everything, or only out of the RT measures."""
        analysed = self.analysed & ~hit if scope == "all" else self.analysed
        return TrialsLeft(analysed, self.usable & ~hit)


@dataclass(frozen=True, slots=True)
class ExclusionStep:
    """One exclusion: its flag column, why it is made, and which trials it takes.

    Attributes
    ----------
    flag : str
        Name of the boolean column.
    reason : str
        In words, with the setting's value.
    scope : str
        ``all``, or ``rt`` where only the RT measures leave the trial out.
    find : callable
        From the trial table, and the trials that are left, to a mask of its rows.
    limits : ParticipantLimits or None
        What participants are held against, where the step takes participants.
    """

    flag: str
    reason: str
    scope: Scope
    find: Callable[[pd.DataFrame, TrialsLeft], Mask]
    limits: ParticipantLimits | None = None


def exclusion_steps(settings: AnalysisSettings) -> tuple[ExclusionStep, ...]:
    """Return the steps in the order in which they are made and counted.

    Bounds are kept: with 0.2 and 10 s, RTs of exactly 0.2 and 10 s stay. An RT of 0 or less is
    too fast whatever the lower bound, since it has no logarithm.
    """
    seen: Counter[str] = Counter()
    stated = []
    for exclusion in settings.exclusions:
        flag, _ = _STATED[exclusion.step]
        seen[flag] += 1
        name = flag if seen[flag] == 1 else f"{flag}_{seen[flag]}"
        stated.append(_stated_step(name, exclusion, cell_columns(settings)))
    return (*_always_made(settings), *stated)


def _always_made(settings: AnalysisSettings) -> list[ExclusionStep]:
    low, high = settings.bounds.min_rt_s, settings.bounds.max_rt_s
    phases, n_first = settings.phases, settings.skip_first_trials
    steps: dict[str, tuple[str, Callable[[pd.DataFrame], Mask]]] = {
        "exclude_phase": (
            f"not a {' or '.join(phases)} trial",
            lambda t: ~t["phase"].isin(phases).to_numpy(dtype=bool),
        ),
        "exclude_recycled": (
            "a card that had been seen and came again from under the pile",
            lambda t: where_true(t["recycled"]),
        ),
        "exclude_first_trials": (
            f"among the first {n_first} of its block"
            if n_first
            else "among the first of its block (the settings skip none)",
            lambda t: where_true(t["trial_in_block"] < n_first),
        ),
        "exclude_early": (
            "answered before the card was shown",
            lambda t: where_true(t["error_kind"] == "early"),
        ),
        "exclude_no_rt": (
            "no response in time, so there is no RT",
            lambda t: t["rt_s"].isna().to_numpy(dtype=bool),
        ),
        "exclude_error": ("the response was wrong", lambda t: ~where_true(t["correct"])),
        "exclude_too_fast": (
            f"RT below {low:g} s",
            lambda t: where_true((t["rt_s"] < low) | (t["rt_s"] <= 0)),
        ),
        "exclude_too_slow": (f"RT above {high:g} s", lambda t: where_true(t["rt_s"] > high)),
    }
    return [
        ExclusionStep(flag, steps[flag][0], scope, _whatever_is_left(steps[flag][1]))
        for flag, scope in _ALWAYS_MADE.items()
    ]


def _whatever_is_left(
    find: Callable[[pd.DataFrame], Mask],
) -> Callable[[pd.DataFrame, TrialsLeft], Mask]:
    return lambda trials, _left: find(trials)


def _stated_step(flag: str, stated: ExclusionSettings, factors: tuple[str, ...]) -> ExclusionStep:
    """Return the step of an exclusion that the settings state."""
    if isinstance(stated, ParticipantLimits):
        return _participants_step(flag, stated, factors)
    if isinstance(stated, SdTrim | MadTrim | VanSelstJolicoeurTrim):
        return _trimming_step(flag, stated, factors)
    if isinstance(stated, AfterErrors):
        reason = "the trial before it in its block was answered wrongly"
        return ExclusionStep(flag, reason, "rt", lambda t, left: _follows_error(t) & left.usable)
    if isinstance(stated, AfterBreaks):
        return ExclusionStep(
            flag,
            "the first trial of its block, or the first after an interruption",
            "rt",
            lambda t, left: (
                (where_true(t["trial_in_block"] == 0) | where_true(t["resumed"])) & left.usable
            ),
        )
    return _frames_step(flag, stated)


def _frames_step(flag: str, stated: DroppedFrames) -> ExclusionStep:
    frames = "a frame was" if stated.max_n == 0 else f"more than {stated.max_n} frames were"
    # Imported data do not say how many frames were missed, and are not flagged.
    return ExclusionStep(
        flag,
        f"{frames} dropped while the card was shown",
        "rt",
        lambda t, left: where_true(t["n_dropped_frames"] > stated.max_n) & left.usable,
    )


def _trimming_step(
    flag: str, stated: SdTrim | MadTrim | VanSelstJolicoeurTrim, factors: tuple[str, ...]
) -> ExclusionStep:
    outliers: Callable[[FloatArray, IntArray], Mask]
    group = _GROUPS_IN_WORDS[stated.within]
    if isinstance(stated, SdTrim):
        reason = f"RT more than {stated.n_sd:g} SD from the mean of {group}"
        outliers = partial(sd_outliers, n_sd=stated.n_sd)
    elif isinstance(stated, MadTrim):
        reason = f"RT more than {stated.n_mad:g} x {MAD_SCALE} MAD from the median of {group}"
        outliers = partial(mad_outliers, n_mad=stated.n_mad)
    else:
        nonrecursive = stated.method == "nonrecursive"
        name = "non-recursive" if nonrecursive else "modified recursive"
        reason = f"RT beyond the {name} criterion of Van Selst and Jolicoeur (1994) for {group}"
        outliers = nonrecursive_outliers if nonrecursive else modified_recursive_outliers
    by: dict[Within, tuple[str, ...]] = {
        "participant": ("participant_id", "mode"),
        "cell": factors,
        "participant_and_cell": ("participant_id", *factors),
    }
    columns = by[stated.within]

    def find(trials: pd.DataFrame, left: TrialsLeft) -> Mask:
        rows = np.flatnonzero(left.usable)
        groups = crossed_codes(trials[name] for name in columns)
        rt_s = trials["rt_s"].to_numpy(dtype="float64", na_value=np.nan)
        hit = np.zeros(len(trials), dtype=bool)
        hit[rows] = outliers(rt_s[rows], groups[rows])
        return hit

    return ExclusionStep(flag, reason, "rt", find)


def _participants_step(
    flag: str, limits: ParticipantLimits, factors: tuple[str, ...]
) -> ExclusionStep:
    def find(trials: pd.DataFrame, left: TrialsLeft) -> Mask:
        missed = missed_limits(
            trials, limits, analysed=left.analysed, usable=left.usable, factors=factors
        )
        taken = missed["participant_id"].unique().tolist()
        return trials["participant_id"].isin(taken).to_numpy(dtype=bool)

    return ExclusionStep(flag, limits_in_words(limits), "all", find, limits)


def cell_columns(settings: AnalysisSettings) -> tuple[str, ...]:
    """Return what makes a cell for trimming: always rule and mode, which is never pooled."""
    return ("rule", *(name for name in settings.cells if name not in ("rule", "mode")), "mode")


def _follows_error(trials: pd.DataFrame) -> Mask:
    """Find trials whose predecessor in the block was wrong, whether or not it is analysed.

    A trial whose predecessor is not in the table, such as one that an import dropped, does not
    follow an error that is known.
    """
    places = [
        trials[name].to_numpy(dtype="int64", na_value=-1)
        for name in ("trial_in_block", "block_index", "run", "session")
    ]
    people, _ = level_codes(trials["participant_id"])
    order = np.lexsort((*places, people))
    place, *blocks = (values[order] for values in (*places, people))
    follows = place[1:] == place[:-1] + 1
    for values in blocks:
        follows &= values[1:] == values[:-1]
    found = np.zeros(len(trials), dtype=bool)
    wrong = ~where_true(trials["correct"])
    found[order[1:]] = follows & wrong[order[:-1]]
    return found


def scope_of(flag: str) -> Scope | None:
    """Return how far a flag that a step makes goes; null for any other column."""
    named = _NUMBERED.fullmatch(flag)
    return _SCOPES.get(named[1]) if named else None


def where_true(condition: pd.Series) -> Mask:
    """Return where a condition holds; where it is unknown it does not."""
    if condition.dtype == bool:
        return condition.to_numpy()
    return condition.astype("boolean").fillna(False).to_numpy(dtype=bool)
