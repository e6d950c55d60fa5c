"""One game with the captain's deck: its frames, what responses do in it, and its records.

Physics and rules run in the table on the game's clock, which begins with the game's first flip; a
frame shows the deck as it was at the flip before it. Each response counts at the time of its event:
the deck is advanced to that time first, so that no refresh rate and no dropped frame changes what a
response meets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.captain import events as ev
from ghostblitz_task.captain.reading import DONE, NOTHING_THERE, Done, read_wish
from ghostblitz_task.captain.screens import CaptainScreens, CaptainView
from ghostblitz_task.captain.settings import CaptainSettings
from ghostblitz_task.captain.study_settings import CaptainStudySettings, GameBlock
from ghostblitz_task.captain.table import CaptainTable, Happened
from ghostblitz_task.captain.turn_records import TurnFacts, derive
from ghostblitz_task.captain.turns import Turn
from ghostblitz_task.errors import ApparatusError
from ghostblitz_task.marking import BLOCK_END, BLOCK_START, action_mark, change_mark, cue_mark
from ghostblitz_task.presenting import DROPPED, Presenter, QuitRequested, Recorder
from ghostblitz_task.scoring import TrialEvent
from ghostblitz_task.screen_elements import Element, Screen, Words
from ghostblitz_task.seeds import rng_for

__all__ = ["INTERRUPTED", "Game", "SessionParts", "game_rng"]

#: Outcome of a game that the quit key or a failure ended.
INTERRUPTED = "interrupted"

# How long the screen says why an action was refused.
_REFUSAL_S = 2.0


def game_rng(seed: int, block_index: int) -> np.random.Generator:
    """Return the generator of a block's game: its colours, layout, Eye and die."""
    return rng_for(seed, "table", block_index)


@dataclass(frozen=True, slots=True)
class SessionParts:
    """What the games of a session share.

    Attributes
    ----------
    settings, screens
        The study and what it shows.
    apparatus, presenter
        Where it runs, and what shows the frames there.
    log : Recorder
        Takes the records.
    players : tuple of str
        Ids of those who play, in the order in which the tongs go round.
    """

    settings: CaptainStudySettings
    screens: CaptainScreens
    apparatus: Apparatus
    presenter: Presenter
    log: Recorder
    players: tuple[str, ...]


@dataclass(slots=True)
class _Shown:
    """What the screen has shown of the turn under way."""

    turn_index: int = -1
    cue_onset_s: float | None = None
    change_onsets_s: list[float] = field(default_factory=list)
    colour_onset_s: float | None = None
    frames_s: list[float] = field(default_factory=list)


