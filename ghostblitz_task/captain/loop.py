"""A session of games with the captain's deck: the same loop for a person and for a simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.captain.game import Game, SessionParts
from ghostblitz_task.captain.reading import captain_key_meanings
from ghostblitz_task.captain.screens import CaptainScreens
from ghostblitz_task.captain.study_settings import CaptainStudySettings
from ghostblitz_task.errors import ApparatusError
from ghostblitz_task.event_meanings import EventReader
from ghostblitz_task.presenting import Presenter, QuitRequested, Recorder
from ghostblitz_task.screen_elements import Screen
from ghostblitz_task.session import SessionOutcome

__all__ = ["run_captain_session"]


def run_captain_session(
    settings: CaptainStudySettings,
    *,
    screens: CaptainScreens,
    apparatus: Apparatus,
    log: Recorder,
    header: Mapping[str, Any],
    seed: int,
    players: Sequence[str],
    first_game: int = 0,
    stop_requested: Callable[[], str | None] = lambda: None,
    on_game: Callable[[int, int], None] = lambda _done, _planned: None,
) -> SessionOutcome:
    """Play the games of one session and log everything that happens in them.

    Parameters
    ----------
    settings, screens
        The study and what it shows.
    apparatus : Apparatus
        Where it runs.
    log : Recorder
        A new, empty log.
    header : mapping
        Its header record.
    seed : int
        Of the session; each game draws from a generator of its own.
    players : sequence of str
        Ids of those who play, in the order in which the tongs go round.
    first_game : int
        The games before it were begun in earlier runs.
    stop_requested : callable
        Asked at each frame; a reason ends the session as the quit key does.
    on_game : callable
        Called between games with the number of games done and planned.

    Returns
    -------
    SessionOutcome
        How the run ended; its `n_trials` are the turns of this run.

    Raises
    ------
    LogError
        If a record cannot be written; all earlier ones are kept.
    ApparatusError
        If screen or keyboard fails; the log says so.
    """
    session = _Session(settings, screens, apparatus, log, players, stop_requested, on_game)
    log.append("header", header)
    try:
        return session.run(seed, first_game)
    except ApparatusError as error:
        session.end("failed", str(error))
        raise


class _Session:
    """One run: self-paced screens and games."""

    def __init__(
        self,
        settings: CaptainStudySettings,
        screens: CaptainScreens,
        apparatus: Apparatus,
        log: Recorder,
        players: Sequence[str],
        stop_requested: Callable[[], str | None],
        on_game: Callable[[int, int], None],
    ) -> None:
        self.settings = settings
        self.screens = screens
        self.log = log
        self.on_game = on_game
        self.games: list[Game] = []
        self.presenter = Presenter(
            apparatus,
            log,
            EventReader(captain_key_meanings(settings)),
            quit_key=settings.responses.quit_key,
            key_name=screens.key_name,
            stop_requested=stop_requested,
            first=Screen("blank"),
        )
        self.parts = SessionParts(settings, screens, apparatus, self.presenter, log, tuple(players))

    @property
    def n_turns(self) -> int:
        """The turns of this run."""
        return sum(len(game.turns) for game in self.games)

    def run(self, seed: int, first_game: int) -> SessionOutcome:
        """Check the keys, explain, and play."""
        blocks = self.settings.blocks
        tests = [i for i, block in enumerate(blocks) if block.phase == "test"]
        try:
            for ask, again in self.screens.key_check():
                self.presenter.self_paced(ask, again=again)
            if first_game == 0:
                for page in self.screens.instructions():
                    self.presenter.self_paced(page)
            for index in range(first_game, len(blocks)):
                number = sum(i <= index for i in tests)
                intro = self.screens.block_intro(blocks[index], number=number, n_games=len(tests))
                self.presenter.self_paced(intro)
                self._play(Game(self.parts, seed, index, blocks[index]))
            self.presenter.self_paced(self.screens.end())
        except QuitRequested as request:
            self.end("quit", request.reason)
            return SessionOutcome("quit", self.n_turns, "turns")
        self.presenter.await_releases()
        self.end("completed", None)
        return SessionOutcome("completed", self.n_turns, "turns")

    def _play(self, game: Game) -> None:
        """Play a game, say how it ended, and pause where that was asked for."""
        self.games.append(game)
        game.play()
        n_games, done = len(self.settings.blocks), game.index + 1
        self.parts.apparatus.between_trials()
        self.on_game(done, n_games)
        state = game.table.state
        over = self.screens.game_over(
            state.status,
            n_kept=state.count("kept"),
            n_fallen=state.count("galley"),
            done=done,
            n_games=n_games,
            things_fall=game.settings.things_fall,
        )
        self.presenter.self_paced(over)
        if game.pause_wanted:
            self.presenter.self_paced(self.screens.pause())

    def end(self, status: str, reason: str | None) -> None:
        """Write the last record, with the events that nothing else has taken."""
        self.log.append(
            "end",
            {
                "status": status,
                "reason": reason,
                "n_games": sum(game.is_begun for game in self.games),
                "n_turns": self.n_turns,
                "t_s": self.presenter.flip_s,
                "events": self.presenter.take_events(),
                **self.presenter.marking.take(),
                **self.presenter.marking.report(),
            },
        )
