"""The ways to exclude trials that a grid gives: one set of analysis settings for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.exclusion_settings import (
    AfterErrors,
    ExclusionSettings,
    MadTrim,
    ParticipantLimits,
    SdTrim,
    VanSelstJolicoeurTrim,
)
from ghostblitz_analysis.exclusions import flag_exclusions, used_for_accuracy, used_for_rt
from ghostblitz_analysis.multiverse.grid import AS_SET, MultiverseGrid, option_code, read_trimming
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings

__all__ = ["DECISIONS", "Dropped", "ExclusionSet", "Option", "exclusion_sets", "options_of"]

Mask = npt.NDArray[np.bool_]

#: The decisions on exclusions, in order, as people read them.
DECISIONS = {
    "trimming": "trimming of RTs",
    "first_trials": "first trials of blocks",
    "after_errors": "trials after errors",
    "min_p_correct": "participants",
}

#: What the exclusions look at: texts, which are compared much faster as categories.
_TEXTS = ("participant_id", "phase", "rule", "block_kind", "mode", "error_kind")


@dataclass(frozen=True, slots=True)
class Option:
    """An option of one decision on exclusions.

    Attributes
    ----------
    decision, code : str
        As the grid names them; ``as_set`` for the settings' own.
    words : str
        What it does, short enough for an axis.
    settings : AnalysisSettings
        The settings with this option, and all other decisions as set.
    change : callable
        What makes settings with this option of any settings.
    """

    decision: str
    code: str
    words: str
    settings: AnalysisSettings
    change: Callable[[AnalysisSettings], AnalysisSettings]


@dataclass(frozen=True, slots=True)
class Dropped:
    """Combinations of the grid that are not made.

    Attributes
    ----------
    what : str
        In words.
    n_universes : int or None
        How many; null where that depends on what else is dropped.
    reason : str
        Why.
    """

    what: str
    n_universes: int | None
    reason: str


@dataclass(frozen=True, eq=False)
class ExclusionSet:
    """One way to exclude trials, and what it leaves.

    Attributes
    ----------
    options : mapping of str to Option
        By decision.
    flagged : DataFrame, one row per trial
        From `flag_exclusions`.
    usable, analysed : (n_trials,) booleans
        The trials that count for RT, and for accuracy.
    """

    options: Mapping[str, Option]
    flagged: pd.DataFrame
    usable: Mask
    analysed: Mask

    @property
    def codes(self) -> dict[str, str]:
        """The options' codes by decision."""
        return {name: option.code for name, option in self.options.items()}

    @property
    def as_set(self) -> bool:
        """Whether every decision is the settings' own."""
        return all(option.code == AS_SET for option in self.options.values())

    @property
    def words(self) -> str:
        """The decisions that are not the settings' own, in words."""
        changed = {n: option for n, option in self.options.items() if option.code != AS_SET}
        words = "; ".join(f"{DECISIONS[name]}: {option.words}" for name, option in changed.items())
        return words or "the exclusions as set"


def options_of(
    grid: MultiverseGrid, settings: AnalysisSettings
) -> tuple[dict[str, tuple[Option, ...]], tuple[Dropped, ...]]:
    """Return the options of each decision, the settings' own first, and those that repeat another.

    An option is what the settings become with it; two that make the same settings are one.
    """
    options: dict[str, tuple[Option, ...]] = {}
    dropped = []
    for decision in DECISIONS:
        kept: list[Option] = []
        for option in _every_option(decision, grid, settings):
            twin = next((known for known in kept if known.settings == option.settings), None)
            if twin is None:
                kept.append(option)
            elif option.code != twin.code:
                what = f"{DECISIONS[decision]}: {option.code}"
                dropped.append(Dropped(what, None, f"the same as {twin.words}"))
        options[decision] = tuple(kept)
    return options, tuple(dropped)


def exclusion_sets(
    trials: pd.DataFrame, grid: MultiverseGrid, settings: AnalysisSettings
) -> tuple[tuple[ExclusionSet, ...], tuple[tuple[ExclusionSet, ExclusionSet], ...]]:
    """Cross the options, and flag the trials under each combination.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        With the columns of the schema; it is not changed.
    grid : MultiverseGrid
    settings : AnalysisSettings
        The data set's own.

    Returns
    -------
    sets : tuple of ExclusionSet
        Those that leave different trials; the first is as set.
    repeated : tuple of (ExclusionSet, ExclusionSet)
        Those that leave the same trials as an earlier one, and that one.
    """
    slim = trials.astype(dict.fromkeys(_TEXTS, "category"))
    options, _ = options_of(grid, settings)
    found: dict[tuple[bytes, bytes], ExclusionSet] = {}
    repeated = []
    for combination in product(*options.values()):
        chosen = dict(zip(options, combination, strict=True))
        flagged = flag_exclusions(slim, _with_all(settings, combination))
        made = ExclusionSet(chosen, flagged, used_for_rt(flagged), used_for_accuracy(flagged))
        key = (np.packbits(made.usable).tobytes(), np.packbits(made.analysed).tobytes())
        if key in found:
            repeated.append((made, found[key]))
        else:
            found[key] = made
    return tuple(found.values()), tuple(repeated)


def _with_all(settings: AnalysisSettings, options: Sequence[Option]) -> AnalysisSettings:
    for option in options:
        settings = option.change(settings)
    return settings


