"""What came of playing for the cards: who took how many, and which right answers came too late.

A right answer is too late where another's was first, or a tie was lost. Rounds with cards that came
again count here, since they belong to the game; the RTs that are compared with a rival's do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ghostblitz_analysis.exclusions import used_for_rt
from ghostblitz_analysis.intervals import mean_interval
from ghostblitz_analysis.measures import order_cells

__all__ = ["CompanyResults", "company_results", "rival_contrasts", "round_counts"]

_GAME = ["participant_id", "session"]
_SUMS = ("log_ratio", "difference_s")


@dataclass(frozen=True, eq=False)
class CompanyResults:
    """What trials that were played for cards come to.

    Attributes
    ----------
    participants : DataFrame
        From `round_counts` per participant and session, with ``n_players``, ``rival_kind`` and
        ``n_cards_won``: the cards in hand after the session's last round.
    participant_rules : DataFrame
        From `round_counts` per participant, session and rule.
    rules : DataFrame
        From `round_counts` per rule, over all participants.
    contrasts : DataFrame
        From `rival_contrasts`; empty without a rival.
    """

    participants: pd.DataFrame
    participant_rules: pd.DataFrame
    rules: pd.DataFrame
    contrasts: pd.DataFrame

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The tables under the names of their CSV files."""
        tables = {
            "company_participants": self.participants,
            "company_participant_rules": self.participant_rules,
            "company_rules": self.rules,
        }
        return tables | ({} if self.contrasts.empty else {"company_rival": self.contrasts})

    @property
    def rival_kinds(self) -> tuple[str, ...]:
        """The simulated rivals that played along, in alphabetical order."""
        return tuple(sorted(self.participants["rival_kind"].dropna().unique()))

    @property
    def most_players(self) -> int:
        """The most participants that played together at one machine."""
        return int(self.participants["n_players"].max())


def company_results(flagged: pd.DataFrame, *, confidence: float) -> CompanyResults | None:
    """Count and compare the rounds of a data set; None if no card was played for.

    Parameters
    ----------
    flagged : DataFrame, one row per participant and trial
        From `flag_exclusions`. Trials that were not played for are left out.
    confidence : float
        Level of all intervals.
    """
    rounds = flagged[flagged["round_outcome"].notna().to_numpy()]
    if rounds.empty:
        return None
    last = rounds.sort_values("trial_index").groupby(_GAME, as_index=False).last()
    about = last[[*_GAME, "n_players", "rival_kind", "n_cards_won"]]
    games = about.merge(round_counts(rounds, by=_GAME), on=_GAME, validate="1:1")
    of_rules = round_counts(rounds, by=[*_GAME, "rule"])
    return CompanyResults(
        participants=games.sort_values(_GAME, ignore_index=True),
        participant_rules=order_cells(of_rules, factors=("session", "rule")),
        rules=order_cells(round_counts(rounds, by=["rule"]), factors=("rule",)),
        contrasts=rival_contrasts(rounds, confidence=confidence),
    )


