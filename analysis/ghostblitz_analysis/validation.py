"""What a lab should know about a data set before it believes its results; nothing is repaired."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import pandas as pd
from scipy import stats

from ghostblitz_analysis.dataset import Dataset
from ghostblitz_analysis.rt_checks import check_rts, names_of, usable_rts
from ghostblitz_analysis.run_checks import check_runs
from ghostblitz_analysis.solving import read_item_colours

__all__ = ["Finding", "Severity", "validate_dataset"]

Severity = Literal["info", "warning", "error"]

#: Fewer usable RTs than this in a cell give an unsteady mean.
MIN_TRIALS_PER_CELL = 10
#: A share of dropped frames beyond which the display, not chance, is at fault.
MAX_SHARE_DROPPED = 0.01
MAX_SHARE_HELD = 0.05
MAX_SHARE_LATE = 0.2
#: Fewer trials say nothing on guessing.
MIN_TRIALS_TO_JUDGE = 10
#: An accuracy is called better than guessing when guessing gives it less often than this.
CHANCE_LEVEL = 0.05
#: Keyboards are scanned every 8 ms at worst; coarser times come from polling or frames.
MAX_RESOLUTION_S = 0.010
_SEVERITIES = ("error", "warning", "info")
#: What is looked at in the trials of the analysed phases, beside the factors of the cells.
_USED_COLUMNS = (
    "participant_id", "session", "block_index", "trial_in_block", "item_colours", "card",
    "response", "rt_s", "correct", "error_kind",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to know about a data set.

    Attributes
    ----------
    severity : str
        ``error``: results would be wrong or mean something else; ``warning``: look before you
        use them; ``info``: good to know.
    code : str
        What kind of finding it is, the same in every data set.
    where : str
        The participants, runs or data set that it is about.
    message : str
        One sentence in plain words.
    """

    severity: Severity
    code: str
    where: str
    message: str


def validate_dataset(dataset: Dataset) -> tuple[Finding, ...]:
    """Look a loaded data set over.

    Parameters
    ----------
    dataset : Dataset
        As loaded; contradictions were refused then.

    Returns
    -------
    tuple of Finding
        Errors first, then warnings, then the rest; empty if there is nothing to say.
    """
    trials = dataset.trials
    again = trials["recycled"].fillna(False).astype(bool)
    is_used = trials["phase"].isin(dataset.analysis.phases) & ~again
    # Only what is looked at: a copy of every column of many trials would be large.
    used = trials.loc[is_used, list(dict.fromkeys((*_USED_COLUMNS, *dataset.analysis.cells)))]
    findings = [Finding(*found) for found in check_runs(dataset.runs)]
    findings += _about_sources(dataset)
    findings += _about_completeness(dataset, used)
    findings += _about_timing(trials)
    findings += _about_people(used)
    findings += [Finding(*f) for f in check_rts(used, dataset.analysis, dataset.name)]
    if not dataset.analysis_stated:
        findings.append(
            Finding(
                "info",
                "default_analysis",
                dataset.name,
                "there is no analysis.toml, so the default analysis settings are used",
            )
        )
    if not dataset.runs:
        findings += [Finding("warning", "note", dataset.name, note) for note in dataset.notes]
    return tuple(sorted(findings, key=lambda f: _SEVERITIES.index(f.severity)))


