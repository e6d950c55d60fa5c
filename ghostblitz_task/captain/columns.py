"""Every column of the table of turns, and of that of games: names, types, units and meanings."""

from __future__ import annotations

from ghostblitz_task.captain.settings import COLOURS
from ghostblitz_task.schema import Column

__all__ = ["GAME_COLUMNS", "GAME_OUTCOMES", "TURN_COLUMNS"]

_NO_PICK = "nothing was picked"
_NO_LOOK = "the dropping was not looked at"
_NONE_KNOWN = "nothing was picked, or no dropping of the cue's colour had been seen"
_NOT_SEEN = "nothing was picked, or what was picked had never been seen"

#: How a game ended: won or lost as the rulebook has it, lost at once when the die fell, capped by
#: the study's limit of turns or time, ended by the quit key or a failure, or killed.
GAME_OUTCOMES = ("won", "lost", "die_fell", "capped", "interrupted", "killed")

_SESSION: tuple[Column, ...] = (
    Column("study_id", "string", "The study, as its settings name it", "session"),
    Column("participant_id", "string", "Whose session it is", "session"),
    Column("session", "Int64", "Session of this participant, from 1", "session"),
    Column("run", "Int64", "Run of the session, from 1; a resumed session has several", "session"),
    Column(
        "source",
        "string",
        "Who played; only human data say anything about people",
        "session",
        levels=("human", "robot", "simulated"),
    ),
    Column(
        "participant_model",
        "string",
        "The model that played",
        "session",
        null_when="source is not simulated",
    ),
    Column(
        "display_synchronised",
        "boolean",
        "Whether flips were seen to wait for the screen's refresh",
        "session",
        null_when="simulated data",
    ),
    Column("block_index", "Int64", "Block of the session, from 0; each is one game", "design"),
    Column("label", "string", "The block's label", "design"),
    Column(
        "phase",
        "string",
        "Practice games are logged like all others",
        "design",
        levels=("practice", "test"),
    ),
    Column(
        "mode",
        "string",
        "Without the Eye, or with it",
        "design",
        levels=("static", "moving"),
    ),
    Column("n_players", "Int64", "People who take turns at the tongs", "design"),
)

