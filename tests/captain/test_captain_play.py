"""Whole games: what simulated players show is what they were made to show."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from ghostblitz_task.captain import events as ev
from ghostblitz_task.captain.play import GameRecord, play_game
from ghostblitz_task.captain.players import PLAYER_MODELS, RememberingPlayer, Sighting, make_player
from ghostblitz_task.captain.settings import CaptainSettings
from ghostblitz_task.captain.table import Action, CaptainTable, DeckView
from ghostblitz_task.captain.turns import Spot
from ghostblitz_task.errors import ConfigError

STATIC = CaptainSettings(mode="static")
MOVING = CaptainSettings()


def games(settings: CaptainSettings, model: str, n_games: int) -> list[GameRecord]:
    players = [make_player(model)] * settings.n_players
    return [play_game(settings, players, seed=seed) for seed in range(n_games)]


@pytest.mark.slow
@pytest.mark.parametrize("settings", [STATIC, replace(STATIC, returns_to="place"), MOVING])
def test_perfect_memory_always_picks_what_is_known(settings: CaptainSettings) -> None:
    scores = [score for game in games(settings, "perfect", 12) for score in game.scores]
    hits = [score.hit_given_known for score in scores if score.hit_given_known is not None]
    assert len(hits) > 40
    assert all(hits)


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "n_games"), [(STATIC, 150), (MOVING, 20)])
def test_guessing_hits_at_the_chance_level_computed_for_each_turn(
    settings: CaptainSettings, n_games: int
) -> None:
    scores = [score for game in games(settings, "guessing", n_games) for score in game.scores]
    for name, p_name in (("hit", "p_chance"), ("hit_given_known", "p_chance_known")):
        scored = [s for s in scores if getattr(s, name) is not None]
        hits = sum(getattr(s, name) for s in scored)
        p = np.array([getattr(s, p_name) for s in scored])
        # The sum of Bernoulli draws, each with its own p; picks are drawn independently.
        sd = math.sqrt(float((p * (1 - p)).sum()))
        assert sd > 5
        assert abs(hits - p.sum()) < 3.5 * sd, (name, hits, p.sum(), sd)


@pytest.mark.slow
def test_forgetting_hits_less_the_longer_ago_and_the_farther_it_moved() -> None:
    player = RememberingPlayer(p_encode=1.0, turns=3.0)
    scores = [s for seed in range(60) for s in play_game(STATIC, [player], seed=seed).scores]
    known = [s for s in scores if len(s.known) == 1]
    soon = [s.hit_given_known for s in known if s.lag_turns == 1]
    late = [s.hit_given_known for s in known if s.lag_turns is not None and s.lag_turns > 5]
    assert all(soon)
    assert np.mean([bool(hit) for hit in late]) < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("model", PLAYER_MODELS)
@pytest.mark.parametrize("mode", ["static", "moving"])
def test_in_every_game_all_droppings_are_accounted_for(mode: str, model: str) -> None:
    settings = replace(MOVING, mode=mode, railed_corners=("top_left",), n_players=2)  # type: ignore[arg-type]
    for game in games(settings, model, 5):
        assert game.n_kept + game.n_fallen + game.n_on_deck + game.n_held == 12
        if game.status in ("won", "lost"):
            assert game.n_on_deck + game.n_held == 0
            assert (game.status == "won") == (game.n_kept >= game.n_fallen)
        assert [t.player_index for t in game.turns] == [t.turn_index % 2 for t in game.turns]
        assert all(t.outcome != "censored" for t in game.turns[:-1])


@pytest.mark.slow
def test_the_same_seed_gives_the_same_game_and_another_another() -> None:
    player = [make_player("forgetting")]
    first, again, other = (play_game(MOVING, player, seed=seed) for seed in (7, 7, 8))
    assert first == again
    assert json.dumps(first.history) == json.dumps(again.history)
    assert first.turns != other.turns


def test_a_static_die_shows_colours_that_are_on_deck_and_nothing_falls() -> None:
    for game in games(STATIC, "guessing", 10):
        assert game.status == "won"
        assert game.n_fallen == 0
        for turn in game.turns:
            colours = {game.colours[spot.dropping_id] for spot in turn.on_deck}
            assert turn.cue_at_start in colours
            assert turn.cue_changes == ()
            assert all(spot.path == 0 for spot in turn.on_deck)


def test_in_a_static_game_a_wrong_one_goes_to_the_middle_or_its_place_as_set() -> None:
    for turn in play_game(STATIC, [make_player("guessing")], seed=1).turns:
        if turn.returned_to is not None:
            assert math.hypot(turn.returned_to.x, turn.returned_to.y) < 0.35
    in_place = replace(STATIC, returns_to="place")
    for turn in play_game(in_place, [make_player("guessing")], seed=1).turns:
        if turn.returned_to is not None:
            assert turn.returned_to in turn.on_deck


@pytest.mark.slow
@pytest.mark.parametrize("rate_hz", [60.0, 75.0, 144.0])
@pytest.mark.parametrize("settings", [STATIC, MOVING])
def test_the_actions_of_a_game_give_it_again_at_any_refresh_rate(
    settings: CaptainSettings, rate_hz: float
) -> None:
    record = play_game(settings, [make_player("forgetting")], seed=3)
    (rng,) = np.random.default_rng(3).spawn(1)
    table = CaptainTable(settings, rng=rng)
    actions = list(record.actions)
    turns, history, frame = [], [], 0
    while not table.is_over:
        frame += 1
        happened: list[object] = []
        while actions and actions[0].t_s <= frame / rate_hz:
            due = actions.pop(0)
            happened.extend(table.act(due.action, t_s=due.t_s))
        happened.extend(table.advance_to(frame / rate_hz))
        table.view()
        turns.extend(each.turn for each in happened if isinstance(each, ev.TurnOver))
    history.append(table.take_history())
    assert tuple(turns) == record.turns
    assert table.state.status == record.status
    assert table.now_s == record.ended_s
    whole = [event for chunk in record.history for event in chunk["events"]]
    assert history[0]["events"] == whole


def test_an_action_told_late_keeps_its_own_time() -> None:
    table = CaptainTable(STATIC, rng=np.random.default_rng(1))
    table.advance_to(2.0)
    table.act(Action("pick", dropping_id=0), t_s=1.99)
    assert table.now_s == 2.0
    assert table.state.turn is not None
    assert table.state.turn.lifted_s == 1.99


def test_what_time_brings_takes_effect_at_its_own_time() -> None:
    table = CaptainTable(replace(STATIC, look_s=1.0, passing_s=0.25), rng=np.random.default_rng(1))
    for action, t_s in (("pick", 1.0), ("look", 2.0)):
        table.act(Action(action, dropping_id=0), t_s=t_s)  # type: ignore[arg-type]
    table.act(Action("name", colour="red"), t_s=2.5)
    happened = table.advance_to(10.0)
    (over,) = [each for each in happened if isinstance(each, ev.TurnOver)]
    assert over.turn.resolved_s == 3.0
    assert table.state.turn is not None
    assert table.state.turn.began_s == 3.25


def test_the_time_limit_ends_the_game_at_its_time() -> None:
    settings = replace(STATIC, time_limit_s=5.0)
    game = play_game(settings, [make_player("guessing")], seed=1)
    assert (game.status, game.ended_s) == ("capped", 5.0)
    assert game.turns[-1].outcome == "censored"


def test_a_refused_action_changes_nothing_on_deck() -> None:
    table = CaptainTable(MOVING, rng=np.random.default_rng(1))
    table.advance_to(0.5)
    before = table.deck.spots(), table.deck.die()
    (refused,) = table.act(Action("look"), t_s=0.5)
    assert isinstance(refused, ev.Refused)
    assert (table.deck.spots(), table.deck.die()) == before
    assert table.take_history()["events"][-1][1:] == ["refused", "look:not_now"]


class _Watched(RememberingPlayer):
    """Remembers what it was shown and what it chose."""

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "seen", [])

    def plan(self, view: DeckView, sightings: Sequence[Sighting], *, rng: np.random.Generator):  # type: ignore[no-untyped-def]
        planned = super().plan(view, sightings, rng=rng)
        self.seen.append((view, tuple(sightings), planned))  # type: ignore[attr-defined]
        return planned


@pytest.mark.slow
@pytest.mark.parametrize("settings", [STATIC, MOVING])
def test_players_cannot_peek_under_the_droppings(
    settings: CaptainSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With other colours under the droppings, all is the same until the first of them is seen."""

    def first_turn(turned_round: bool) -> list[object]:
        player = _Watched()
        with monkeypatch.context() as patch:
            if turned_round:
                deal = "ghostblitz_task.captain.table.deal"
                patch.setattr(deal, lambda settings, rng: dealt[::-1])
            play_game(settings, [player], seed=11)
        seen: list[object] = player.seen  # type: ignore[attr-defined]
        return seen[: next(k for k, (view, *_) in enumerate(seen) if view.shown_colour)]  # type: ignore[misc,str-unpack]

    dealt = play_game(settings, [make_player("perfect")], seed=11).colours
    assert dealt != dealt[::-1]
    as_dealt = first_turn(turned_round=False)
    assert len(as_dealt) >= 2  # a pick and a look at least
    assert as_dealt == first_turn(turned_round=True)


