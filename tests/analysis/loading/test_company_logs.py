"""Sessions played for cards: rows for every player, and every round as its facts say."""

from __future__ import annotations

import dataclasses
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from small_study import GRAB_KEYS, SPOOKY_GRAB_KEYS

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.validation import validate_dataset
from ghostblitz_task.errors import DatasetError
from tests.analysis.loading.played_logs import (
    FIRST,
    LAST,
    N_PRACTICE,
    N_TEST,
    Edit,
    both,
    cut_after,
    for_two,
    keys_for,
    never,
    number_of,
    on_card,
    play,
    records_of,
    resume,
    right,
    spooky_right,
    study_of,
    wrong_at,
)

OF_ROUNDS = [
    "recycled", "round_outcome", "took_card", "gave_card", "tied", "n_cards_won", "rival_rt_s",
    "rival_correct", "rival_took_card",
]  # fmt: skip


def refuse(path: Path, message: str) -> None:
    with pytest.raises(DatasetError, match=message) as caught:
        load_dataset(path)
    assert "\n" not in str(caught.value)
    assert path.name in str(caught.value)


def played_in(path: Path) -> pd.DataFrame:
    trials = load_dataset(path).trials
    return trials[trials["phase"] == "test"].reset_index(drop=True)


# --- what is loaded ----------------------------------------------------------------------------


def test_each_player_has_a_row_for_each_card(two):
    trials = load_dataset(two).trials
    assert len(trials) == 2 * (N_PRACTICE + N_TEST)
    assert trials.groupby("participant_id")["player"].unique().map(list).to_dict() == {
        "p1": [1], "p2": [2],
    }  # fmt: skip
    assert (trials["n_players"] == 2).all()
    for player, rt_s in (("p1", 0.3), ("p2", 0.5)):
        assert trials.loc[trials["participant_id"] == player, "rt_s"].tolist() == [
            pytest.approx(rt_s)
        ] * (N_PRACTICE + N_TEST)


def test_rows_say_whose_the_card_is(two):
    trials = played_in(two)
    first, second = (trials[trials["participant_id"] == p] for p in ("p1", "p2"))
    assert (first["round_outcome"] == "won").all()
    wrong = [n == 2 for n in range(N_TEST)]
    assert first["took_card"].tolist() == [not w for w in wrong]
    assert second["took_card"].tolist() == wrong
    assert first["gave_card"].tolist() == wrong
    assert first["n_cards_won"].tolist() == [1, 2, 1, *range(2, 11)]
    assert second["n_cards_won"].tolist() == [0, 0, 2] + [2] * 9
    assert not trials["recycled"].any()
    assert (
        trials[["rival_kind", "rival_rt_s", "rival_correct", "rival_took_card"]].isna().all().all()
    )


def test_practice_is_not_played_for(two):
    trials = load_dataset(two).trials
    assert trials.loc[trials["phase"] == "practice", OF_ROUNDS].isna().all().all()


def test_tie_is_marked_for_both(tmp_path):
    path = play(for_two(), tmp_path, both(0.3, 0.3), others=("p2",))
    trials = played_in(path)
    assert trials["tied"].all()
    # A lot from the seed decides, for one of them each time.
    assert (trials.groupby("trial_index")["took_card"].sum() == 1).all()


def test_cards_that_come_again_are_marked_and_in_a_block_of_their_own(alone):
    trials = played_in(alone)
    assert trials["recycled"].tolist() == [False] * N_TEST + [True] * 2
    again = trials[trials["recycled"]]
    assert again["card"].tolist() == trials["card"].tolist()[:2]
    assert again["block_index"].tolist() == [3, 3]
    assert again["n_cards_won"].tolist() == [N_TEST - 1, N_TEST]
    assert (trials["n_players"] == 1).all()
    assert trials["player"].isna().all()
    run = load_dataset(alone).runs[0]
    assert (run.plan_check, run.n_trials, run.n_recycled) == ("same", N_PRACTICE + N_TEST + 2, 2)


def test_complete_session_with_cards_that_came_again_has_no_findings_of_its_run(alone):
    codes = {finding.code for finding in validate_dataset(load_dataset(alone))}
    assert not codes & {"session_incomplete", "trials_missing", "run_killed", "file_name_differs"}


def test_rival_is_in_its_own_columns_and_is_no_participant(rival):
    trials = played_in(rival)
    assert set(trials["participant_id"]) == {"p1"}
    assert (trials["rival_kind"] == "model").all()
    stored = [r["rival"][0]["t_s"] for r in records_of(rival) if r.get("phase") == "test"
              and r["type"] == "trial"]  # fmt: skip
    assert trials["rival_rt_s"].tolist() == stored
    taken = trials["took_card"] | trials["rival_took_card"]
    assert taken.tolist() == (trials["round_outcome"] == "won").tolist()
    assert not (trials["took_card"] & trials["rival_took_card"]).any()
    assert trials["rival_correct"].any()
    assert not trials["rival_correct"].all()


