"""The session's loop on a virtual clock: what each response does, at exact times."""

from __future__ import annotations

import pytest
from captain_games import COLOUR_KEYS, Do, Played, make_settings, play

from ghostblitz_task.captain.deck import SAMPLE_HZ, STEP_HZ
from ghostblitz_task.captain.history import decode_history
from ghostblitz_task.captain.screens import CaptainView
from ghostblitz_task.captain.settings import COLOURS

FRAME_S = 1 / 60


def colours_of(seed: int = 1, **captain: object) -> list[str]:
    """The colours under the droppings of a game of this seed; they don't depend on what is done."""
    settings = make_settings(max_turns=1, **captain)
    return play(settings, [Do(0.5, "pick", 0), Do(1.0, "look")], seed=seed).colours


def one_of(colours: list[str], colour: str, *, other: bool = False) -> int:
    return next(i for i, c in enumerate(colours) if (c == colour) != other)


def cue_colour(view: CaptainView) -> str:
    assert view.deck.die is not None
    return view.deck.die.colour


def picks_the_cue(colours: list[str], *, wrongly: bool = False):
    """The first dropping on deck that has the cue's colour, or another one."""

    def which(view: CaptainView) -> int:
        on_deck = [s.dropping_id for s in view.deck.spots]
        return next(i for i in on_deck if (colours[i] == cue_colour(view)) != wrongly)

    return which


def turn_actions(start_s: float, colours: list[str], *, wrongly: bool = False) -> list[Do]:
    """A turn of exactly 2.5 s: pick after 0.5 s, look after 1 s; shown until 2 s."""
    return [
        Do(start_s + 0.5, "pick", picks_the_cue(colours, wrongly=wrongly)),
        Do(start_s + 1.0, "look"),
    ]


# --- one turn -----------------------------------------------------------------------------------


def test_right_pick_is_kept_and_timed_from_the_flips_that_showed_it():
    colours = colours_of()
    seen: dict[str, str] = {}

    def name(view: CaptainView) -> str:
        assert view.deck.shown_colour is not None
        seen["colour"] = view.deck.shown_colour
        return COLOUR_KEYS[view.deck.shown_colour]

    played = play(make_settings(max_turns=1), [*turn_actions(0.0, colours), Do(1.4, "key", name)])
    (turn,) = played.turns
    zero_s, facts, derived = turn["game_onset_s"], turn["facts"], turn["derived"]
    assert facts["began_s"] == 0.0
    assert turn["cue_onset_s"] == zero_s  # The first flip shows the first turn begun.
    assert facts["lifted_s"] == pytest.approx(0.5)
    assert facts["looked_s"] == pytest.approx(1.0)
    assert derived["pick_rt_s"] == pytest.approx(0.5)
    assert derived["hold_s"] == pytest.approx(0.5)
    # The look takes effect at its own time; the flip at 1.0 s shows the deck as it was before, and
    # the one after it is the first that shows the colour.
    assert turn["colour_onset_s"] == pytest.approx(zero_s + 1.0 + FRAME_S)
    assert derived["naming_rt_s"] == pytest.approx(0.4 - FRAME_S)
    assert facts["outcome"] == "kept"
    assert facts["named"] == facts["colour"] == seen["colour"] == facts["cue_at_look"]
    assert facts["resolved_s"] == pytest.approx(2.0)  # look_s, no less and no more
    assert derived["hit"] is derived["correct"] is True
    assert derived["misnamed"] is False


def test_times_do_not_fall_on_frames():
    colours = colours_of()
    which = picks_the_cue(colours)
    played = play(make_settings(max_turns=1), [Do(0.50321, "pick", which), Do(1.00777, "look")])
    (turn,) = played.turns
    assert turn["facts"]["lifted_s"] == pytest.approx(0.50321)
    assert turn["facts"]["looked_s"] == pytest.approx(1.00777)