def test_a_player_is_shown_no_colour_but_the_die_the_one_looked_at_and_those_kept() -> None:
    table = CaptainTable(STATIC, rng=np.random.default_rng(2))
    table.act(Action("pick", dropping_id=4), t_s=1.0)
    assert table.view().shown_colour is None
    table.act(Action("look"), t_s=2.0)
    assert table.view().shown_colour == table.state.colours[4]
    table.act(Action("name", colour="red"), t_s=2.5)
    table.advance_to(5.0)
    view = table.view()
    assert view.shown_colour is None
    assert view.held_id is None
    assert len(view.kept_colours) == table.state.count("kept")


def view_of(phase: str, spots: tuple[Spot, ...], cue: str = "red", **more: object) -> DeckView:
    die = ev.DieSpot(0.0, 0.0, cue)
    given = {"t_s": 9.0, "turn_index": 5, "player_index": 0, "die": die, "eye": None}
    given |= {"held_id": None, "shown_colour": None, "kept_colours": (), "n_fallen": 0}
    return DeckView(phase=phase, spots=spots, **{**given, **more})  # type: ignore[arg-type]


def test_a_player_who_remembers_a_wrong_one_picks_another() -> None:
    spots = (Spot(0, 0.1, 0.0, 0.0), Spot(1, 0.2, 0.0, 0.0))
    seen, rng = [Sighting(1, 0, "blue", spots[0])], np.random.default_rng(1)
    for _ in range(20):
        planned = RememberingPlayer().plan(view_of("waiting", spots), seen, rng=rng)
        assert planned is not None
        assert planned.action == Action("pick", dropping_id=1)
        assert planned.latency_s > 0