def test_rival_is_said_to_be_simulated(rival):
    found = [f for f in validate_dataset(load_dataset(rival)) if f.code == "simulated_rival"]
    assert len(found) == 1
    assert "the rival was simulated: a model" in found[0].message


def test_players_of_a_session_are_said_to_depend_on_each_other(two):
    found = [f for f in validate_dataset(load_dataset(two)) if f.code == "played_together"]
    assert [f.severity for f in found] == ["warning"]


def test_session_without_company_has_nulls(make_log):
    trials = load_dataset(make_log()).trials
    assert trials[[*OF_ROUNDS, "player", "rival_kind"]].isna().all().all()
    assert (trials["n_players"] == 1).all()


def test_ghost_is_loaded_with_what_it_did(tmp_path):
    blocks = [{"label": "one", "n_trials": 40, "p_direct": 0.5}]
    by_itself = on_card(lambda s, t, _n: keys_for(s, GRAB_KEYS, t + 0.4))
    play(study_of(blocks=blocks), tmp_path, by_itself)
    ghost = study_of(blocks=blocks, company__rival={"kind": "ghost"})
    path = play(ghost, tmp_path, right, session=2)
    trials = played_in(path)
    assert (trials["rival_kind"] == "ghost").all()
    assert trials["rival_rt_s"].tolist() == [pytest.approx(0.4)] * 40
    assert trials["took_card"].all()


@pytest.mark.parametrize("after_s", [0.1, 1.5])
def test_hat_moves_by_the_answer_of_whoever_wins_the_card(tmp_path, after_s):
    fast = {"median_rt_s": {"direct": 0.5, "exclusion": 0.5}, "spread": 0.0, "error_rate": 0.0}
    path = play(study_of("spooky-doo", company__rival=fast), tmp_path, spooky_right(after_s))
    trials = played_in(path)
    assert trials["took_card"].all() == (after_s < 0.5)
    assert trials["rival_took_card"].all() == (after_s > 0.5)
    assert trials["hat_over"].nunique() > 1


def test_hat_moves_by_the_rivals_answer_where_the_participant_gives_none(tmp_path):
    fast = {"median_rt_s": {"direct": 0.5, "exclusion": 0.5}, "spread": 0.0, "error_rate": 0.0}
    trials = played_in(play(study_of("spooky-doo", company__rival=fast), tmp_path, never))
    assert (trials["error_kind"] == "late").all()
    assert trials["hat_over"].nunique() > 1


def test_hat_moves_by_the_answer_of_one_of_two(tmp_path):
    """The second player is always right, the first only where nothing is called."""
    grab, shout = (
        dict(zip(SPOOKY_GRAB_KEYS, "hjklz", strict=True)),
        dict(zip(SPOOKY_GRAB_KEYS, "yuiox", strict=True)),
    )
    study = study_of("spooky-doo", responses__more_players=[
        {"grab_keys": grab, "shout_keys": shout}
    ])  # fmt: skip
    script = on_card(lambda s, t, _n: [
        *keys_for(s, SPOOKY_GRAB_KEYS, t + 0.3),
        *keys_for(s, grab if s.solution.mode == "grab" else shout, t + 0.5),
    ])  # fmt: skip
    trials = played_in(play(study, tmp_path, script, others=("p2",)))
    first = trials["participant_id"] == "p1"
    assert trials.loc[first, "took_card"].tolist() == (trials.loc[first, "mode"] == "grab").tolist()
    assert trials["hat_over"].nunique() > 1


def test_hat_is_put_by_who_won_the_card_and_by_the_schedule_for_a_rival(tmp_path):
    """Rival and participant both win cards; only the participant has keys to choose with."""
    rival = {"median_rt_s": {"direct": 0.5, "exclusion": 0.1}, "spread": 0.0, "error_rate": 0.0}
    study = study_of("spooky-doo", game__hat_mover="participant", company__rival=rival)
    path = play(study, tmp_path, spooky_right(0.3))
    played_in(path)
    movers = {r["mover"] for r in records_of(path) if r["type"] == "hat" and r["mover"]}
    assert movers == {"participant", "schedule"}


def test_jackpot_is_won_with_the_card(tmp_path):
    script = on_card(lambda s, t, n: [] if n < FIRST + 3 else spooky_right(0.3)(_screen(s), t, n))
    trials = played_in(play(study_of("spooky-doo"), tmp_path, script))
    assert trials["round_outcome"].tolist()[:4] == ["nobody_answered"] * 3 + ["won"]
    assert trials["n_cards_won"].tolist()[:5] == [0, 0, 0, 4, 5]
    assert not trials["recycled"].any()