def test_wrong_pick_goes_back_to_the_middle_and_is_known_in_the_next_turn():
    colours = colours_of()
    played = play(
        make_settings(max_turns=2),
        # Nobody names the colour, so that the turn waits for naming_s after the look.
        [*turn_actions(0.0, colours, wrongly=True), *turn_actions(3.5, colours, wrongly=True)],
    )
    first, second = played.turns
    assert first["facts"]["outcome"] == "returned"
    assert first["facts"]["named"] is None
    assert first["facts"]["resolved_s"] == pytest.approx(3.0)
    back = first["facts"]["returned_to"]
    assert abs(back["x"]) < 0.25
    assert abs(back["y"]) < 0.25
    assert second["facts"]["began_s"] == pytest.approx(3.5)
    is_cue = first["facts"]["colour"] == second["facts"]["cue_at_pick"]
    assert second["derived"]["is_known"] is is_cue
    assert second["derived"]["n_unseen"] == 11
    assert played.games[0]["outcome"] == "capped"


def test_wrong_name_is_logged_and_changes_nothing():
    colours = colours_of()

    def wrong(view: CaptainView) -> str:
        return COLOUR_KEYS[next(c for c in COLOURS if c != view.deck.shown_colour)]

    played = play(make_settings(max_turns=1), [*turn_actions(0, colours), Do(1.2, "key", wrong)])
    (turn,) = played.turns
    assert turn["derived"]["misnamed"] is True
    assert turn["facts"]["outcome"] == "kept"


def test_second_word_does_not_count():
    colours = colours_of()
    keys = [Do(1.2, "key", "d"), Do(1.3, "key", "f")]
    played = play(make_settings(max_turns=1), [*turn_actions(0, colours), *keys])
    (turn,) = played.turns
    assert turn["facts"]["named"] == "red"
    assert [a["result"] for a in turn["actions"]] == ["done", "done", "done", "named_already"]
    assert turn["derived"]["n_refused"] == 1


def test_click_on_nothing_is_logged_as_such_and_picks_nothing():
    colours = colours_of()
    settings = make_settings(max_turns=1)
    played = play(settings, [Do(0.2, "click", (11.0, -6.0)), *turn_actions(0, colours)])
    (turn,) = played.turns
    first, *others = turn["actions"]
    assert (first["action"], first["result"]) == ("pick", "nothing_there")
    assert first["dropping_id"] is None
    assert [a["result"] for a in others] == ["done", "done"]
    assert turn["derived"]["n_picks_of_nothing"] == 1
    assert turn["derived"]["pick_rt_s"] == pytest.approx(0.5)
    assert sum(e["kind"] == "press" and e["device"] == "pointer" for e in turn["events"]) == 2


def test_click_just_outside_a_dropping_takes_the_nearest_one():
    settings = make_settings(max_turns=1)
    deck_deg = settings.display.deck_deg

    def beside(view: CaptainView) -> tuple[float, float]:
        spot = max(view.deck.spots, key=lambda s: s.x)  # nothing lies to the right of it
        return ((spot.x + 0.06) * deck_deg, spot.y * deck_deg)

    def too_far(view: CaptainView) -> tuple[float, float]:
        spot = max(view.deck.spots, key=lambda s: s.x)
        return ((spot.x + 0.07) * deck_deg, spot.y * deck_deg)

    looks = [Do(1.0, "look")]
    near = play(settings, [Do(0.5, "click", beside), *looks])
    assert near.turns[0]["facts"]["lifted_s"] == pytest.approx(0.5)
    far = play(settings, [Do(0.5, "click", too_far), Do(0.6, "click", beside), *looks])
    assert far.turns[0]["facts"]["lifted_s"] == pytest.approx(0.6)


def test_second_click_looks_wherever_it_is():
    colours = colours_of()
    which = picks_the_cue(colours)
    actions = [Do(0.5, "pick", which), Do(0.9, "click", (12.0, 0.0))]
    (turn,) = play(make_settings(max_turns=1), actions).turns
    assert turn["facts"]["looked_s"] == pytest.approx(0.9)


