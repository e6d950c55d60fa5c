"""Which trials or turns the analysis leaves out, and why, as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.captain.settings import CaptainAnalysisSettings, load_analysis
from ghostblitz_analysis.dataset import Dataset
from ghostblitz_analysis.exclusions import (
    audit,
    flag_exclusions,
    import_table,
    participants_left_out,
    total_flow,
    used_for_accuracy,
    used_for_rt,
)
from ghostblitz_analysis.export.source import ExportSource, ExportTable
from ghostblitz_task.schema import Column

__all__ = ["Exclusions", "exclusions_of"]

_TRIAL = ("participant_id", "session", "trial_index")
_TURN = ("participant_id", "session", "block_index", "turn_index", "player_id")
_SCOPES = {
    "all": "everything",
    "rt": "the RT measures only",
    "pick_rt": "the measures of pick RTs only",
    "naming_rt": "the measures of naming RTs only",
}
_USED = {
    "used_for_accuracy": "Whether the trial counts for accuracy and kinds of error",
    "used_for_rt": "Whether the trial counts for the RT measures, if it has an RT",
    "used_for_hits": "Whether the turn counts for hits",
    "used_for_pick_rt": "Whether the turn counts for pick RTs, if it has one",
    "used_for_naming_rt": "Whether the turn counts for naming RTs, if it has one",
}


@dataclass(frozen=True, eq=False)
class Exclusions:
    """What is left out.

    Attributes
    ----------
    rows : ExportTable
        One row per trial or turn of the main table, in its order: what it is, a flag per step, and
        which measures it counts for.
    steps : DataFrame
        One row per step: ``step`` (from 1), ``flag``, ``scope`` (``all``, or the measures that
        alone leave the rows out: ``rt``, or ``pick_rt`` and ``naming_rt``), ``reason``,
        ``n_trials``, ``n_flagged`` (whatever other steps say), ``n_newly_excluded`` (by this step
        and none before it) and ``n_left``.
    participants : DataFrame or None
        Who missed a stated limit; null with the captain's deck, which has none.
    import_flow : DataFrame or None
        What an import left out before; null for data that were not imported.
    """

    rows: ExportTable
    steps: pd.DataFrame
    participants: pd.DataFrame | None
    import_flow: pd.DataFrame | None


def exclusions_of(source: ExportSource) -> Exclusions:
    """Apply the exclusions that the data set's analysis settings state, or the defaults.

    Raises
    ------
    ConfigError
        If the settings of the captain's deck are not valid.
    """
    if source.dataset is None:
        return _of_turns(source.main, load_analysis(source.path))
    return _of_trials(source.dataset, source.main)


def _of_trials(dataset: Dataset, main: ExportTable) -> Exclusions:
    flagged = flag_exclusions(dataset.trials, dataset.analysis)
    flow = total_flow(audit(flagged, dataset.analysis))
    flags = {str(flag): flagged[str(flag)].astype("boolean") for flag in flow["flag"]}
    used = {
        "used_for_accuracy": used_for_accuracy(flagged),
        "used_for_rt": used_for_rt(flagged),
    }
    left_out, imported = participants_left_out(flagged, dataset.analysis), dataset.import_flow
    return Exclusions(
        rows=_rows(main, _TRIAL, flags, flow, used),
        steps=flow,
        participants=left_out,
        import_flow=None if imported is None else import_table(imported),
    )


def _of_turns(main: ExportTable, settings: CaptainAnalysisSettings) -> Exclusions:
    """Flag turns as `captain.measures` leaves them out: of everything, or of the RT measures."""
    turns = main.frame
    found = _turn_flags(turns, settings)
    flags = {flag: hit(turns).fillna(False).astype("boolean") for flag, _, _, hit in found}
    gone = np.zeros(len(turns), dtype=bool)
    rows = []
    for number, (flag, scope, reason, _find) in enumerate(found, start=1):
        hit = flags[flag].to_numpy(dtype=bool)
        n_new = int((hit & ~gone).sum())
        gone |= hit
        rows.append(
            {
                "step": number, "flag": flag, "scope": scope, "reason": reason,
                "n_trials": len(turns), "n_flagged": int(hit.sum()),
                "n_newly_excluded": n_new, "n_left": int((~gone).sum()),
            }
        )  # fmt: skip
    used = {}
    for what in ("hits", "pick_rt", "naming_rt"):
        steps = [flag for flag, scope, _reason, _find in found if scope in ("all", what)]
        out = np.logical_or.reduce([flags[flag].to_numpy(dtype=bool) for flag in steps])
        used[f"used_for_{what}"] = ~out
    table = pd.DataFrame(rows)
    return Exclusions(_rows(main, _TURN, flags, table, used), table, None, None)


_Found = tuple[str, str, str, Callable[[pd.DataFrame], "pd.Series[bool]"]]


def _turn_flags(turns: pd.DataFrame, settings: CaptainAnalysisSettings) -> Sequence[_Found]:
    phases, pick_s, name_s = settings.phases, settings.max_pick_rt_s, settings.max_naming_rt_s
    return (
        ("exclude_phase", "all", f"not of phase {' or '.join(phases)}",
         lambda t: ~t["phase"].isin(phases)),
        ("exclude_censored", "all", "the end of the game cut the turn short",
         lambda t: t["censored"]),
        ("exclude_no_pick", "all", "nothing was picked",
         lambda t: t["dropping_id"].isna()),
        ("exclude_claim", "all", "a claim of the last dropping, which no cue asks for",
         lambda t: t["claimed"].notna()),
        ("exclude_early_pick", "pick_rt",
         "pick RT of 0 or less: before the flip that showed the die",
         lambda t: t["pick_rt_s"] <= 0),
        ("exclude_long_pick", "pick_rt", f"pick RT above {pick_s:g} s",
         lambda t: t["pick_rt_s"] > pick_s),
        ("exclude_early_naming", "naming_rt",
         "naming RT of 0 or less: before the flip that showed the colour",
         lambda t: t["naming_rt_s"] <= 0),
        ("exclude_long_naming", "naming_rt", f"naming RT above {name_s:g} s",
         lambda t: t["naming_rt_s"] > name_s),
    )  # fmt: skip


def _rows(
    main: ExportTable,
    identity: Sequence[str],
    flags: Mapping[str, pd.Series],
    steps: pd.DataFrame,
    used: Mapping[str, npt.NDArray[np.bool_]],
) -> ExportTable:
    known = {column.name: column for column in main.columns}
    frame = main.frame[[*identity, "source"]].assign(
        **flags, **{name: pd.array(mask, dtype="boolean") for name, mask in used.items()}
    )
    reasons = dict(zip(steps["flag"], steps["reason"], strict=True))
    scopes = dict(zip(steps["flag"], steps["scope"], strict=True))
    columns = [known[name] for name in (*identity, "source")]
    columns += [_flag_column(flag, str(reasons[flag]), str(scopes[flag])) for flag in flags]
    columns += [Column(name, "boolean", _USED[name], "derived") for name in used]
    return ExportTable("exclusions", frame.reset_index(drop=True), tuple(columns))


def _flag_column(flag: str, reason: str, scope: str) -> Column:
    return Column(flag, "boolean", f"Left out of {_SCOPES[scope]}: {reason}", "derived")