def round_counts(rounds: pd.DataFrame, *, by: Sequence[str]) -> pd.DataFrame:
    """Count what participants did in rounds, and what became of the cards.

    Parameters
    ----------
    rounds : DataFrame, one row per participant and round
        From `flag_exclusions`, rounds only.
    by : sequence of str
        Columns whose combinations are counted apart.

    Returns
    -------
    DataFrame, one row per combination
        The columns of `by`, then

        - ``n_rounds``, of which ``n_recycled`` with cards that came again; ``n_gave`` in which the
          participant gave up a card, and ``n_tied``;
        - ``n_took`` (right, and the card with it), ``n_too_late`` (right, without the card),
          ``n_wrong`` and ``n_unanswered`` (nothing in time), which add up to ``n_rounds``;
        - ``p_took`` of all rounds, and ``p_too_late`` of the right answers (missing without any);
        - the same of the rival (``n_rival_took``, …) in the ``n_rival_rounds`` that it played.
    """
    correct, took = _flags(rounds["correct"]), _flags(rounds["took_card"])
    unanswered = _flags(rounds["error_kind"] == "late")
    with_rival = rounds["rival_correct"].notna().to_numpy()
    rival_right, rival_took = _flags(rounds["rival_correct"]), _flags(rounds["rival_took_card"])
    rival_silent = with_rival & rounds["rival_rt_s"].isna().to_numpy()
    flags = {
        "n_rounds": np.ones(len(rounds), dtype=bool),
        "n_recycled": _flags(rounds["recycled"]),
        "n_gave": _flags(rounds["gave_card"]),
        "n_tied": _flags(rounds["tied"]),
        "n_took": took,
        "n_too_late": correct & ~took,
        "n_wrong": ~correct & ~unanswered,
        "n_unanswered": unanswered,
        "n_rival_rounds": with_rival,
        "n_rival_took": rival_took,
        "n_rival_too_late": rival_right & ~rival_took,
        "n_rival_wrong": with_rival & ~rival_right & ~rival_silent,
        "n_rival_unanswered": rival_silent,
    }
    counted = rounds[list(by)].assign(**{n: f.astype("int64") for n, f in flags.items()})
    table = counted.groupby(list(by), as_index=False, observed=True).sum()
    table = table.astype(dict.fromkeys(flags, "Int64"))
    for stem, of in (("", "n_rounds"), ("rival_", "n_rival_rounds")):
        right = table[f"n_{stem}took"] + table[f"n_{stem}too_late"]
        table[f"p_{stem}took"] = _share(table[f"n_{stem}took"], table[of])
        table[f"p_{stem}too_late"] = _share(table[f"n_{stem}too_late"], right)
    return table


def rival_contrasts(rounds: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Compare participants' RTs with the rival's on the same cards, per rule.

    A participant's value is the mean over the cards that both got right and whose RT counts by
    the exclusions: of the difference of their RTs, and of that of the logs. Means over participants
    have t intervals (Student 1908), as `mean_interval` gives them.

    Parameters
    ----------
    rounds : DataFrame, one row per participant and round
        From `flag_exclusions`, rounds only.
    confidence : float
        Level of the intervals.

    Returns
    -------
    DataFrame, one row per rule
        ``rule``, ``n_participants``, ``n_rts`` (cards), ``rt_ratio`` (participant over rival: exp
        of the mean log difference) and ``difference_s``, each with ``_low`` and ``_high``. Empty
        without a rival; a rule without such cards has no row.
    """
    both = used_for_rt(rounds) & _flags(rounds["rival_correct"])
    pairs = rounds[both & _flags(rounds["rival_rt_s"] > 0)]
    own, rival = (pairs[name].astype("float64") for name in ("rt_s", "rival_rt_s"))
    pairs = pairs[["participant_id", "rule"]].assign(
        log_ratio=np.log(own) - np.log(rival), difference_s=own - rival
    )
    rows = []
    for rule, of_rule in pairs.groupby("rule"):
        means = of_rule.groupby("participant_id")[list(_SUMS)].mean()
        ratio, difference = (mean_interval(means[n], confidence=confidence) for n in _SUMS)
        rows.append(
            {
                "rule": rule,
                "n_participants": len(means),
                "n_rts": len(of_rule),
                "rt_ratio": np.exp(ratio.mean),
                "rt_ratio_low": np.exp(ratio.low),
                "rt_ratio_high": np.exp(ratio.high),
                "difference_s": difference.mean,
                "difference_low_s": difference.low,
                "difference_high_s": difference.high,
            }
        )
    names = (
        "rule", "n_participants", "n_rts", "rt_ratio", "rt_ratio_low", "rt_ratio_high",
        "difference_s", "difference_low_s", "difference_high_s",
    )  # fmt: skip
    types = {n: "Int64" if n.startswith("n_") else "Float64" for n in names} | {"rule": "string"}
    table = pd.DataFrame(rows, columns=names).astype(types)
    return order_cells(table, factors=("rule",))


def _share(n: pd.Series, of: pd.Series) -> pd.Series:
    whole = of.astype("Float64")
    return n / whole.mask(whole == 0)


def _flags(values: pd.Series) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return where a flag is set; where it is missing it is not."""
    return values.astype("boolean").fillna(False).to_numpy(dtype=bool)
