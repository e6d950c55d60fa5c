"""Sessions in which the cards are played for: alone, against a rival, and with several players."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from scripted_apparatus import ScriptedApparatus, tap
from small_study import (
    GRAB_KEYS,
    SHOUT_KEYS,
    SPOOKY_GRAB_KEYS,
    SPOOKY_SHOUT_KEYS,
    make_screens,
    make_settings,
)

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.rounds import RIVAL, RivalDescription, first_table, make_company, replay_rounds
from ghostblitz_task.scoring import chosen_hat_moves
from ghostblitz_task.screens import Screen, Words
from ghostblitz_task.studies import (
    Study,
    log_session,
    new_identity,
    open_study,
    resume_identity,
    simulate_study,
)
from ghostblitz_task.trial_log import RunLog, read_log

N_TEST = 12
SECOND_KEYS = {"ghost": "y", "chair": "u", "bottle": "i", "book": "o", "mouse": "l"}
THIRD_KEYS = {"ghost": "1", "chair": "2", "bottle": "3", "book": "4", "mouse": "5"}
SECOND_SHOUTS = {"ghost": "6", "chair": "7", "bottle": "8", "book": "9", "mouse": "0"}


def study_of(game: str = "classic", **overrides: Any) -> Study:
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    settings = make_settings(game, {"company": {}, **dotted})
    return Study(Path(), settings, settings.make_game(), make_screens(settings))


def several(n: int = 2) -> Study:
    more = [{"grab_keys": SECOND_KEYS}, {"grab_keys": THIRD_KEYS}][: n - 1]
    return study_of(responses__more_players=more)


def play(
    study: Study,
    folder: Path,
    script: Any,
    *,
    others: tuple[str, ...] = (),
    session: int = 1,
    participant: str = "p1",
) -> tuple[RunLog, ScriptedApparatus]:
    apparatus = ScriptedApparatus(script)
    logs = folder / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    identity = new_identity(
        logs,
        participant,
        session=session,
        seed=3,
        source="simulated",
        participant_model="scripted",
        others=others,
    )
    path, _ = log_session(
        study,
        logs,
        identity,
        open_apparatus=lambda: apparatus,
        apparatus_settings=ApparatusSettings(),
    )
    return read_log(path), apparatus


def on_card(answer: Any) -> Any:
    def script(screen: Screen, flip_s: float, n: int) -> list[DeviceEvent]:
        return answer(screen.stimulus, flip_s, n) if screen.stimulus else []

    return script


def answer_of(stimulus: Any) -> str:
    return str(stimulus.solution.answer)


def other_than(stimulus: Any) -> str:
    return next(i for i in GRAB_KEYS if i != answer_of(stimulus))


def scored_trials(run: RunLog) -> list[Mapping[str, Any]]:
    return [t for t in run.of_type("trial") if t["phase"] == "test"]


right = on_card(lambda s, flip_s, _n: tap(GRAB_KEYS[answer_of(s)], flip_s + 0.3))
never = on_card(lambda _s, _flip_s, _n: [])


def wrong_then_right(n_wrong: int) -> Any:
    """Wrong at the first test trials, then right."""
    return on_card(
        lambda s, flip_s, n: tap(
            GRAB_KEYS[other_than(s) if 4 <= n < 4 + n_wrong else answer_of(s)], flip_s + 0.3
        )
    )


# --- alone --------------------------------------------------------------------------------------


def test_without_company_nothing_is_said_of_cards(tmp_path: Path) -> None:
    settings = make_settings()
    study = Study(Path(), settings, settings.make_game(), make_screens(settings))
    run, _ = play(study, tmp_path, right)
    assert run.header["company"] is None
    assert all("round" not in t and "recycled" not in t for t in run.of_type("trial"))


def test_alone_each_right_answer_in_time_takes_its_card(tmp_path: Path) -> None:
    run, _ = play(study_of(), tmp_path, right)
    rounds = [t["round"] for t in scored_trials(run)]
    assert [r["n_won"]["p1"] for r in rounds] == list(range(1, N_TEST + 1))
    assert {r["outcome"] for r in rounds} == {"won"}
    assert rounds[-1]["n_pile"] == 0
    assert not any(t["recycled"] for t in run.of_type("trial"))


def test_practice_is_not_played_for(tmp_path: Path) -> None:
    run, _ = play(study_of(), tmp_path, right)
    practice = [t for t in run.of_type("trial") if t["phase"] == "practice"]
    assert practice
    assert all(t["round"] is None for t in practice)


def test_missed_card_comes_again_after_all_others_and_is_marked(tmp_path: Path) -> None:
    run, _ = play(study_of(), tmp_path, wrong_then_right(1))
    trials = scored_trials(run)
    assert len(trials) == N_TEST + 1
    again = trials[-1]
    assert again["recycled"]
    assert not any(t["recycled"] for t in trials[:-1])
    assert again["card"] == trials[0]["card"]
    assert again["trial_index"] == 4 + N_TEST
    assert again["block_index"] == 3
    assert list(run.of_type("block"))[-1]["label"] == "recycled"
    assert again["round"]["n_won"]["p1"] == N_TEST
    assert run.status == "completed"


def test_given_up_card_comes_again_too(tmp_path: Path) -> None:
    """Right, then wrong: the won card goes under the pile with the one turned over."""
    script = on_card(
        lambda s, flip_s, n: tap(GRAB_KEYS[other_than(s) if n == 5 else answer_of(s)], flip_s + 0.3)
    )
    run, _ = play(study_of(), tmp_path, script)
    trials = scored_trials(run)
    assert trials[1]["round"]["recycled"] == [trials[1]["card"], trials[0]["card"]]
    assert trials[1]["round"]["n_won"]["p1"] == 0
    assert [t["card"] for t in trials[N_TEST:]] == [trials[1]["card"], trials[0]["card"]]


def test_recycled_trials_are_capped(tmp_path: Path) -> None:
    run, _ = play(study_of(company__max_recycled=5), tmp_path, never)
    trials = scored_trials(run)
    assert len(trials) == N_TEST + 5
    assert sum(t["recycled"] for t in trials) == 5
    assert run.status == "completed"


def test_jackpot_games_recycle_nothing(tmp_path: Path) -> None:
    run, _ = play(study_of("spooky-doo"), tmp_path, never)
    trials = scored_trials(run)
    assert len(trials) == N_TEST
    assert [t["round"]["n_jackpot"] for t in trials] == list(range(1, N_TEST + 1))


def test_feedback_says_whose_the_card_is_and_how_many(tmp_path: Path) -> None:
    _, apparatus = play(study_of(), tmp_path, wrong_then_right(1))
    said = [
        [e.text for e in s.elements if isinstance(e, Words)]
        for s in apparatus.screens
        if s.name == "feedback-round"
    ]
    assert said[0][0] == "Wrong: no card"
    assert "0" in said[0]
    assert said[1][0] == "You take the card"
    assert "12" in said[-1]


def test_feedback_is_drawn_from_what_was_prepared(tmp_path: Path) -> None:
    _, apparatus = play(study_of(), tmp_path, right)
    prepared = [s for s in apparatus.prepared if s.name == "feedback-round"]
    shown = [s for s in apparatus.screens if s.name == "feedback-round"]
    assert shown == prepared


# --- a rival ------------------------------------------------------------------------------------

MODEL = {"median_rt_s": {"direct": 0.5, "exclusion": 0.6}, "spread": 0.0, "error_rate": 0.0}


@pytest.mark.parametrize(("after_s", "winner"), [(0.3, "p1"), (0.9, RIVAL)])
def test_faster_of_participant_and_rival_takes_the_card(
    tmp_path: Path, after_s: float, winner: str
) -> None:
    script = on_card(lambda s, flip_s, _n: tap(GRAB_KEYS[answer_of(s)], flip_s + after_s))
    run, _ = play(study_of(company__rival=MODEL), tmp_path, script)
    assert {t["round"]["winner"] for t in scored_trials(run)} == {winner}
    # The participant's own RT is never cut short by the rival.
    assert all(t["rt_s"] == pytest.approx(after_s) for t in run.of_type("trial"))
    assert all(t["correct"] for t in run.of_type("trial"))


def test_rivals_attempts_come_from_the_seed_and_are_logged(tmp_path: Path) -> None:
    study = study_of(company__rival=MODEL | {"spread": 0.4})
    first, _ = play(study, tmp_path / "a", right)
    again, _ = play(study, tmp_path / "b", never)
    planned = [[t["rival"] for t in scored_trials(run)][:N_TEST] for run in (first, again)]
    assert planned[0] == planned[1]
    assert all(len(attempts) == 1 and attempts[0]["t_s"] > 0 for attempts in planned[0])
    assert len({attempts[0]["t_s"] for attempts in planned[0]}) == N_TEST


def test_rival_moves_the_hat_where_it_is_right_first(tmp_path: Path) -> None:
    rival = {"median_rt_s": {"direct": 0.2, "exclusion": 0.2}, "spread": 0.0, "error_rate": 0.0}
    run, _ = play(study_of("spooky-doo", company__rival=rival), tmp_path, never)
    moved = [r for r in run.of_type("hat") if r["mover"]]
    due = [t for t in run.of_type("trial") if t["target"] in ("hat", t["hat_over"])]
    assert len(moved) == len(due) > 0


@pytest.mark.parametrize(
    ("medians", "message"),
    [
        ("direct = 0.5", r"study\.toml: company\.rival\.median_rt_s: there is none for exclusion"),
        ("direct = 0.5, exclusion = 1, time = 2", r"median_rt_s: it has one for time, but"),
        ("direct = 0.5, exclusoin = 1", r"'exclusoin' is no rule; did you mean exclusion"),
    ],
)
def test_rival_has_rts_for_exactly_the_rules_of_the_cards(
    tmp_path: Path, medians: str, message: str
) -> None:
    example = Path(__file__).parents[2] / "experiments" / "classic-grab" / "study.toml"
    text = f"\n[company.rival]\nmedian_rt_s = {{ {medians} }}\n"
    (tmp_path / "study.toml").write_text(example.read_text(encoding="utf-8") + text)
    with pytest.raises(ConfigError, match=message):
        open_study(tmp_path)


def test_ghost_plays_ones_own_earlier_trials(tmp_path: Path) -> None:
    many = [{"label": "one", "n_trials": 40, "p_direct": 0.5}]
    alone = study_of(blocks=many)
    play(alone, tmp_path, on_card(lambda s, t, _n: tap(GRAB_KEYS[answer_of(s)], t + 0.4)))
    ghost = study_of(blocks=many, company__rival={"kind": "ghost"})
    run, _ = play(ghost, tmp_path, right, session=2)
    assert run.header["company"]["rival"]["kind"] == "ghost"
    assert run.header["company"]["rival"]["n_trials_by_rule"] == {"direct": 20, "exclusion": 20}
    attempts = [t["rival"][0]["t_s"] for t in scored_trials(run)]
    assert attempts == [pytest.approx(0.4)] * len(attempts)
    assert {t["round"]["winner"] for t in scored_trials(run)} == {"p1"}


def test_ghost_without_earlier_sessions_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    with pytest.raises(ConfigError, match=r"a ghost needs 10 earlier test trials of the rule"):
        play(study_of(company__rival={"kind": "ghost"}), tmp_path, right)
    assert list((tmp_path / "logs").glob("*.jsonl")) == []


@pytest.mark.parametrize(
    ("rival", "message"),
    [
        ({"kind": "model"}, "median_rt_s is given exactly when"),
        ({"kind": "ghost", "median_rt_s": {"direct": 1.0}}, "median_rt_s is given exactly when"),
        ({"median_rt_s": {"direct": 0.0}}, "greater than 0"),
        ({"median_rt_s": {"direct": 1.0}, "error_rate": 2.0}, "less than or equal to 1"),
    ],
)
def test_rival_settings_are_checked(rival: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        study_of(company__rival=rival)


# --- several at one machine ---------------------------------------------------------------------


def both(first_s: float, second_s: float) -> Any:
    return on_card(
        lambda s, flip_s, _n: [
            *tap(GRAB_KEYS[answer_of(s)], flip_s + first_s),
            *tap(SECOND_KEYS[answer_of(s)], flip_s + second_s),
        ]
    )


@pytest.mark.parametrize(
    ("first_s", "second_s", "winner"), [(0.3, 0.5, "p1"), (0.7, 0.5, "p2"), (0.301, 0.3, "p2")]
)
def test_one_card_has_one_winner_and_everyones_rt_is_logged(
    tmp_path: Path, first_s: float, second_s: float, winner: str
) -> None:
    run, _ = play(several(), tmp_path, both(first_s, second_s), others=("p2",))
    for trial in run.of_type("trial"):
        rts = [player["rt_s"] for player in trial["players"]]
        assert rts == [pytest.approx(first_s), pytest.approx(second_s)]
        assert all(player["correct"] for player in trial["players"])
    assert {t["round"]["winner"] for t in scored_trials(run)} == {winner}
    assert scored_trials(run)[-1]["round"]["n_won"][winner] == N_TEST


def test_header_names_everybody_and_rival(tmp_path: Path) -> None:
    run, _ = play(several(), tmp_path, both(0.3, 0.5), others=("p2",))
    assert run.header["company"]["players"] == ["p1", "p2"]
    assert run.header["others"] == ["p2"]


def test_events_say_whose_key_it_was(tmp_path: Path) -> None:
    run, _ = play(several(), tmp_path, both(0.3, 0.5), others=("p2",))
    for trial in run.of_type("trial"):
        seats = {e["key"]: e["player"] for e in trial["events"] if e["mode"]}
        assert all(seat == (0 if key in GRAB_KEYS.values() else 1) for key, seat in seats.items())
        assert set(seats.values()) == {0, 1}


def test_card_stays_until_all_have_answered_or_the_deadline(tmp_path: Path) -> None:
    run, _ = play(several(), tmp_path, both(0.3, 1.2), others=("p2",))
    assert all(t["offset_s"] - t["onset_s"] >= 1.2 for t in run.of_type("trial"))
    one = on_card(lambda s, flip_s, _n: tap(GRAB_KEYS[answer_of(s)], flip_s + 0.3))
    run, _ = play(several(), tmp_path / "one", one, others=("p2",))
    for trial in run.of_type("trial"):
        assert trial["offset_s"] - trial["onset_s"] == pytest.approx(2.0, abs=1 / 60)
        assert trial["players"][1]["error_kind"] == "late"


def test_wrong_player_gives_a_card_to_the_right_one(tmp_path: Path) -> None:
    script = on_card(
        lambda s, flip_s, n: [
            *tap(GRAB_KEYS[answer_of(s) if n < 6 else other_than(s)], flip_s + 0.3),
            *tap(SECOND_KEYS[answer_of(s)], flip_s + 0.5),
        ]
    )
    run, _ = play(several(), tmp_path, script, others=("p2",))
    won = [t["round"]["n_won"] for t in scored_trials(run)]
    assert won[:4] == [
        {"p1": 1, "p2": 0},
        {"p1": 2, "p2": 0},
        {"p1": 1, "p2": 2},
        {"p1": 0, "p2": 4},
    ]
    assert won[4] == {"p1": 0, "p2": 5}


def test_times_within_the_devices_resolution_are_a_tie(tmp_path: Path) -> None:
    def coarse(events: list[DeviceEvent]) -> list[DeviceEvent]:
        return [DeviceEvent(e.t_s, e.device, e.kind, e.key, e.code, 0.01) for e in events]

    script = on_card(
        lambda s, flip_s, _n: coarse(
            [
                *tap(GRAB_KEYS[answer_of(s)], flip_s + 0.305),
                *tap(SECOND_KEYS[answer_of(s)], flip_s + 0.300),
            ]
        )
    )
    run, _ = play(several(), tmp_path, script, others=("p2",))
    for trial in scored_trials(run):
        assert trial["round"]["tied"] == ["p2", "p1"]
        assert trial["round"]["winner"] == "p2"
        assert not trial["round"]["by_lot"]


def test_equal_times_are_decided_by_a_lot_from_the_seed(tmp_path: Path) -> None:
    run, _ = play(several(), tmp_path, both(0.3, 0.3), others=("p2",))
    rounds = [(t["round"], t["lot"]) for t in scored_trials(run)]
    assert all(r["by_lot"] and r["winner"] == lot[0] for r, lot in rounds)
    assert {r["winner"] for r, _ in rounds} == {"p1", "p2"}


def test_both_modes_of_the_first_voids_the_round_in_grab_or_shout(tmp_path: Path) -> None:
    study = study_of(
        "grab-or-shout",
        responses__more_players=[{"grab_keys": SECOND_KEYS, "shout_keys": SECOND_SHOUTS}],
        company__max_recycled=0,
    )

    def script(stimulus: Any, flip_s: float, _n: int) -> list[DeviceEvent]:
        item, shouts = answer_of(stimulus), stimulus.solution.mode == "shout"
        second = (SECOND_SHOUTS if shouts else SECOND_KEYS)[item]
        return [
            *tap(GRAB_KEYS[item], flip_s + 0.3),
            *tap(SHOUT_KEYS[item], flip_s + 0.4),
            *tap(second, flip_s + 0.6),
        ]

    run, _ = play(study, tmp_path, on_card(script), others=("p2",))
    for trial in scored_trials(run):
        first, second = trial["players"]
        assert (first["error_kind"], second["correct"]) == ("both_modes", True)
        assert trial["round"]["outcome"] == "voided"
        assert trial["round"]["voided_by"] == "p1"


def test_three_players_and_three_ids(tmp_path: Path) -> None:
    run, _ = play(several(3), tmp_path, both(0.3, 0.5), others=("p2", "p3"))
    assert all(len(t["players"]) == 3 for t in run.of_type("trial"))
    assert set(scored_trials(run)[-1]["round"]["n_won"]) == {"p1", "p2", "p3"}


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ((), r"is for 2 at one machine, but 1 are named"),
        (("p2", "p3"), r"is for 2 at one machine, but 3 are named"),
        (("P1",), r"have the same participant id"),
        (("a/b",), r"cannot be used"),
    ],
)
def test_as_many_are_named_as_have_keys(
    tmp_path: Path, others: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        play(several(), tmp_path, right, others=others)


def test_several_players_need_company_and_keys_of_their_own() -> None:
    more = [{"grab_keys": SECOND_KEYS}]
    with pytest.raises(ConfigError, match="several players play for cards; add company"):
        make_settings("classic", {"responses.more_players": more})
    with pytest.raises(ConfigError, match="key 'a' would mean two things"):
        study_of(responses__more_players=[{"grab_keys": GRAB_KEYS}])
    keys = {i: k for i, k in SECOND_KEYS.items() if i != "mouse"}
    with pytest.raises(ConfigError, match=r"more_players.0.grab_keys: 'mouse' is missing"):
        study_of(responses__more_players=[{"grab_keys": keys}])


# --- again from the log -------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["classic", "spooky-doo"])
def test_every_round_follows_from_the_facts_of_the_log(tmp_path: Path, game: str) -> None:
    study = study_of(game, company__rival=MODEL | {"spread": 0.5, "error_rate": 0.3})
    (path,) = simulate_study(study, tmp_path, n_participants=1, seed=5, model="ex-gaussian")
    run = read_log(path)
    plan = study.plan(run.header["seed"])
    # A rival of whom nothing is known but what it did.
    company = make_company(
        study.settings,
        tuple(run.header["company"]["players"]),
        rival_description=RivalDescription("model"),
    )
    assert company is not None
    replayed = replay_rounds(
        run.of_type("trial"),
        study.game,
        plan.table,
        company,
        first_table(company, plan),
        hat_moves=chosen_hat_moves(run.records),
    )
    for round_ in replayed:
        if round_.record["phase"] == "test":
            assert round_.played.round_json() == round_.record["round"]
        assert round_.record["hat_over"] == round_.stimulus.state.hat_over


@pytest.mark.slow
@pytest.mark.parametrize("n_kept", [6, N_TEST + 4, N_TEST + 6])
def test_resumed_session_goes_on_with_the_same_cards_in_hand(tmp_path: Path, n_kept: int) -> None:
    study = study_of()
    script = wrong_then_right(4)
    whole, _ = play(study, tmp_path / "whole", script)
    n_all = len(list(whole.of_type("trial")))
    assert n_all == 4 + N_TEST + 4
    cut = tmp_path / "cut" / "logs"
    cut.mkdir(parents=True)
    lines = whole.path.read_bytes().splitlines(keepends=True)
    last = [i for i, line in enumerate(lines) if b'"type": "trial"' in line][n_kept - 1]
    (cut / whole.path.name).write_bytes(b"".join(lines[: last + 1]))
    path, outcome = log_session(
        study,
        cut,
        resume_identity(study, read_log(cut / whole.path.name)),
        open_apparatus=lambda: ScriptedApparatus(right),
        apparatus_settings=ApparatusSettings(),
    )
    trials = list(read_log(path).of_type("trial"))
    assert outcome.n_trials == trials[-1]["trial_index"] + 1
    assert trials[0]["trial_index"] == n_kept
    assert trials[-1]["round"]["n_won"]["p1"] == N_TEST
    assert trials[-1]["round"]["n_pile"] == 0


def test_simulated_players_sit_at_every_set_of_keys(tmp_path: Path) -> None:
    paths = simulate_study(several(3), tmp_path, n_participants=2, seed=1, model="ex-gaussian")
    run = read_log(paths[0])
    assert run.header["company"]["players"] == ["sim-00001", "sim-00001-2", "sim-00001-3"]
    rts = [[p["rt_s"] for p in t["players"]] for t in run.of_type("trial")]
    answered = [[rt for rt in row if rt is not None] for row in rts]
    assert all(len(set(row)) == len(row) for row in answered)
    assert sum(map(len, answered)) > 2 * len(rts)


def test_keys_of_spooky_doo_are_whole() -> None:
    assert set(SPOOKY_GRAB_KEYS) == set(SPOOKY_SHOUT_KEYS)