def test_a_player_claims_the_last_dropping_if_its_colour_is_remembered() -> None:
    spot = Spot(0, 0.1, 0.0, 0.0)
    seen, rng = [Sighting(1, 0, "blue", spot)], np.random.default_rng(1)
    claim = RememberingPlayer().plan(view_of("waiting", (spot,)), seen, rng=rng)
    pick = RememberingPlayer().plan(view_of("waiting", (spot,)), [], rng=rng)
    assert claim is not None
    assert pick is not None
    assert claim.action == Action("claim", colour="blue")
    assert pick.action == Action("pick", dropping_id=0)


def test_memory_decays_with_distance_as_stated() -> None:
    moved, still = Spot(0, 0.1, 0.0, 1.0), Spot(1, 0.2, 0.0, 0.0)
    seen = [Sighting(4, 0, "red", replace(moved, path=0.0))]
    player, rng = RememberingPlayer(distance=2.0), np.random.default_rng(1)
    view = view_of("waiting", (moved, still))
    picks = [player.plan(view, seen, rng=rng) for _ in range(4000)]
    n_hits = sum(p is not None and p.action.dropping_id == 0 for p in picks)
    p_remember = math.exp(-0.5)  # else one of the two is picked at random
    p = p_remember + (1 - p_remember) / 2
    assert abs(n_hits - 4000 * p) < 4 * math.sqrt(4000 * p * (1 - p))


@pytest.mark.parametrize(("p_misname", "n"), [(0.0, 0), (1.0, 50)])
def test_a_colour_is_misnamed_as_often_as_set(p_misname: float, n: int) -> None:
    player, rng = RememberingPlayer(p_misname=p_misname), np.random.default_rng(1)
    view = view_of("looked", (), shown_colour="green", held_id=0)
    named = [player.plan(view, [], rng=rng) for _ in range(50)]
    assert sum(p is not None and p.action.colour != "green" for p in named) == n


def test_a_die_is_nudged_for_the_reasons_that_can_be_seen() -> None:
    player, rng = RememberingPlayer(), np.random.default_rng(1)

    def nudges(**die: object) -> bool:
        kept = die.pop("kept", ())
        lying = replace(ev.DieSpot(0.0, 0.0, "red"), **die)  # type: ignore[arg-type]
        view = view_of("waiting", (), die=lying, kept_colours=kept)
        return player.plan_nudge(view, n_per_colour=3, rng=rng) is not None

    assert not nudges()
    assert nudges(near_open_corner=True)
    assert nudges(stuck=True)
    assert not nudges(stuck=True, rolling=True)
    assert nudges(kept=("red",) * 3)
    assert not nudges(kept=("red",) * 2)


def test_an_unknown_model_and_a_missing_player_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"no model of a captain's player; .*did you mean perfect"
    ):
        make_player("perfekt")
    with pytest.raises(ConfigError, match="n_players is 2, but 1 players came"):
        play_game(replace(STATIC, n_players=2), [make_player("perfect")], seed=1)
    with pytest.raises(ConfigError, match="seed -1 is negative"):
        play_game(STATIC, [make_player("perfect")], seed=-1)