class Game:
    """One game, from its first flip to its record."""

    def __init__(self, parts: SessionParts, seed: int, index: int, block: GameBlock) -> None:
        self.parts = parts
        self.presenter = parts.presenter
        self.screens = parts.screens
        self.board = parts.screens.board
        self.index, self.block = index, block
        self.settings: CaptainSettings = parts.settings.game_of(block)
        self.table = CaptainTable(self.settings, rng=game_rng(seed, index))
        self.turns: list[TurnFacts] = []
        self.actions: list[Done] = []
        self.labels: dict[int, str] = {}
        self.pause_wanted = False
        self.is_begun = False
        self.zero_s = 0.0
        self._n_read = 0
        self._shown = _Shown()
        self._refusal: tuple[str, float] | None = None
        self._still: tuple[Element, ...] = self.screens.still(self.settings)
        self._lines: dict[str, Words] = {}
        self._kept_screen: tuple[Any, Screen] | None = None

    # --- frames ------------------------------------------------------------------------------

    def play(self) -> None:
        """Show frames until the game is over, and write its records."""
        self.parts.apparatus.prepare([self.screens.everything(self.settings)])
        self._log_block()
        # What stands before the first turn is not seen: the first flip shows the turn begun.
        self._take(self.table.advance_until(0.0))
        first = True
        try:
            while not self.table.is_over:
                self._frame(first=first)
                first = False
        except (QuitRequested, ApparatusError):
            self._interrupt()
            raise
        self._write_game(self.table.state.status)

    def _frame(self, *, first: bool) -> None:
        """Show the deck as it is, then let it go on to the time of the flip."""
        screen, turn = self._screen(), self.table.state.turn
        phase, before_s = self.table.state.phase, self.presenter.flip_s
        try:
            self.presenter.present(screen, marks=[] if turn is None else self._marks_due(turn))
        finally:
            flip_s = self.presenter.flip_s
            if flip_s > before_s:
                self.zero_s = flip_s if first else self.zero_s
                if turn is not None:
                    self._note_onsets(turn, phase, flip_s, flip_s - before_s)
        self._read_events()
        self._take(self.table.advance_to(flip_s - self.zero_s))

    def _marks_due(self, turn: Turn) -> list[tuple[str, str]]:
        """Return the markers of what the next flip is the first to show of the turn's die."""
        shown, index, n_changes = self._shown, turn.turn_index, len(turn.cue_changes)
        is_new = shown.turn_index != index or shown.cue_onset_s is None
        n_seen = 0 if shown.turn_index != index else len(shown.change_onsets_s)
        changes = [change_mark(index, change) for change in range(n_seen, n_changes)]
        return [cue_mark(index), *changes] if is_new else changes

    def _note_onsets(self, turn: Turn, phase: str, flip_s: float, frame_s: float) -> None:
        shown = self._shown
        if shown.turn_index != turn.turn_index:
            shown = self._shown = _Shown(turn.turn_index)
        if shown.cue_onset_s is None:
            shown.cue_onset_s = flip_s
        elif turn.lifted_s is None:
            shown.frames_s.append(frame_s)
        while len(shown.change_onsets_s) < len(turn.cue_changes):
            shown.change_onsets_s.append(flip_s)
        if phase == "looked" and shown.colour_onset_s is None:
            shown.colour_onset_s = flip_s

    def _screen(self) -> Screen:
        """Return the frame for the table as it is; the same one as long as nothing changes."""
        view, labels = self.table.view(), self.labels
        line = self._line(view.phase, len(view.spots))
        still = self.settings.mode == "static"
        key = (self.table.state, line, len(labels)) if still else None
        if still and self._kept_screen is not None and self._kept_screen[0] == key:
            return self._kept_screen[1]
        elements = [words for words in (line, self._whose_turn(view.player_index)) if words]
        screen = Screen(
            "game",
            (*self._still, *elements),
            patch="card" if view.phase == "waiting" else "off",
            sprites=tuple(self.screens.props.sprites(view, labels)),
            view=CaptainView(view, dict(labels)),
        )
        self._kept_screen = (key, screen)
        return screen

    def _line(self, phase: str, n_on_deck: int) -> Words | None:
        if self._refusal is not None and self.table.now_s < self._refusal[1]:
            text = self._refusal[0]
        else:
            text = self.screens.prompt(phase, n_on_deck=n_on_deck)
            if phase == "looked" and self._named():
                text = ""
        if not text:
            return None
        if text not in self._lines:
            self._lines[text] = self.screens.line(text)
        return self._lines[text]

    def _named(self) -> bool:
        turn = self.table.state.turn
        return turn is not None and turn.named is not None

    def _whose_turn(self, player_index: int) -> Words | None:
        key = f"player {player_index}"
        if key not in self._lines:
            words = self.screens.whose_turn(player_index, self.settings.n_players)
            if words is None:
                return None
            self._lines[key] = words
        return self._lines[key]

    # --- events ------------------------------------------------------------------------------

    def _read_events(self) -> None:
        """Do what each new event asks for, at its own time."""
        new = self.presenter.events[self._n_read :]
        for event in new:
            if self.table.is_over:
                return
            self._read(event)

    def _read(self, event: TrialEvent) -> None:
        if event.kind == "press" and event.key == self.parts.settings.responses.pause_key:
            self.pause_wanted = True
        t_s = event.t_s - self.zero_s
        if t_s >= 0:
            # A turn that ends before the event leaves it to the next record.
            self._take(self.table.advance_to(t_s))
        self._n_read += 1
        if t_s < 0:
            return  # It came before the game did.
        wish = read_wish(event, self.table, board=self.board, labels=self.labels)
        if wish is None or self.table.is_over:
            return
        if wish.action is None:
            self._act(event, wish.wanted, None, None, NOTHING_THERE)
            return
        happened = self.table.act(wish.action, t_s=t_s)
        refused = next((h for h in happened if isinstance(h, ev.Refused)), None)
        result = DONE if refused is None else refused.refusal.code
        dropping_id = wish.action.dropping_id if wish.action.kind == "pick" else None
        self._act(event, wish.wanted, dropping_id, wish.action.colour or None, result)
        self._take(happened)

    def _act(
        self, event: TrialEvent, action: str, dropping_id: int | None, colour: str | None,
        result: str,
    ) -> None:  # fmt: skip
        self.actions.append(
            Done(event.t_s, action, dropping_id, colour, event.device, event.resolution_s, result)
        )
        # The turn whose record the action will stand in.
        self.presenter.marking.send(*action_mark(action, len(self.turns)), event.t_s)
        text = getattr(self.screens.texts.captain.refusals, result, None)
        if text is not None:
            self._refusal = (text, self.table.now_s + _REFUSAL_S)

    def _take(self, happened: Sequence[Happened]) -> None:
        for each in happened:
            if isinstance(each, ev.TurnBegan):
                self._refusal = None
                self._give_labels()
            elif isinstance(each, ev.TurnOver):
                self._write_turn(each.turn)

    def _give_labels(self) -> None:
        """Give each dropping on deck a key in reading order, which says nothing of its identity."""
        responses = self.parts.settings.responses
        if responses.pick != "keys":
            return
        # Rows are as high as a dropping, so that those side by side are read from the left.
        spots = sorted(self.table.deck.spots(), key=lambda s: (-round(s.y / 0.09), s.x))
        keys = zip(spots, responses.pick_keys, strict=False)
        self.labels = {spot.dropping_id: key for spot, key in keys}

    # --- records -----------------------------------------------------------------------------

    def _log_block(self) -> None:
        self.is_begun = True
        self.presenter.marking.send_border(BLOCK_START, self.index)
        self.parts.log.append(
            "block",
            {
                "block_index": self.index,
                "label": self.block.label,
                "phase": self.block.phase,
                "mode": self.settings.mode,
                "colours": list(self.table.state.colours),
                "deck": dict(self.table.deck.describe()),
                "t_s": self.presenter.flip_s,
                **self.presenter.marking.take(),
            },
        )

    def _take_events(self) -> list[dict[str, Any]]:
        """Return the events that were read and that no record has taken yet."""
        taken, rest = self.presenter.events[: self._n_read], self.presenter.events[self._n_read :]
        self.presenter.events, self._n_read = rest, 0
        return [event.to_json() for event in taken]

    def _write_turn(self, turn: Turn) -> None:
        shown = self._shown if self._shown.turn_index == turn.turn_index else _Shown()
        onsets = [*shown.change_onsets_s, *[None] * len(turn.cue_changes)][: len(turn.cue_changes)]
        facts = TurnFacts(
            turn=turn,
            game_onset_s=self.zero_s,
            cue_onset_s=shown.cue_onset_s,
            change_onsets_s=tuple(onsets),
            colour_onset_s=shown.colour_onset_s,
            actions=tuple(action.to_json() for action in self.actions),
        )
        self.actions = []
        self.turns.append(facts)
        frame_s = self.presenter.frame_s
        self.parts.log.append(
            "turn",
            {
                "block_index": self.index,
                "phase": self.block.phase,
                "turn_index": turn.turn_index,
                "player_id": self.parts.players[turn.player_index],
                **facts.to_json(),
                "n_dropped_frames": sum(f > DROPPED * frame_s for f in shown.frames_s),
                "longest_frame_s": max(shown.frames_s, default=None),
                "derived": derive(self.turns, self.table.state.colours)[-1],
                "history": self.table.take_history(),
                "events": self._take_events(),
                **self.presenter.marking.take(),
            },
        )

    def _interrupt(self) -> None:
        """Close a game that ends before its end: the open turn is censored."""
        if self.table.is_over:  # The wish to quit came in the game's last frame.
            self._write_game(self.table.state.status)
            return
        self._read_events()
        if self.table.is_over:
            self._write_game(self.table.state.status)
            return
        turn = self.table.state.turn
        if turn is not None:
            self._write_turn(replace(turn, outcome="censored"))
        self._write_game(INTERRUPTED)

    def _write_game(self, outcome: str) -> None:
        state = self.table.state
        self._n_read = len(self.presenter.events)
        if outcome != INTERRUPTED:
            self.presenter.marking.send_border(BLOCK_END, self.index)
        self.parts.log.append(
            "game",
            {
                "block_index": self.index,
                "outcome": outcome,
                "game_onset_s": self.zero_s,
                "ended_s": self.table.now_s,
                "n_turns": len(self.turns),
                "n_censored": sum(facts.turn.outcome == "censored" for facts in self.turns),
                "n_kept": state.count("kept"),
                "n_fallen": state.count("galley"),
                "n_on_deck": state.count("deck"),
                "n_held": state.count("tongs"),
                "history": self.table.take_history(),
                "actions": [action.to_json() for action in self.actions],
                "events": self._take_events(),
                **self.presenter.marking.take(),
            },
        )
        self.actions = []
