"""What a trial costs by what went before it: switches, mixing, repetitions, ignored targets.

Each effect is a `Comparison`: two kinds of trial, the trials that both leave out, and what both
are matched on. In all of them the trial before was right, since an error changes what follows,
and trials at the start of a block, which follow nothing, are left out. In effects that are not
about repetition, trials that repeat the target or the answer are left out: with few items such
repetitions are frequent, fast, and more frequent after some rules than after others. Where there
are two modes, trials are matched on the mode of the trial before and on the target, since the
rulebook confounds mode, rule and target.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.exclusions import used_for_accuracy, used_for_rt
from ghostblitz_analysis.sequences.history import previous_positions, trial_history
from ghostblitz_analysis.sequences.matched_differences import Comparison
from ghostblitz_task.schema import column

__all__ = ["COST_MEANINGS", "cost_comparisons", "sequence_trials"]

Mask = npt.NDArray[np.bool_]
Steps = tuple[tuple[str, Mask], ...]

#: The effects of `cost_comparisons`, in order, and `rule_switch_asymmetry`, in words.
COST_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "rule_switch": "rule switch cost: another rule than in the trial before against the same "
        "rule, in mixed blocks",
        "rule_switch_asymmetry": "asymmetry of rule switch costs: the cost of switching to this "
        "rule minus that of switching to the first",
        "mode_switch": "mode switch cost: another mode than in the trial before against the same "
        "mode",
        "mixing": "mixing cost: trials of mixed blocks that repeat the rule against trials of "
        "pure blocks",
        "target_repetition": "target repetition: the target of the trial before against another",
        "response_repetition": "response repetition: the response of the trial before against "
        "another",
        "response_repetition_rule_repeated": "response repetition where the rule is repeated",
        "response_repetition_rule_switched": "response repetition where the rule switches",
        "negative_priming": "negative priming: a target that was depicted and ignored on the card "
        "before against one that was not depicted there",
        "rule_n2_repetition": "n-2 rule repetition: back to the rule of two trials before (ABA) "
        "against a third rule (CBA)",
        "target_n2_repetition": "n-2 target repetition: back to the target of two trials before "
        "(ABA) against a third target (CBA)",
    }
)

_COPIED_FLAGS = (
    "has_previous", "has_second_previous", "previous_correct", "second_previous_correct",
    "rule_repeated", "mode_repeated", "target_repeated", "answer_repeated", "response_repeated",
    "second_rule_repeated", "second_mode_repeated", "second_target_repeated",
    "second_answer_repeated", "card_repeated", "target_ignored",
)  # fmt: skip


def sequence_trials(flagged: pd.DataFrame) -> pd.DataFrame:
    """Return the analysed trials with what went before them, ready to be compared.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions`. The trials before are looked up among all of its rows, whatever
        flags they have.

    Returns
    -------
    DataFrame, one row per trial that counts for accuracy
        ``participant_id``, ``mode``, ``rule``, ``block_kind``, ``target``, ``previous_rule`` and
        ``second_previous_rule`` as categories in the schema's order; ``usable`` (no exclusion
        flags its RT), ``wrong``, ``rt_s`` and ``log_rt``; the relations of `trial_history`, false
        where they are missing; ``previous_wrong``; ``previous_target_repeated`` (the target or
        answer of the trial before is that of the one two before), ``previous_rule_repeated`` (its
        rule is); ``second_usable``,
        ``second_rt_s`` and ``second_log_rt`` of the trial two before. Seconds are NaN where
        missing, and logs where RTs are not usable.
    """
    first = previous_positions(flagged)
    history = trial_history(flagged, positions=first)
    usable, analysed = used_for_rt(flagged), used_for_accuracy(flagged)
    rt_s = flagged["rt_s"].to_numpy(dtype="float64", na_value=np.nan)
    second_rt_s = history["second_previous_rt_s"].to_numpy(dtype="float64", na_value=np.nan)
    columns: dict[str, object] = {
        name: _levels(values, level_name)
        for name, values, level_name in (
            ("participant_id", flagged["participant_id"], None),
            ("mode", flagged["mode"], "mode"),
            ("rule", flagged["rule"], "rule"),
            ("block_kind", flagged["block_kind"], "block_kind"),
            ("target", flagged["target"], None),
            ("previous_rule", history["previous_rule"], "rule"),
            ("second_previous_rule", history["second_previous_rule"], "rule"),
        )
    }
    flags = {name: _true(history[name]) for name in _COPIED_FLAGS}
    second = np.where(first >= 0, first[first], -1)
    second_usable = np.where(second >= 0, usable[second], False)
    repeats = _true(history["target_repeated"]) | _true(history["answer_repeated"])
    same_rule = _true(history["rule_repeated"])
    columns |= flags | {
        "previous_wrong": _true(~history["previous_correct"]),
        "previous_target_repeated": np.where(first >= 0, repeats[first], False),
        "previous_rule_repeated": np.where(first >= 0, same_rule[first], False),
        "usable": usable,
        "wrong": ~_true(flagged["correct"]),
        "rt_s": rt_s,
        "log_rt": np.log(np.where(usable, rt_s, np.nan)),
        "second_usable": second_usable,
        "second_rt_s": second_rt_s,
        "second_log_rt": np.log(np.where(second_usable, second_rt_s, np.nan)),
    }
    table = pd.DataFrame(columns).loc[analysed].reset_index(drop=True)
    for name in table.columns:
        if isinstance(table[name].dtype, pd.CategoricalDtype):
            table[name] = table[name].cat.remove_unused_categories()
    return table


def _levels(values: pd.Series, name: str | None) -> pd.Categorical[str]:
    """Return categories in the schema's order, others after them; by name where it has none."""
    texts = pd.Categorical(values.astype("string").reset_index(drop=True))
    known = column(name).levels if name else ()
    found = [str(level) for level in texts.categories]
    ordered = [level for level in known if level in set(found)]
    ordered += sorted(level for level in found if level not in set(known))
    return texts.set_categories(ordered)


def _true(values: pd.Series) -> Mask:
    """Return where a value is known to be true."""
    return np.asarray(values.astype("boolean").to_numpy(dtype=bool, na_value=False))


def cost_comparisons(trials: pd.DataFrame, *, modes: tuple[str, ...]) -> list[Comparison]:
    """State the comparisons that the trials allow, in the order of `COST_MEANINGS`.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        From `sequence_trials`.
    modes : tuple of str
        ``("mode",)`` where there are two, else empty.

    Returns
    -------
    list of Comparison
        Those of rule switches only where a mixed block holds several rules, of mode switches where
        there are two modes, of mixing where there are pure and mixed blocks; of n-2 repetitions
        those of rules where mixed blocks hold three rules or more, else those of targets.

    Notes
    -----
    - Mixing costs compare blocks, so they hold what changes from block to block as well: with
      pure blocks first, practice and fatigue.
    - In rule switch costs, trials with a target that was ignored on the card before are left in.
      They are more frequent after exclusion cards, which depict two such items instead of one.
      `sequence_effects` with ``match=("target_ignored",)`` holds them apart.
    - In negative priming, the item that was not depicted may have had its own colour shown.
    """
    mixed = _true(trials["block_kind"] == "mixed")
    comparisons = []
    if trials.loc[mixed, "rule"].nunique() > 1:
        comparisons.append(_rule_switch(trials, mixed, modes))
    if modes:
        comparisons.append(_mode_switch(trials))
    if trials["block_kind"].nunique() > 1:
        comparisons.append(_mixing(trials, mixed, modes))
    comparisons += [
        _target_repetition(trials, modes),
        *_response_repetitions(trials, modes),
        _negative_priming(trials, modes),
    ]
    # Two rules have no third one to come from.
    if trials.loc[mixed, "rule"].nunique() > 2:
        return [*comparisons, _rule_n2_repetition(trials, mixed, modes)]
    return [*comparisons, _target_n2_repetition(trials, modes)]


def _flag(trials: pd.DataFrame, name: str) -> Mask:
    return np.asarray(trials[name].to_numpy(dtype=bool))


def _all(trials: pd.DataFrame) -> Mask:
    return np.ones(len(trials), dtype=bool)


def _after_correct(trials: pd.DataFrame) -> Steps:
    return (
        ("no trial just before it in its block", _flag(trials, "has_previous")),
        ("the trial before was wrong", _flag(trials, "previous_correct")),
    )


def _no_repetition(trials: pd.DataFrame) -> Steps:
    repeats = _flag(trials, "target_repeated") | _flag(trials, "answer_repeated")
    return (("its target or answer is that of the trial before", ~repeats),)


def _has_target(trials: pd.DataFrame) -> Steps:
    return (("its rule singles out no target", trials["target"].notna().to_numpy()),)


def _matched(*names: str, modes: tuple[str, ...]) -> tuple[str, ...]:
    """With two modes, modes of neighbours and targets go together with everything else."""
    return (*names, "mode_repeated", "target") if modes else names


def _rule_switch(trials: pd.DataFrame, mixed: Mask, modes: tuple[str, ...]) -> Comparison:
    repeated = _flag(trials, "rule_repeated")
    return Comparison(
        "rule_switch",
        "analysed trials of mixed blocks",
        mixed,
        _after_correct(trials) + _no_repetition(trials),
        condition=~repeated,
        reference=repeated,
        matched_on=_matched("rule", modes=modes),
    )


def _mode_switch(trials: pd.DataFrame) -> Comparison:
    repeated = _flag(trials, "mode_repeated")
    return Comparison(
        "mode_switch",
        "analysed trials",
        _all(trials),
        _after_correct(trials) + _no_repetition(trials),
        condition=~repeated,
        reference=repeated,
        matched_on=("rule", "block_kind", "previous_rule", "target"),
        note="each mode against itself: its trials after the other mode and after the same",
    )


def _mixing(trials: pd.DataFrame, mixed: Mask, modes: tuple[str, ...]) -> Comparison:
    switches = ("its rule is not that of the trial before", _flag(trials, "rule_repeated"))
    return Comparison(
        "mixing",
        "analysed trials",
        _all(trials),
        (*_after_correct(trials), *_no_repetition(trials), switches),
        condition=mixed,
        reference=_true(trials["block_kind"] == "pure"),
        matched_on=_matched("rule", modes=modes),
    )


def _target_repetition(trials: pd.DataFrame, modes: tuple[str, ...]) -> Comparison:
    repeated = _flag(trials, "target_repeated")
    same_card = ("its card is that of the trial before", ~_flag(trials, "card_repeated"))
    return Comparison(
        "target_repetition",
        "analysed trials",
        _all(trials),
        (*_has_target(trials), *_after_correct(trials), same_card),
        condition=repeated,
        reference=~repeated & ~_flag(trials, "answer_repeated"),
        matched_on=_matched("rule", "block_kind", "previous_rule", modes=modes),
    )


def _response_repetitions(trials: pd.DataFrame, modes: tuple[str, ...]) -> list[Comparison]:
    repeated = _flag(trials, "response_repeated")
    target = _flag(trials, "target_repeated")
    same_card = ("its card is that of the trial before", ~_flag(trials, "card_repeated"))
    note = ""
    if not (repeated & ~target & _flag(trials, "previous_correct")).any():
        note = "every repeated response repeats the target too, so this is no effect of its own"
    same_rule = _flag(trials, "rule_repeated")
    parts: tuple[tuple[str, Steps], ...] = (
        ("response_repetition", ()),
        (
            "response_repetition_rule_repeated",
            (("its rule is not that of the trial before", same_rule),),
        ),
        (
            "response_repetition_rule_switched",
            (("its rule is that of the trial before", ~same_rule),),
        ),
    )
    return [
        Comparison(
            effect,
            "analysed trials",
            _all(trials),
            (*_after_correct(trials), same_card, *further),
            condition=repeated,
            reference=~repeated & ~target & ~_flag(trials, "answer_repeated"),
            matched_on=_matched("rule", "block_kind", "previous_rule", modes=modes),
            note=note,
        )
        for effect, further in parts
    ]


def _negative_priming(trials: pd.DataFrame, modes: tuple[str, ...]) -> Comparison:
    ignored = _flag(trials, "target_ignored")
    return Comparison(
        "negative_priming",
        "analysed trials",
        _all(trials),
        _has_target(trials) + _after_correct(trials) + _no_repetition(trials),
        condition=ignored,
        reference=~ignored,
        # Exclusion cards depict two items to be ignored, direct cards one.
        matched_on=_matched("rule", "block_kind", "previous_rule", modes=modes),
    )


def _after_two_correct(trials: pd.DataFrame) -> Steps:
    return (
        ("no two trials just before it in its block", _flag(trials, "has_second_previous")),
        (
            "one of the two trials before was wrong",
            _flag(trials, "previous_correct") & _flag(trials, "second_previous_correct"),
        ),
        *_no_repetition(trials),
    )


def _rule_n2_repetition(trials: pd.DataFrame, mixed: Mask, modes: tuple[str, ...]) -> Comparison:
    back = _flag(trials, "second_rule_repeated")
    switched = ~_flag(trials, "rule_repeated")
    switched_before = ~_flag(trials, "previous_rule_repeated")
    repeats = _flag(trials, "second_target_repeated") | _flag(trials, "second_answer_repeated")
    return Comparison(
        "rule_n2_repetition",
        "analysed trials of mixed blocks",
        mixed,
        (
            *_after_two_correct(trials),
            ("its target or answer is that of the trial two before", ~repeats),
            (
                "its rule or that of the trial before is no switch",
                switched & switched_before,
            ),
        ),
        condition=back,
        reference=~back,
        matched_on=_matched("rule", "previous_rule", modes=modes),
    )


def _target_n2_repetition(trials: pd.DataFrame, modes: tuple[str, ...]) -> Comparison:
    back = _flag(trials, "second_target_repeated")
    repeated_before = _flag(trials, "previous_target_repeated")
    further = ("second_mode_repeated",) if modes else ()
    return Comparison(
        "target_n2_repetition",
        "analysed trials",
        _all(trials),
        (
            *_has_target(trials),
            *_after_two_correct(trials),
            (
                "the trial before repeated the target or answer of the one two before",
                ~repeated_before,
            ),
        ),
        condition=back,
        reference=~back & ~_flag(trials, "second_answer_repeated"),
        matched_on=(
            *_matched("rule", "block_kind", "previous_rule", modes=modes),
            "second_previous_rule",
            *further,
        ),
    )
