"""Logs of games for cards that contradict themselves: each is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from small_study import SPOOKY_GRAB_KEYS

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_task.errors import DatasetError
from tests.analysis.loading.played_logs import (
    FIRST,
    LAST,
    Edit,
    keys_for,
    never,
    number_of,
    on_card,
    play,
    records_of,
    rewrite,
    study_of,
    wrong_at,
)


def refuse(path: Path, message: str) -> None:
    with pytest.raises(DatasetError, match=message) as caught:
        load_dataset(path)
    assert "\n" not in str(caught.value)
    assert path.name in str(caught.value)


def played_in(path: Path) -> pd.DataFrame:
    trials = load_dataset(path).trials
    return trials[trials["phase"] == "test"].reset_index(drop=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"winner": "p2"}, r'round.winner is stored as "p2", but the facts give "p1"'),
        ({"outcome": "nobody_right"}, r'round.outcome is stored as "nobody_right", .* "won"'),
        ({"n_won": {"p1": 9, "p2": 0}}, r'n_won is stored as {"p1": 9, .* {"p1": 1, "p2": 0}'),
        ({"n_pile": 3}, r"round.n_pile is stored as 3, but the facts give 11"),
        ({"n_jackpot": 2}, r"round.n_jackpot is stored as 2, but the facts give 0"),
        ({"tied": ["p1", "p2"]}, r'round.tied is stored as \["p1", "p2"\], but .* \[\]'),
        ({"by_lot": True}, r"round.by_lot is stored as true, but the facts give false"),
        ({"voided_by": "p1"}, r'round.voided_by is stored as "p1", but the facts give null'),
        ({"penalties": [{"player": "p2", "gave": False, "mistaken": True}]},
         r"round.penalties is stored as .*, but the facts give \[\]"),
        ({"recycled": ["ghost:red"]}, r"round.recycled is stored as .*, but the facts give \[\]"),
        ({"reason": "p2 was faster"}, r"round.reason is stored as .*, but the facts give"),
        ({"n_won": {"p1": 1}}, r'n_won counts cards of \["p1"\], but at the table are \["p1", "p'),
        ({"outcome": "lost"}, r"round_outcome is 'lost', but should be one of won, voided"),
        ({"penalties": ["p2"]}, r'"p2" is no penalty'),
        ({"n_pile": None}, r"n_pile is null, but should be a whole number"),
    ],
)  # fmt: skip
def test_round_that_the_facts_deny_is_refused(two, edit_log: Edit, change, message):
    number = number_of(two, FIRST)
    edit_log(two, number, lambda record: record["round"].update(change))
    refuse(two, rf"line {number + 1}, trial {FIRST}(: |, round).*{message}")


def test_round_is_there_exactly_in_tests(two, edit_log: Edit):
    first = number_of(two, FIRST)
    played = records_of(two)[first]["round"]
    edit_log(two, number_of(two, 0), lambda record: record.update(round=played))
    refuse(two, 'trial 0: round is .*, but phase is "practice"')
    edit_log(two, number_of(two, 0), lambda record: record.update(round=None))
    edit_log(two, first, lambda record: record.update(round=None))
    refuse(two, f'trial {FIRST}: round is null, but phase is "test"')


def test_swapped_scores_are_refused(two, edit_log: Edit):
    number = number_of(two, FIRST)
    edit_log(two, number, lambda record: record["players"].reverse())
    refuse(two, f"trial {FIRST}, player 1: rt_s is stored as 0.5.*, but the facts give 0.3")


def test_swapped_players_in_the_header_are_refused(two, edit_log: Edit):
    edit_log(two, 0, lambda header: header["company"]["players"].reverse())
    refuse(two, r'company.players is \["p2", "p1"\], but participant_id and others give \["p1"')


def test_swapped_players_throughout_the_header_are_refused(two, edit_log: Edit):
    def swap(header):
        header["company"]["players"].reverse()
        header["participant_id"], header["others"] = "p2", ["p1"]

    edit_log(two, 0, swap)
    refuse(two, rf"trial {FIRST - 4}: lot is .*, but its seed gives|round.winner is stored as")


def test_missing_score_is_refused(two, edit_log: Edit):
    edit_log(two, number_of(two, FIRST), lambda record: record["players"].pop())
    refuse(two, f"trial {FIRST}: players holds 1 scores, but 2 players have one each")


def test_press_with_anothers_keys_is_refused(two, edit_log: Edit):
    number = number_of(two, FIRST)
    events = records_of(two)[number]["events"]
    # The release is not scored, so that nothing but its meaning contradicts.
    place = next(i for i, e in enumerate(events) if e["kind"] == "release" and e["player"] == 0)
    edit_log(two, number, lambda record: record["events"][place].update(player=1))
    refuse(two, rf"event {place}: player is 1, but by the settings, key .* gives 0")


@pytest.mark.parametrize("trial_index", [0, FIRST, LAST + 1])
def test_changed_flag_of_cards_that_come_again_is_refused(alone, edit_log: Edit, trial_index):
    number = number_of(alone, trial_index)
    was = records_of(alone)[number]["recycled"]
    edit_log(alone, number, lambda record: record.update(recycled=not was))
    refuse(alone, f"trial {trial_index}: recycled is {str(not was).lower()}, but the settings say")


def test_other_card_from_under_the_pile_is_refused(alone):
    """Both cards were missed in this order; the records say they came in the other."""
    records = records_of(alone)
    one, other = (records[number_of(alone, LAST + n)] for n in (1, 2))
    lag_s = other["onset_s"] - one["onset_s"]
    for name in ("card", "rule", "target", "answer", "response", "events"):
        one[name], other[name] = other[name], one[name]
    for record, earlier_s in ((one, lag_s), (other, -lag_s)):
        for event in record["events"]:
            event["t_s"] -= earlier_s
    rewrite(alone, records)
    refuse(alone, rf"trial {LAST + 1}: card is .*, but the pile gives")


def test_other_foreperiod_of_a_card_that_comes_again_is_refused(tmp_path, edit_log: Edit):
    study = study_of(timing__foreperiod_s=[0.4, 0.9])
    path = play(study, tmp_path, wrong_at(FIRST))
    number = number_of(path, LAST + 1)
    edit_log(path, number, lambda record: record.update(foreperiod_requested_s=0.5))
    refuse(path, rf"trial {LAST + 1}: foreperiod_requested_s is 0.5, but its seed gives 0\.")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t_s": 0.2}, r'rival is \[{"t_s": 0.2, .*, but its seed gives'),
        ({"mode": "shout", "answer": "mouse"}, "rival"),
        ({"mode": "sing"}, "rival: mode is 'sing', but should be one of grab, shout"),
        ({"answer": "hat"}, "rival: .*hat"),
        ({"t_s": None}, "rival: t_s is null, but should be a finite number"),
    ],
)
def test_changed_attempt_of_the_rival_is_refused(rival, edit_log: Edit, change, message):
    number = number_of(rival, FIRST + 1)
    edit_log(rival, number, lambda record: record["rival"][0].update(change))
    refuse(rival, f"trial {FIRST + 1}.*{message}")


def test_attempt_of_the_rival_that_changes_no_score_is_refused(rival, edit_log: Edit):
    """In practice nothing comes of it; the seed still says when it was."""
    number = number_of(rival, 0)
    edit_log(rival, number, lambda record: record["rival"][0].update(t_s=1.25))
    refuse(rival, r"trial 0: rival is .*1.25.*, but its seed gives")


def test_second_attempt_of_a_model_is_refused(rival, edit_log: Edit):
    number = number_of(rival, 0)
    edit_log(rival, number, lambda record: record["rival"].append(record["rival"][0]))
    refuse(rival, "trial 0: rival is .*, but a model answers at most 1 times")


def test_attempt_without_a_rival_is_refused(alone, edit_log: Edit):
    attempt = {"t_s": 0.2, "mode": "grab", "answer": "ghost"}
    edit_log(alone, number_of(alone, FIRST), lambda record: record.update(rival=[attempt]))
    refuse(alone, f"trial {FIRST}: rival is .*, but there is no rival")


def test_other_lot_is_refused_even_where_it_decides_nothing(two, edit_log: Edit):
    number = number_of(two, FIRST)
    edit_log(two, number, lambda record: record["lot"].reverse())
    refuse(two, rf'trial {FIRST}: lot is \["p.", "p."\], but its seed gives \["p.", "p."\]')


def test_lot_that_does_not_order_the_table_is_refused(two, edit_log: Edit):
    edit_log(two, number_of(two, FIRST), lambda record: record.update(lot=["p1", "p1"]))
    refuse(two, rf'trial {FIRST}: lot is \["p1", "p1"\], but orders \["p1", "p2"\]')


def test_missing_block_record_of_the_cards_that_come_again_is_refused(alone):
    kept = [r for r in records_of(alone) if r.get("label") != "recycled"]
    rewrite(alone, kept)
    refuse(alone, f"trial {LAST + 1}: block_index is 3, but the last block record before it is 2")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_trials": 5}, r"\(block\): n_trials is 5, but 2 cards lie in the pile"),
        ({"label": "again"}, r'\(block\): label is "again", but the settings say "recycled"'),
        ({"phase": "practice"}, r'\(block\): phase is "practice", but the settings say "test"'),
    ],
)
def test_changed_block_record_of_the_cards_that_come_again_is_refused(
    alone, edit_log: Edit, change, message
):
    number = next(r["n"] for r in records_of(alone) if r.get("label") == "recycled")
    edit_log(alone, number, lambda record: record.update(change))
    refuse(alone, message)


def test_complete_session_that_lacks_cards_is_refused(alone):
    records = records_of(alone)
    last = number_of(alone, LAST + 2)
    records[-1]["n_trials"] -= 1
    rewrite(alone, records[:last] + records[last + 1 :])
    refuse(alone, r"\(end\): status is completed, but 1 card lies in the pile and only 1 of at mo")


def test_complete_session_that_lacks_all_cards_that_come_again_is_refused(alone):
    records = records_of(alone)
    first = number_of(alone, LAST)
    records[-1]["n_trials"] -= 2
    end = [r for r in records[first + 1 :] if r["type"] in ("screen", "end")]
    rewrite(alone, records[: first + 1] + end)
    refuse(alone, r"\(end\): status is completed, but 2 cards lie in the pile and only 0 of at mo")


def test_card_that_comes_again_from_an_empty_pile_is_refused(alone):
    records = records_of(alone)
    last = number_of(alone, LAST + 2)
    again = {**records[last], "trial_index": LAST + 3, "trial_in_block": 2, "events": []}
    # Late by 100 s, so that it is a trial of its own, and nobody answered it.
    times = ("fixation_onset_s", "onset_s", "offset_s", "end_s", "feedback_onset_s")
    again |= {name: records[last][name] + 100 for name in times}
    again |= dict.fromkeys(
        ("rt_s", "response", "response_mode", "response_device", "response_resolution_s",
         "mode_correct")
    )  # fmt: skip
    again |= {"correct": False, "error_kind": "late", "n_events": 0}
    end = {**records[-1], "n_trials": LAST + 4}
    rewrite(alone, [*records[: last + 1], again, end])
    refuse(alone, rf"trial {LAST + 3}: .*(lot is|pile was used up)")


def test_more_cards_than_may_come_again_are_refused(tmp_path, edit_log: Edit):
    path = play(study_of(company__max_recycled=2), tmp_path, never)
    assert played_in(path)["recycled"].sum() == 2
    records = records_of(path)
    number = number_of(path, LAST + 2)
    again = {**records[number], "trial_index": LAST + 3, "trial_in_block": 2}
    times = ("fixation_onset_s", "onset_s", "offset_s", "end_s")
    again |= {name: records[number][name] + 100 for name in times}
    rewrite(path, [*records[: number + 1], again])
    refuse(path, rf"trial_index is {LAST + 3}, but the settings plan 16 trials and at most 2 with")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"company": None}, r"company is null, but its settings have one|others is"),
        ({"company": {"players": ["p1"], "max_recycled": 3, "rival": None}},
         "company.max_recycled is 3, but its settings give 20"),
        ({"company": {"players": ["p1"], "max_recycled": -1, "rival": None}}, "cannot be negative"),
        ({"company": {"players": ["p1"], "max_recycled": 20}}, "company: rival is missing"),
        ({"others": ["p1"]}, '"p1" has two seats'),
        ({"others": [""]}, "others.0 is .*, but names a participant"),
        ({"others": "p2"}, 'others is "p2", but should be a list'),
        ({"others": ["p2"]}, r'company.players is \["p1"\], but .* give \["p1", "p2"\]'),
    ],
)  # fmt: skip
def test_company_in_the_header_that_contradicts_itself_is_refused(
    alone, edit_log: Edit, change, message
):
    edit_log(alone, 0, lambda header: header.update(change))
    refuse(alone, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "ghost", "n_trials_by_rule": {}}, 'rival.kind is "ghost", but its settings give'),
        ({"n_trials_by_rule": {"direct": 12}}, 'kind is "model", but n_trials_by_rule is {"direct'),
        ({"kind": "person"}, "rival_kind is 'person', but should be one of model, ghost"),
        ({"files": None}, "files is null, but should be a list"),
    ],
)
def test_rival_in_the_header_that_contradicts_itself_is_refused(
    rival, edit_log: Edit, change, message
):
    edit_log(rival, 0, lambda header: header["company"]["rival"].update(change))
    refuse(rival, message)


def test_company_of_a_study_without_one_is_refused(make_log):
    company = {"players": ["p01"], "max_recycled": 20, "rival": None}
    path = make_log(header={"company": company}, trial={"recycled": False, "rival": [],
                    "lot": ["p01"], "round": None})  # fmt: skip
    refuse(path, 'round is null, but phase is "test"')
    path.unlink()
    path = make_log(header={"company": company}, trial={"recycled": False, "rival": [],
                    "lot": ["p01"], "round": None}, phase="practice")  # fmt: skip
    refuse(path, "company is a table, but its settings have none")


def test_several_players_without_company_are_refused(make_log):
    refuse(make_log(header={"others": ["p2"]}), r'others is \["p2"\], but company is null')


def test_hat_that_another_player_put_is_refused(tmp_path, edit_log: Edit):
    """Whoever won the card chooses; here always the second."""
    grab = dict(zip(SPOOKY_GRAB_KEYS, "hjklz", strict=True))
    shout = dict(zip(SPOOKY_GRAB_KEYS, "yuiox", strict=True))
    more = [{"grab_keys": grab, "shout_keys": shout}]
    study = study_of("spooky-doo", game__hat_mover="participant", responses__more_players=more)
    script = on_card(
        lambda s, t, _n: keys_for(s, grab if s.solution.mode == "grab" else shout, t + 0.3)
    )
    path = play(study, tmp_path, script, others=("p2",))
    load_dataset(path)
    number = next(r["n"] for r in records_of(path) if r["type"] == "hat" and r["mover"])

    def press_with_the_firsts_keys(record):
        for event in record["events"]:
            if event["mode"] == "grab":
                event.update(player=0, key=SPOOKY_GRAB_KEYS[event["answer"]])

    edit_log(path, number, press_with_the_firsts_keys)
    refuse(path, r"hat_over is .*, but the keys pressed are those of no item; the log was changed")