def _about_sources(dataset: Dataset) -> Iterator[Finding]:
    trials, sources = dataset.trials, dataset.sources
    if len(sources) > 1:
        yield Finding(
            "error",
            "mixed_sources",
            dataset.name,
            f"data of {' and '.join(sources)} origin stand side by side; analyse them apart",
        )
    for source, what in (("simulated", "a model"), ("robot", "a robot")):
        if source in sources:
            yield Finding(
                "info",
                f"{source}_data",
                dataset.name,
                f"{what} answered; these data say nothing about people",
            )
    for name, what in (("study_id", "studies"), ("game", "games")):
        levels = sorted(trials[name].unique())
        if len(levels) > 1:
            yield Finding(
                "error",
                f"several_{what}",
                dataset.name,
                f"trials of several {what} stand side by side ({', '.join(levels)}); analyse "
                "them apart",
            )
    folded: dict[str, set[str]] = {}
    for participant in trials["participant_id"].unique():
        key = participant.strip().casefold().lstrip("0") or "0"
        folded.setdefault(key, set()).add(participant)
    for ids in folded.values():
        if len(ids) > 1:
            yield Finding(
                "warning",
                "similar_ids",
                names_of(repr(i) for i in ids),
                "these ids differ only in case, spaces or leading zeros; they are taken for "
                "different participants",
            )


def _about_completeness(dataset: Dataset, used: pd.DataFrame) -> Iterator[Finding]:
    if used.empty:
        phases = " or ".join(dataset.analysis.phases)
        yield Finding(
            "error", "no_used_trials", dataset.name, f"there is no {phases} trial to analyse"
        )
        return
    n_each = dataset.trials.groupby("participant_id").size()
    expected = dataset.complete_n_trials
    if expected is not None:
        short = n_each[n_each != expected]
        if not short.empty:
            yield Finding(
                "warning",
                "incomplete_participants",
                names_of(short.index),
                f"a complete participant has {expected} trials, but these have "
                f"{short.min()} to {short.max()}",
            )
    unused = sorted(set(n_each.index) - set(used["participant_id"]))
    if unused:
        yield Finding(
            "warning", "practice_only", names_of(unused), "there are practice trials only"
        )
    gaps = dataset.trials.groupby(["participant_id", "session"])["trial_index"].agg(["max", "size"])
    gaps = gaps[gaps["max"] + 1 != gaps["size"]]
    if not gaps.empty:
        yield Finding(
            "warning",
            "trials_missing",
            names_of(gaps.index.get_level_values(0)),
            "trials are missing in the middle of a session; is a log missing?",
        )
    yield from _about_cells(dataset, used)


def _about_cells(dataset: Dataset, used: pd.DataFrame) -> Iterator[Finding]:
    factors = [name for name in dataset.analysis.cells if used[name].nunique() > 1]
    people = sorted(used["participant_id"].unique())
    usable = usable_rts(used, dataset.analysis)
    # Cells that the data hold at all: rules of the game can make others impossible.
    cells = [used[name] for name in factors]
    keys = used["participant_id"] if not cells else [used["participant_id"], *cells]
    counts = usable.astype("int64").groupby(keys).sum()
    if cells:
        levels = used[factors].drop_duplicates().itertuples(index=False, name=None)
        every = [(person, *level) for level in levels for person in people]
        counts = counts.reindex(pd.MultiIndex.from_tuples(every), fill_value=0)
    few = counts[counts < MIN_TRIALS_PER_CELL]
    if not few.empty:
        yield Finding(
            "warning",
            "few_trials",
            names_of(few.index.get_level_values(0).unique()),
            f"fewer than {MIN_TRIALS_PER_CELL} usable RTs (correct, within the bounds, not "
            f"skipped) in a cell of {' x '.join(factors) or 'the data'}; their means are unsteady",
        )