TURN_COLUMNS: tuple[Column, ...] = (
    *_SESSION,
    Column("turn_index", "Int64", "Turn of its game, from 0", "fact"),
    Column("player_index", "Int64", "Whose turn it was, by seat, from 0", "fact"),
    Column("player_id", "string", "Whose turn it was; measures are by player", "fact"),
    Column("began_s", "Float64", "When the turn began, on the game's clock", "fact", "s"),
    Column(
        "cue_onset_s",
        "Float64",
        "Flip that first showed the turn's die, on the session's clock",
        "fact",
        "s",
        null_when="the game ended before a flip",
    ),
    Column(
        "colour_onset_s",
        "Float64",
        "Flip that first showed the colour under the dropping, on the session's clock",
        "fact",
        "s",
        null_when=_NO_LOOK,
    ),
    Column("cue_at_start", "string", "On top of the die as the turn began", "fact", levels=COLOURS),
    Column(
        "cue_at_pick",
        "string",
        "On top of the die at the pick",
        "fact",
        levels=COLOURS,
        null_when=_NO_PICK,
    ),
    Column(
        "cue_at_look",
        "string",
        "On top of the die at the look: the colour that counts",
        "fact",
        levels=COLOURS,
        null_when=_NO_LOOK,
    ),
    Column("n_cue_changes", "Int64", "Changes of the die during the turn", "fact"),
    Column("dropping_id", "Int64", "The dropping picked", "fact", null_when=_NO_PICK),
    Column(
        "colour", "string", "Under the dropping picked", "fact", levels=COLOURS, null_when=_NO_LOOK
    ),
    Column(
        "named",
        "string",
        "The colour that was named",
        "fact",
        levels=COLOURS,
        null_when="none was named in time",
    ),
    Column(
        "claimed",
        "string",
        "The colour claimed for the last dropping without waiting for the die",
        "fact",
        levels=COLOURS,
        null_when="the turn was no claim",
    ),
    Column(
        "outcome",
        "string",
        "What became of the dropping; censored: the game ended before the turn did",
        "fact",
        levels=("kept", "returned", "lost", "censored"),
    ),
    Column("n_dropped_frames", "Int64", "Frames missed from the turn's die to the pick", "fact"),
    Column(
        "longest_frame_s",
        "Float64",
        "Longest frame from the turn's die to the pick",
        "fact",
        "s",
        null_when="there was no such frame",
    ),
    Column("censored", "boolean", "Neither right nor wrong: left out of all measures", "derived"),
    Column(
        "pick_rt_s",
        "Float64",
        "Pick (or claim) minus the flip that first showed the turn's die",
        "derived",
        "s",
        null_when=_NO_PICK,
    ),
    Column(
        "pick_rt_from_cue_s",
        "Float64",
        "Pick minus the flip that showed the die's last change before it, or the turn's die",
        "derived",
        "s",
        null_when=_NO_PICK,
    ),
    Column("hold_s", "Float64", "From pick to look", "derived", "s", null_when=_NO_LOOK),
    Column(
        "naming_rt_s",
        "Float64",
        "Naming key minus the flip that first showed the colour",
        "derived",
        "s",
        null_when="none was named in time, or in a claim",
    ),
    Column(
        "pick_device",
        "string",
        "What the pick came from; colour_keys (or buttons that stand for them) in a claim",
        "derived",
        levels=("pointer", "pick_keys", "colour_keys", "pick_buttons", "colour_buttons"),
        null_when=_NO_PICK,
    ),
    Column(
        "pick_resolution_s",
        "Float64",
        "How coarsely the time of the pick is known",
        "derived",
        "s",
        null_when=_NO_PICK,
    ),
    Column("correct", "boolean", "The team kept the dropping", "derived", null_when=_NO_LOOK),
    Column(
        "misnamed",
        "boolean",
        "Another colour was named than was seen",
        "derived",
        null_when="none was named in time, or in a claim",
    ),
    Column(
        "hit",
        "boolean",
        "The dropping picked has the colour that the die showed at the pick",
        "derived",
        null_when="nothing was picked, or in a claim, which no cue asks for",
    ),
    Column("n_on_deck", "Int64", "Droppings on deck at the pick", "derived", null_when=_NO_PICK),
    Column("n_cue_colour", "Int64", "Those of the cue's colour", "derived", null_when=_NO_PICK),
    Column(
        "p_chance",
        "Float64",
        "Their share: the probability of a hit for a pick at random",
        "derived",
        null_when=_NO_PICK,
    ),
    Column(
        "n_unseen",
        "Int64",
        "Droppings on deck that nobody had looked at",
        "derived",
        null_when=_NO_PICK,
    ),
    Column(
        "p_chance_unseen",
        "Float64",
        "Share of the cue's colour among these: the probability of a hit for a pick among them",
        "derived",
        null_when="nothing was picked, or all had been looked at",
    ),
    Column(
        "picked_seen",
        "boolean",
        "The dropping picked had been looked at in an earlier turn",
        "derived",
        null_when=_NO_PICK,
    ),
    Column(
        "n_known",
        "Int64",
        "Droppings of the cue's colour that the team had seen and that were on deck",
        "derived",
        null_when=_NO_PICK,
    ),
    Column("is_known", "boolean", "Whether there was any", "derived", null_when=_NO_PICK),
    Column(
        "is_known_own",
        "boolean",
        "Whether the player had looked at any of them",
        "derived",
        null_when=_NO_PICK,
    ),
    Column(
        "hit_given_known",
        "boolean",
        "One of these was picked",
        "derived",
        null_when=f"{_NONE_KNOWN}, or in a claim",
    ),
    Column(
        "p_chance_known",
        "Float64",
        "Probability of that for a pick at random",
        "derived",
        null_when=f"{_NONE_KNOWN}, or in a claim",
    ),
    Column(
        "p_chance_among_seen",
        "Float64",
        "Share of the cue's colour among the droppings on deck that the team had seen: the "
        "probability of a hit for a pick among them, without memory for their colours",
        "derived",
        null_when="nothing was picked, or none on deck had been seen",
    ),
    Column(
        "lag_turns",
        "Int64",
        "Turns since the last seen of these was looked at; 1 for the turn before",
        "derived",
        null_when=_NONE_KNOWN,
    ),
    Column(
        "path_moved",
        "Float64",
        "Length of its way over the deck since it was put back, in deck sides",
        "derived",
        null_when=_NONE_KNOWN,
    ),
    Column(
        "net_moved",
        "Float64",
        "Distance from where it was put back, in deck sides",
        "derived",
        null_when=_NONE_KNOWN,
    ),
    Column(
        "picked_lag_turns",
        "Int64",
        "As lag_turns, of the dropping picked, whatever its colour",
        "derived",
        null_when=_NOT_SEEN,
    ),
    Column(
        "picked_path_moved",
        "Float64",
        "As path_moved, of the dropping picked",
        "derived",
        null_when=_NOT_SEEN,
    ),
    Column(
        "picked_net_moved",
        "Float64",
        "As net_moved, of the dropping picked",
        "derived",
        null_when=_NOT_SEEN,
    ),
    Column(
        "cue_changed", "boolean", "The die changed before the look", "derived", null_when=_NO_PICK
    ),
    Column(
        "cue_changed_before_pick",
        "boolean",
        "The die changed before the pick",
        "derived",
        null_when=_NO_PICK,
    ),
    Column(
        "cue_changed_while_held",
        "boolean",
        "The die changed between pick and look",
        "derived",
        null_when=_NO_PICK,
    ),
    Column(
        "followed",
        "string",
        "Where the die at the pick is not the one at the start: which of them the pick went by",
        "derived",
        levels=("new", "old", "neither"),
        null_when="nothing was picked, the die was the same, or in a claim",
    ),
    Column("n_picks_of_nothing", "Int64", "Clicks that met no dropping", "derived"),
    Column("n_refused", "Int64", "Actions that the rules did not allow", "derived"),
    Column("n_nudges", "Int64", "Nudges of the die", "derived"),
    Column("n_fell", "Int64", "Droppings that fell during the turn", "derived"),
    Column("n_events", "Int64", "Key and pointer events logged with the turn", "derived"),
)

GAME_COLUMNS: tuple[Column, ...] = (
    *_SESSION,
    Column("outcome", "string", "How the game ended", "fact", levels=GAME_OUTCOMES),
    Column(
        "duration_s",
        "Float64",
        "From its first flip to its end",
        "fact",
        "s",
        null_when="it was killed",
    ),
    Column("n_turns", "Int64", "Turns in the log, those cut short among them", "derived"),
    Column("n_censored", "Int64", "Turns that the end of the game cut short", "derived"),
    Column("n_kept", "Int64", "Droppings collected", "derived"),
    Column("n_fallen", "Int64", "Droppings in the galley", "derived"),
    Column("n_left", "Int64", "Droppings neither collected nor in the galley", "derived"),
)