def _every_option(
    decision: str, grid: MultiverseGrid, settings: AnalysisSettings
) -> Iterator[Option]:
    def option(
        code: str, words: str, change: Callable[[AnalysisSettings], AnalysisSettings]
    ) -> Option:
        return Option(decision, code, words, change(settings), change)

    yield option(AS_SET, _own_words(decision, settings), lambda own: own)
    if decision == "trimming":
        for code in grid.trimming:
            if code != AS_SET:
                yield option(code, _trimming_words(code, settings), _trimming_change(code))
    elif decision == "first_trials":
        for n in grid.first_trials:
            yield option(option_code(n), _first_words(n), _first_change(n))
    elif decision == "after_errors":
        for choice in grid.after_errors:
            yield option(choice, choice.replace("_", " "), _after_change(choice))
    else:
        for limit in grid.min_p_correct:
            words = f"accuracy of {limit:g} or more" if limit else "all"
            yield option(option_code(limit), words, _limit_change(limit))


# --- what an option changes -----------------------------------------------------------------------


def _trimming_change(code: str) -> Callable[[AnalysisSettings], AnalysisSettings]:
    rule = read_trimming(code)

    def change(own: AnalysisSettings) -> AnalysisSettings:
        bounds = own.bounds
        if rule.bounds is None:
            bounds = BoundsSettings(min_rt_s=0.0, max_rt_s=float("inf"))
        elif not isinstance(rule.bounds, str):
            low, high = rule.bounds
            bounds = BoundsSettings(min_rt_s=low, max_rt_s=high)
        steps = _instead(own.exclusions, _trims, rule.steps)
        return own.model_copy(update={"bounds": bounds, "exclusions": steps})

    return change


def _first_change(n: int) -> Callable[[AnalysisSettings], AnalysisSettings]:
    return lambda own: own.model_copy(update={"skip_first_trials": n})


def _after_change(choice: str) -> Callable[[AnalysisSettings], AnalysisSettings]:
    def change(own: AnalysisSettings) -> AnalysisSettings:
        steps = own.exclusions
        if choice == "kept":
            steps = tuple(step for step in steps if not isinstance(step, AfterErrors))
        elif not any(isinstance(step, AfterErrors) for step in steps):
            # Before any trimming, as it is no matter of the RT itself.
            steps = (AfterErrors(step="after_error"), *steps)
        return own.model_copy(update={"exclusions": steps})

    return change


def _limit_change(limit: float) -> Callable[[AnalysisSettings], AnalysisSettings]:
    new = (ParticipantLimits(step="participants", min_p_correct=limit),) if limit else ()

    def change(own: AnalysisSettings) -> AnalysisSettings:
        steps = _instead(own.exclusions, lambda s: isinstance(s, ParticipantLimits), new)
        return own.model_copy(update={"exclusions": steps})

    return change


def _trims(step: ExclusionSettings) -> bool:
    return isinstance(step, SdTrim | MadTrim | VanSelstJolicoeurTrim)


def _instead(
    steps: tuple[ExclusionSettings, ...],
    replaced: Callable[[ExclusionSettings], bool],
    new: tuple[ExclusionSettings, ...],
) -> tuple[ExclusionSettings, ...]:
    """Put new steps where the first of the replaced ones stood.

    Where there is none they come last, but before limits for participants, which look at what the
    steps before them have left.
    """
    place = len(steps)
    for number, step in enumerate(steps):
        if replaced(step) or isinstance(step, ParticipantLimits):
            place = number
            break
    before = tuple(step for step in steps[:place] if not replaced(step))
    return (*before, *new, *(step for step in steps[place:] if not replaced(step)))


# --- options in words -----------------------------------------------------------------------------


def _own_words(decision: str, settings: AnalysisSettings) -> str:
    if decision == "trimming":
        trims = [step for step in settings.exclusions if _trims(step)]
        words = _bounds_words(settings.bounds) + "".join(f", {_trim_words(s)}" for s in trims)
    elif decision == "first_trials":
        words = _first_words(settings.skip_first_trials)
    elif decision == "after_errors":
        stated = any(isinstance(step, AfterErrors) for step in settings.exclusions)
        words = "left out" if stated else "kept"
    else:
        stated = any(isinstance(step, ParticipantLimits) for step in settings.exclusions)
        words = "limits" if stated else "all"
    return f"{words} (as set)"


def _trimming_words(code: str, settings: AnalysisSettings) -> str:
    rule = read_trimming(code)
    words = [_trim_words(step) for step in rule.steps]
    if rule.bounds is not None:
        bounds = _trimming_change(code)(settings).bounds
        words.insert(0, _bounds_words(bounds))
    return ", ".join(words) or "none"


def _bounds_words(bounds: BoundsSettings) -> str:
    return f"{bounds.min_rt_s:g} to {bounds.max_rt_s:g} s"


def _trim_words(step: ExclusionSettings) -> str:
    if isinstance(step, SdTrim):
        words = f"{step.n_sd:g} SD"
    elif isinstance(step, MadTrim):
        words = f"{step.n_mad:g} MAD"
    elif isinstance(step, VanSelstJolicoeurTrim):
        method = "non-recursive" if step.method == "nonrecursive" else "modified recursive"
        words = f"Van Selst & Jolicoeur, {method}"
    else:
        raise TypeError(f"{step.step} does not trim")
    within = getattr(step, "within", "participant_and_cell")
    return words if within == "participant_and_cell" else f"{words} by {within}"


def _first_words(n: int) -> str:
    return f"first {n} left out" if n else "kept"
