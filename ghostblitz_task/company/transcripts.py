"""Replay a whole game from a transcript in JSON Lines; ``docs/scoring.md`` describes the format."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ghostblitz_task.cards import Card
from ghostblitz_task.company.attempts import JudgedAttempts, TimedResponse, judge_attempts
from ghostblitz_task.company.engine import Round, RoundResult, draw_lot, play_round
from ghostblitz_task.company.rules import scoring_rules
from ghostblitz_task.company.standings import game_end, standings
from ghostblitz_task.company.table import DealtCard, Table, new_table
from ghostblitz_task.company.transcript_lines import (
    AttemptLine,
    HeaderLine,
    RoundLine,
    read_line,
)
from ghostblitz_task.errors import CardError, ConfigError
from ghostblitz_task.games import (
    Game,
    GameSettings,
    Outcome,
    Response,
    Solution,
    Stimulus,
    make_game,
    suggestion,
)

__all__ = ["replay"]


def replay(lines: Iterable[str]) -> Iterator[str]:
    """Score a game from its transcript.

    Parameters
    ----------
    lines : iterable of str
        The header, then one line for each round; blank lines are passed over.

    Yields
    ------
    str
        One line of JSON for each round, and a last one with the standings.

    Raises
    ------
    ConfigError
        Naming the line of the first fault; the rounds before it have been given.
    """
    game: _Replayed | None = None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            if game is None:
                game = _Replayed(read_line(line, HeaderLine))
            else:
                yield _dumped(game.play(read_line(line, RoundLine)))
        except (CardError, ConfigError) as error:
            raise ConfigError(f"line {number}: {error}") from error
    if game is None:
        raise ConfigError("line 1: the transcript is empty; it begins with a header")
    yield _dumped(game.final())


class _Replayed:
    """A game under way: the table, and where the hat is."""

    def __init__(self, header: HeaderLine) -> None:
        self.header = header
        self.game: Game = make_game(
            GameSettings(
                header.game,
                item_colours=header.item_colours,
                n_pictures=header.n_pictures,
                shout_item=header.shout_item,
                rules=frozenset(header.rules),
            )
        )
        self.rules = scoring_rules(self.game.name)
        for card in header.pile or ():
            self.game.parse(card)
        self.table = new_table(header.players, header.pile or ())
        self.state = self.game.initial_state()
        # A round after which the hat moved, to where nobody said yet.
        self.hat_moves_after: tuple[Stimulus, Outcome] | None = None
        self.times = _times_said(self.game)
        if header.pile is not None and not header.pile:
            raise ConfigError("pile is empty; leave it out where it is not known")
        if header.hat_over is not None:
            self._put_hat(header.hat_over)

    # --- a round -----------------------------------------------------------------------------

    def play(self, line: RoundLine) -> dict[str, Any]:
        """Score a round and return what is printed of it."""
        if self._ended():
            raise ConfigError(
                f"a round after the end of the game, which took {self.table.n_rounds} rounds"
            )
        self._settle_hat(line.hat_over)
        card = self.game.parse(line.card)
        stimulus = self.game.stimulus(card, self.state)
        table = self._with_next(line.card, self.table)
        judged = judge_attempts(
            [self._response(attempt) for attempt in line.attempts],
            stimulus,
            self.game,
            second_response_window_s=_limit(self.header.second_response_window_s),
            deadline_s=_limit(self.header.deadline_s),
        )
        round_ = Round(judged.attempts, self.header.resolution_s, self._lot(line))
        table, result = play_round(table, round_, self.rules)
        printed = self._printed(result, judged, table)
        self._advance(line.hat_to, stimulus, result)
        self.table = table
        return printed

    def _with_next(self, text: str, table: Table) -> Table:
        """Return the table with this card on top of the pile, where it must be if that is known."""
        same = [self._card_id(c.text) == self._card_id(text) for c in table.pile]
        if self.header.pile is not None:
            if not same[0]:
                raise ConfigError(
                    f"card is {text!r}, but the next card of the pile is {table.pile[0].text!r}"
                )
            return table
        # Of an unknown pile only what went back under it is known.
        if True in same:
            place = same.index(True)
            rest = table.pile[:place] + table.pile[place + 1 :]
            return dataclasses.replace(table, pile=(table.pile[place], *rest))
        return dataclasses.replace(table, pile=(DealtCard(text), *table.pile))

    def _card_id(self, text: str) -> str:
        return self.game.parse(text).card_id

    def _response(self, attempt: AttemptLine) -> TimedResponse:
        if attempt.player not in self.table.players:
            raise ConfigError(
                f"{attempt.player!r} is none of the players ({', '.join(self.table.players)})"
                + suggestion(attempt.player, self.table.players)
            )
        if attempt.mode not in self.game.modes:
            raise ConfigError(
                f"mode is {attempt.mode!r}, but in {self.game.name} one can only "
                f"{' or '.join(self.game.modes)}"
            )
        known = [*self.game.answers(attempt.mode)]
        if attempt.mode == "shout" and self.times:
            known += [*self.game.item_colours, *self.game.item_colours.values()]
        if attempt.answer not in known and not (
            attempt.mode == "shout" and attempt.answer in self.times
        ):
            raise ConfigError(
                f"answer is {attempt.answer!r}, which nobody can {attempt.mode} in "
                f"{self.game.name}; there are {', '.join(dict.fromkeys(known))}"
                + suggestion(attempt.answer, known)
            )
        return TimedResponse(attempt.player, attempt.t_s, Response(attempt.mode, attempt.answer))

    def _lot(self, line: RoundLine) -> tuple[str, ...]:
        if line.lot:
            if sorted(line.lot) != sorted(self.table.players):
                raise ConfigError(
                    f"lot is {', '.join(line.lot)}; name each player once "
                    f"({', '.join(self.table.players)})"
                )
            return line.lot
        if self.header.seed is None:
            return ()
        # A stream for each round: no round's lot depends on whether another was needed.
        sequence = np.random.SeedSequence(self.header.seed, spawn_key=(self.table.n_rounds,))
        return draw_lot(self.table.players, np.random.default_rng(sequence))

    # --- the hat -----------------------------------------------------------------------------

    def _settle_hat(self, hat_over: str | None) -> None:
        """Say where the hat is, now that this round's line is known."""
        if hat_over is not None and self.table.n_rounds == 0 and self.header.hat_over is None:
            self._put_hat(hat_over)
        if self.hat_moves_after is not None:
            stimulus, outcome = self.hat_moves_after
            if hat_over in self.game.hat_choices(stimulus, outcome):
                outcome = dataclasses.replace(outcome, hat_to=hat_over)
            self.state = self.game.advance(self.state, stimulus, outcome)
            self.hat_moves_after = None
        if hat_over is not None and hat_over != self.state.hat_over:
            where = f"it is over {self.state.hat_over}" if self.state.hat_over else "there is none"
            raise ConfigError(f"hat_over puts the hat over {hat_over!r}, but {where}")

    def _put_hat(self, item: str) -> None:
        if self.state.hat_over is None:
            raise ConfigError(f"hat_over is {item!r}, but {self.game.name} has no hat that hides")
        if item not in self.game.item_colours:
            raise ConfigError(
                f"hat_over is {item!r}, which is no item ({', '.join(self.game.item_colours)})"
                + suggestion(item, self.game.item_colours)
            )
        self.state = dataclasses.replace(self.state, hat_over=item)

    def _advance(self, hat_to: str | None, stimulus: Stimulus, result: RoundResult) -> None:
        by_player = {attempt.player: attempt for attempt in result.attempts}
        if result.winner is not None:
            outcome = Outcome(by_player[result.winner].response, True, hat_to)
        else:
            outcome = Outcome(None, False, hat_to)
        choices = self.game.hat_choices(stimulus, outcome)
        if hat_to is not None and hat_to not in choices:
            raise ConfigError(
                f"hat_to is {hat_to!r}, but the hat "
                + (f"goes over one of {', '.join(choices)}" if choices else "stays where it is")
            )
        if hat_to is None and choices:
            self.hat_moves_after = (stimulus, outcome)
        else:
            self.state = self.game.advance(self.state, stimulus, outcome)

    # --- what is printed ---------------------------------------------------------------------

    def _ended(self) -> bool:
        if self.header.pile is not None:
            return game_end(self.table, max_rounds=self.header.max_rounds) is not None
        return self.header.max_rounds is not None and self.table.n_rounds >= self.header.max_rounds

    def _printed(self, result: RoundResult, judged: JudgedAttempts, table: Table) -> dict[str, Any]:
        hat = {"hat_over": self.state.hat_over} if self.state.hat_over is not None else {}
        return {
            "round": result.round_index + 1,
            "card": result.card.text,
            "recycled": result.card.recycled,
            **hat,
            "outcome": result.outcome,
            "winner": result.winner,
            "tied": list(result.tied),
            "by_lot": result.by_lot,
            "errors": {a.player: a.error_kind for a in result.attempts},
            "gave": [p.player for p in result.penalties if p.card is not None],
            "ignored": [
                {"player": i.given.player, "t_s": i.given.t_s, "reason": i.reason}
                for i in judged.ignored
            ],
            "won": table.n_won,
            "jackpot": len(table.jackpot),
            "pile": len(table.pile) if self.header.pile is not None else None,
            "under_pile": [card.text for card in result.returned],
            "reason": result.reason,
        }

    def final(self) -> dict[str, Any]:
        """Return the last line: how the game stands where the transcript ends."""
        known = self.header.pile is not None
        capped = self._ended() and not (known and not self.table.pile)
        end = "capped" if capped else "pile_used_up" if self._ended() else "transcript_ends"
        ranked = standings(self.table)
        return {
            "end": end,
            "capped": capped,
            "rounds": self.table.n_rounds,
            "standings": [
                {"place": s.place, "player": s.player, "cards": s.n_cards} for s in ranked
            ],
            "winners": [s.player for s in ranked if s.place == 1],
            "jackpot_left": len(self.table.jackpot),
            "pile_left": len(self.table.pile) if known else None,
        }


def _times_said(game: Game) -> frozenset[str]:
    """Return every way to say every time of day, in a game that tells times; else nothing."""
    if not getattr(game, "times", ()):
        return frozenset()
    said: set[str] = set()
    for hour in range(1, 13):
        for minute in range(60):
            solution = Solution("time", "shout", f"{hour:02}:{minute:02}", "time", None)
            asked = Stimulus(Card(()), game.initial_state(), solution)
            said |= {response.answer for response in game.correct_responses(asked)}
    return frozenset(said)


def _limit(seconds: float | None) -> float:
    return math.inf if seconds is None else seconds


def _dumped(result: Mapping[str, Any]) -> str:
    return json.dumps(result, ensure_ascii=False)