def _about_timing(trials: pd.DataFrame) -> Iterator[Finding]:
    def people(rows: pd.Series) -> str:
        return names_of(trials.loc[rows, "participant_id"].unique())

    # A simulated screen has no refresh to wait for.
    simulated = trials["source"] == "simulated"
    unsynchronised = ~(trials["display_synchronised"] | simulated).fillna(True)
    if unsynchronised.any():
        yield Finding(
            "warning",
            "display_unsynchronised",
            people(unsynchronised),
            "the screen did not wait for its refresh, so it is not known when cards really "
            f"appeared ({unsynchronised.mean():.0%} of trials)",
        )
    dropped = (trials["n_dropped_frames"] > 0).fillna(False)
    if dropped.mean() > MAX_SHARE_DROPPED:
        yield Finding(
            "warning",
            "dropped_frames",
            people(dropped),
            f"frames were dropped while the card was shown in {dropped.mean():.1%} of trials; "
            "close other programs",
        )
    keys = trials["response_device"].notna() & (trials["response_device"] != "pointer")
    coarse = (keys & (trials["response_resolution_s"] > MAX_RESOLUTION_S)).fillna(False)
    if coarse.any():
        worst_ms = 1000 * trials.loc[coarse, "response_resolution_s"].max()
        yield Finding(
            "warning",
            "coarse_key_times",
            people(coarse),
            f"key times are known to {worst_ms:.0f} ms only ({coarse.mean():.0%} of trials)",
        )
    pointer = (trials["response_device"] == "pointer").fillna(False)
    if pointer.any():
        yield Finding(
            "info",
            "pointer_responses",
            people(pointer),
            f"{pointer.mean():.0%} of trials were answered by mouse or touch, whose times are "
            "coarser and include the way to the item",
        )
    held = trials["key_held_at_onset"].astype("Float64").groupby(trials["participant_id"]).mean()
    held = held[held > MAX_SHARE_HELD]
    if not held.empty:
        yield Finding(
            "warning",
            "keys_held",
            names_of(held.index),
            f"a response key was down when the card came in more than {MAX_SHARE_HELD:.0%} of "
            "trials",
        )


def _about_people(used: pd.DataFrame) -> Iterator[Finding]:
    if used.empty:
        return
    late = (used["error_kind"] == "late").fillna(False).groupby(used["participant_id"]).mean()
    silent = late[late == 1]
    if not silent.empty:
        yield Finding(
            "warning", "no_responses", names_of(silent.index), "not one trial was answered in time"
        )
    slow = late[(late > MAX_SHARE_LATE) & (late < 1)]
    if not slow.empty:
        yield Finding(
            "warning",
            "many_late",
            names_of(slow.index),
            f"more than {MAX_SHARE_LATE:.0%} of trials were not answered in time",
        )
    yield from _about_item_colours(used)
    people = used.groupby("participant_id")
    # A pick among the items of the game, as the participant's first trial has them.
    n_items = people["item_colours"].first().map(lambda text: len(read_item_colours(text)))
    n_trials, n_correct = people.size(), people["correct"].sum()
    p_by_chance = stats.binom.sf(
        n_correct.to_numpy(dtype="float64") - 1,
        n_trials.to_numpy(dtype="float64"),
        1 / n_items.to_numpy(dtype="float64"),
    )
    # A handful of trials cannot tell guessing from knowing.
    judged = (n_trials >= MIN_TRIALS_TO_JUDGE).to_numpy() & (late < 1).to_numpy(dtype=bool)
    guessing = n_trials.index[judged & (p_by_chance > CHANCE_LEVEL)]
    if len(guessing):
        yield Finding(
            "warning",
            "chance_accuracy",
            names_of(guessing),
            "accuracy is no better than guessing among the items",
        )


def _about_item_colours(used: pd.DataFrame) -> Iterator[Finding]:
    """Name those whose items change their own colours within a session."""
    sessions = ["participant_id", "session"]
    texts = used[[*sessions, "item_colours"]].drop_duplicates()
    several = texts[texts.duplicated(sessions, keep=False)]
    changed: dict[str, str] = {}
    for (participant, _), rows in several.groupby(sessions)["item_colours"]:
        first, *others = rows
        own = read_item_colours(first)
        other = next((text for text in others if read_item_colours(text) != own), None)
        if other is not None:
            changed.setdefault(str(participant), f"from {first} to {other}")
    if changed:
        yield Finding(
            "warning",
            "item_colours_change",
            names_of(changed),
            "the items' own colours change within a session, for "
            f"{min(changed)} {changed[min(changed)]}",
        )