def test_claim_of_one_among_many_is_refused_and_said_in_words():
    colours = colours_of()
    played = play(make_settings(max_turns=1), [Do(0.2, "key", "d"), *turn_actions(0, colours)])
    (turn,) = played.turns
    assert turn["actions"][0]["result"] == "not_the_last"
    (refusal,) = turn["facts"]["refusals"]
    assert refusal["code"] == "not_the_last"
    said = {w.text for s in played.apparatus.screens for w in s.elements if hasattr(w, "text")}
    assert "Take a dropping first: only the very last may be named at once." in said


def test_nudge_is_refused_without_the_eye():
    colours = colours_of()
    played = play(make_settings(max_turns=1), [Do(0.2, "key", "n"), *turn_actions(0, colours)])
    assert played.turns[0]["actions"][0]["result"] == "static"


# --- the last dropping --------------------------------------------------------------------------


@pytest.mark.parametrize("right", [True, False])
def test_last_dropping_is_claimed_by_its_colour_without_the_die(right):
    captain = {"n_per_colour": 1}
    colours = colours_of(**captain)
    script: list[Do] = []
    for start_s in (0.0, 3.5, 7.0):  # naming_s after each look, then passing_s
        script += turn_actions(start_s, colours)

    def claim(view: CaptainView) -> str:
        (spot,) = view.deck.spots
        colour = colours[spot.dropping_id]
        return COLOUR_KEYS[colour if right else next(c for c in COLOURS if c != colour)]

    played = play(make_settings(**captain), [*script, Do(10.9, "key", claim)])
    *_, last = played.turns
    assert last["facts"]["claimed"] is not None
    assert last["facts"]["outcome"] == ("kept" if right else "lost")
    assert last["derived"]["hit"] is None  # No cue asked for it.
    (game,) = played.games
    assert (game["n_kept"], game["n_fallen"]) == ((4, 0) if right else (3, 1))
    assert game["outcome"] == "won"


# --- how a game ends ----------------------------------------------------------------------------


def test_quit_in_a_turn_censors_it_and_keeps_all_that_was_done():
    colours = colours_of()
    played = play(
        make_settings(), [*turn_actions(0, colours), Do(4.0, "pick", picks_the_cue(colours)),
                          Do(4.5, "key", "escape")]
    )  # fmt: skip
    assert played.outcome is not None
    assert played.outcome.status == "quit"
    first, second = played.turns
    assert first["facts"]["outcome"] == "kept"
    assert second["facts"]["outcome"] == "censored"
    assert second["derived"]["censored"] is True
    assert second["facts"]["lifted_s"] == pytest.approx(4.0)
    assert [e["key"] for e in second["events"]][-1] == "escape"
    (game,) = played.games
    assert (game["outcome"], game["n_censored"], game["n_held"]) == ("interrupted", 1, 1)
    (end,) = played.log.of_type("end")
    assert (end["status"], end["reason"]) == ("quit", "quit key")


def test_stop_signal_ends_as_the_quit_key_does():
    asked = []

    def stop() -> str | None:
        asked.append(1)
        return "SIGTERM" if len(asked) > 600 else None

    played = play(make_settings(), [], stop_requested=stop)
    assert played.log.of_type("end")[0]["reason"] == "SIGTERM"
    assert played.games[0]["outcome"] == "interrupted"


def test_screen_that_fails_leaves_a_closed_game_and_says_so():
    played = play(make_settings(), [], fails_at_s=1.0)
    assert played.outcome is None
    assert played.games[0]["outcome"] == "interrupted"
    assert played.log.of_type("end")[0]["status"] == "failed"


def test_time_limit_caps_the_game_and_censors_the_open_turn():
    played = play(make_settings(time_limit_s=2.0), [])
    (game,) = played.games
    assert (game["outcome"], game["n_turns"], game["n_censored"]) == ("capped", 1, 1)
    assert game["ended_s"] == pytest.approx(2.0)


def test_events_stand_in_one_record_each_and_none_is_lost():
    colours = colours_of()
    played = play(
        make_settings(max_turns=2), [*turn_actions(0, colours), *turn_actions(3.5, colours)]
    )
    events = [e for r in played.log.records for e in r.get("events", ())]
    pointer = [e for e in events if e["device"] == "pointer"]
    assert len(pointer) == 4
    assert len({(e["t_s"], e["kind"], e["key"]) for e in events}) == len(events)