@dataclasses.dataclass
class _screen:  # noqa: N801 - stands for a screen
    stimulus: Any


# --- resumed sessions --------------------------------------------------------------------------


@pytest.mark.parametrize("last", [FIRST + 3, LAST, LAST + 1])
def test_resumed_session_goes_on_with_the_same_cards(tmp_path, last):
    """Stopped among the planned trials, after all of them, and among those that come again."""
    study = study_of()
    path = play(study, tmp_path, wrong_at(FIRST, FIRST + 1, FIRST + 2))
    cut_after(path, last)
    later = resume(study, path, right)
    trials = played_in(tmp_path)
    assert trials["n_cards_won"].iloc[-1] == N_TEST
    assert trials["recycled"].sum() == 3
    assert trials["resumed"].sum() == 1
    # Without the earlier run nobody's cards are known; rounds are compared by themselves.
    path.rename(tmp_path / "earlier.jsonl.kept")
    assert len(load_dataset(later).trials) == N_PRACTICE + N_TEST + 3 - last - 1


def test_resumed_two_players(tmp_path):
    study = for_two()
    path = play(study, tmp_path, both(0.3, 0.5, first_wrong_at=(FIRST,)), others=("p2",))
    cut_after(path, FIRST + 1)
    resume(study, path, both(0.6, 0.5))
    trials = played_in(tmp_path)
    assert trials.groupby("participant_id")["n_cards_won"].last().tolist() == [1, N_TEST - 1]


def test_round_of_a_resumed_session_that_the_earlier_run_denies_is_refused(
    tmp_path, edit_log: Edit
):
    study = study_of()
    path = play(study, tmp_path, right)
    cut_after(path, FIRST + 3)
    later = resume(study, path, right)
    number = number_of(later, FIRST + 4)
    edit_log(later, number, lambda r: r["round"]["n_won"].update(p1=1))
    with pytest.raises(DatasetError, match=r'round.n_won is stored as {"p1": 1}, but .* {"p1": 5}'):
        load_dataset(tmp_path)


def test_run_that_other_players_take_up_is_refused(tmp_path, edit_log: Edit):
    study = for_two()
    path = play(study, tmp_path, both(0.3, 0.5), others=("p2",))
    cut_after(path, FIRST + 3)
    later = resume(study, path, both(0.3, 0.5))
    text = later.read_text(encoding="utf-8")
    later.write_text(text.replace('"p2"', '"p3"').replace(" p2", " p3"), encoding="utf-8")
    with pytest.raises(DatasetError, match=r'\["p1", "p3"\], but .*run-01.jsonl.* \["p1", "p2"\]'):
        load_dataset(tmp_path)


# --- participants of several logs --------------------------------------------------------------


def test_participant_in_two_tables_in_one_session_is_refused(tmp_path):
    study = for_two()
    first = play(study, tmp_path, both(0.3, 0.5), others=("p2",))
    second = play(study, tmp_path, both(0.3, 0.5), participant="p3", others=("p2",))
    with pytest.raises(DatasetError, match="both hold session 1 of 'p2'") as caught:
        load_dataset(tmp_path)
    assert first.name in str(caught.value)
    assert second.name in str(caught.value)


def test_participant_may_play_with_others_in_another_session(tmp_path):
    study = for_two()
    play(study, tmp_path, both(0.3, 0.5), others=("p2",))
    play(study, tmp_path, both(0.4, 0.5), participant="p2", others=("p3",), session=2)
    trials = load_dataset(tmp_path).trials
    seats = trials.groupby(["participant_id", "session"])["player"].first().to_dict()
    assert seats == {("p1", 1): 1, ("p2", 1): 2, ("p2", 2): 1, ("p3", 2): 2}


def test_copy_of_a_log_is_named_as_before(two):
    shutil.copy(two, two.with_name("copy.jsonl"))
    with pytest.raises(DatasetError, match="one is a copy; take it away"):
        load_dataset(two.parent)


def test_log_of_another_version_is_compared_with_its_own_facts(alone, edit_log: Edit):
    edit_log(alone, 0, lambda header: header["software"].update(ghostblitz="0.0.1"))
    assert played_in(alone)["recycled"].sum() == 2
    number = number_of(alone, FIRST + 5)
    edit_log(alone, number, lambda record: record["round"].update(n_won={"p1": 7}))
    refuse(alone, rf"trial {FIRST + 5}: round.n_won is stored as " + re.escape('{"p1": 7}'))