def test_between_games_there_is_a_page_and_a_pause_where_one_was_asked_for():
    colours = colours_of()
    settings = make_settings({"blocks": [{"label": "a"}, {"label": "b"}]}, max_turns=1)
    game = [Do(0.2, "key", "p"), *turn_actions(0, colours)]
    played = play(settings, game, turn_actions(0, colours))
    names = [r["name"] for r in played.log.of_type("screen") if not r["name"].startswith("key-")]
    names = [name for name in names if not name.startswith("instructions")]
    assert names == ["block-a", "over-1", "pause", "block-b", "over-2", "end"]
    assert played.apparatus.n_between == 2


@pytest.mark.slow
def test_everything_is_prepared_before_it_is_shown():
    colours = colours_of()
    played = play(make_settings(max_turns=2), [Do(0.1, "key", "n"), *turn_actions(0, colours)])
    elements = {e for s in played.apparatus.prepared for e in s.elements}
    drawings = {s.drawing for p in played.apparatus.prepared for s in p.sprites}
    for screen in played.apparatus.screens:
        assert set(screen.elements) <= elements
        assert {sprite.drawing for sprite in screen.sprites} <= drawings


# --- several players ----------------------------------------------------------------------------


@pytest.mark.parametrize("n_players", [2, 3, 4])
def test_tongs_go_round_and_the_screen_says_to_whom(n_players):
    players = [f"P{i}" for i in range(n_players)]
    captain = {"n_players": n_players, "max_turns": 5}
    colours = colours_of()
    script = [do for i in range(5) for do in turn_actions(3.5 * i, colours, wrongly=True)]
    played = play(make_settings(**captain), script, players=players)
    assert [t["player_id"] for t in played.turns] == [players[i % n_players] for i in range(5)]
    shown = [w.text for s in played.apparatus.screens for w in s.elements if hasattr(w, "text")]
    for i in range(n_players):
        assert f"Player {i + 1}, it is your turn." in shown


# --- labels -------------------------------------------------------------------------------------


def test_labels_come_in_reading_order_and_anew_each_turn():
    colour_keys = dict(zip(COLOURS, "1234", strict=True))
    keys_only = {"responses.pick": "keys", "responses.colour_keys": colour_keys}
    settings = make_settings(keys_only, max_turns=3)
    keys = settings.responses.pick_keys
    script = [do for i in range(3) for do in (Do(3.5 * i + 0.5, "key", "q"),
                                              Do(3.5 * i + 1.0, "look"))]  # fmt: skip
    played = play(settings, script)
    picked = [turn["facts"]["dropping_id"] for turn in played.turns]
    for turn, dropping_id in zip(played.turns, picked, strict=True):
        top = max(turn["facts"]["on_deck"], key=lambda s: (round(s["y"] / 0.09), -s["x"]))
        assert dropping_id == top["dropping_id"]
        assert turn["derived"]["pick_device"] == "pick_keys"
    views = [s.view for s in played.apparatus.screens if isinstance(s.view, CaptainView)]
    assert set(views[0].labels.values()) == set(keys[:12])


# --- with the Eye -------------------------------------------------------------------------------


def moving(seed: int, hz: float, **captain: object) -> Played:
    settings = make_settings(mode="moving", railed_corners=[], **captain)
    script = []
    for i in range(12):
        start_s = 3.5 * i + 0.71
        script += [Do(start_s, "pick", lambda view: min(s.dropping_id for s in view.deck.spots)),
                   Do(start_s + 0.93, "look"), Do(start_s + 1.31, "key", "d")]  # fmt: skip
    return play(settings, script, seed=seed, refresh_hz=hz)


def outcomes(played: Played) -> list[tuple[object, ...]]:
    return [
        (t["facts"]["dropping_id"], t["facts"]["colour"], t["facts"]["outcome"],
         t["facts"]["cue_at_pick"], t["facts"]["cue_at_look"],
         [c["colour"] for c in t["facts"]["cue_changes"]],
         [f["dropping_id"] for f in t["facts"]["falls"]],
         [round(s["path"], 9) for s in t["facts"]["on_deck"]])
        for t in played.turns
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("hz", [75.0, 144.0])
def test_refresh_rate_changes_no_turn(hz):
    captain = {"time_limit_s": 30.0}
    at_60, other = moving(4, 60.0, **captain), moving(4, hz, **captain)
    assert len(at_60.turns) >= 5
    assert outcomes(at_60) == outcomes(other)
    assert [g["outcome"] for g in at_60.games] == [g["outcome"] for g in other.games]


@pytest.mark.slow
def test_cue_that_changes_while_the_dropping_is_held_is_the_one_that_counts():
    # Pick as soon as the first turn begins, and look only after the die has turned.
    settings = make_settings(mode="moving", railed_corners=[], max_turns=1, time_limit_s=120.0)
    for seed in range(30):
        played = play(settings, [Do(0.1, "pick", 0), Do(60.0, "look")], seed=seed)
        (turn,) = played.turns
        facts = turn["facts"]
        if facts["outcome"] == "censored" or not facts["cue_changes"]:
            continue
        shown = [c for c in facts["cue_changes"] if c["t_s"] <= facts["looked_s"]]
        assert facts["cue_at_look"] == shown[-1]["colour"]
        if facts["cue_at_look"] != facts["cue_at_pick"]:
            assert turn["derived"]["cue_changed_while_held"] is True
            assert turn["derived"]["correct"] is (facts["colour"] == facts["cue_at_look"])
            assert len(turn["change_onsets_s"]) == len(facts["cue_changes"])
            for onset_s, change in zip(turn["change_onsets_s"], facts["cue_changes"], strict=True):
                if onset_s is not None:
                    late_s = onset_s - turn["game_onset_s"] - change["t_s"]
                    assert 0 <= late_s <= 2 * FRAME_S + 1e-9
            return
    pytest.fail("no seed gave a change of the cue")


@pytest.mark.slow
def test_die_that_falls_loses_the_game_and_censors_the_turn():
    settings = make_settings(mode="moving", railed_corners=[], time_limit_s=600.0,
                             eye_speed_per_s=1.0)  # fmt: skip
    for seed in range(20):
        played = play(settings, [], seed=seed)
        (game,) = played.games
        if game["outcome"] == "die_fell":
            assert played.turns[-1]["facts"]["outcome"] == "censored"
            assert game["n_censored"] == 1
            (over,) = [r for r in played.log.of_type("screen") if r["name"] == "over-1"]
            assert over["onset_s"] > game["game_onset_s"] + game["ended_s"]
            return
    pytest.fail("no seed let the die fall")


@pytest.mark.slow
def test_nudge_is_done_where_the_rules_allow_it_and_refused_where_not():
    settings = make_settings(mode="moving", railed_corners=[], time_limit_s=60.0,
                             eye_speed_per_s=1.0)  # fmt: skip
    script = [Do(0.5 * i, "key", "n") for i in range(1, 110)]
    results: dict[str, int] = {}
    for seed in range(6):
        for turn in play(settings, script, seed=seed).turns:
            for action in turn["actions"]:
                results[action["result"]] = results.get(action["result"], 0) + 1
            assert turn["derived"]["n_nudges"] == sum(
                a["result"] == "done" for a in turn["actions"]
            )
    assert results["no_reason_to"] > 0
    assert results["done"] > 0


def test_history_of_a_turn_is_complete():
    played = moving(4, 60.0, time_limit_s=20.0)
    chunks = [t["history"] for t in played.turns] + [played.games[0]["history"]]
    steps = [s for c in chunks for s in decode_history(c, n_droppings=12).steps.tolist()]
    assert steps == list(range(0, steps[-1] + 1, STEP_HZ // SAMPLE_HZ))
    assert steps[-1] / STEP_HZ == pytest.approx(20.0, abs=0.06)
