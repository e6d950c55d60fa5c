"""What is said after each card that is played for, and in the end: whose it is, who has how many.

What is read at a glance comes first: who takes the card, in large letters, and each player's
cards as a stack with what was gained or lost. Sentences are for who has the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ghostblitz_task.company import RoundResult, Table, standings
from ghostblitz_task.games import GameState
from ghostblitz_task.rounds import RIVAL, Company, PlayedCard
from ghostblitz_task.screen_elements import (
    TEXT_DEG,
    Bar,
    Drawing,
    Element,
    Words,
    balanced,
    box_of,
    sentence,
    text_width_deg,
)
from ghostblitz_task.screens import Screen, Screens
from ghostblitz_task.table_drawings import stack_svg
from ghostblitz_task.texts import CompanyTexts

__all__ = ["final_standings", "round_feedback"]

# The headline, the stacks, and what there is to say, from top to bottom in the middle of the
# table: as high as there is room for lines of this width, and down to the gap below the items.
_TOP_Y, _LEAST_TOP_Y, _BOTTOM_Y, _WANTED_DEG = 3.0, 1.0, -6.8, 14.0
_HEADLINE_DEG, _LEAST_HEADLINE_DEG, _DETAIL_DEG, _LEAST_DETAIL_DEG = 1.2, 0.9, 0.7, 0.5
_STACK_WIDTH_DEG, _STACK_HEIGHT_DEG, _COUNT_DEG, _CHANGE_DEG = 1.8, 1.6, 0.85, 0.7
_NAME_DEG, _MARK_DEG, _GAP_DEG = 0.65, 0.85, 0.25
_STEP_DEG, _STACK_EDGE_DEG = 0.05, 0.12

# The final standings: a row for each player.
_ROW_DEG, _ROWS_TOP_Y, _BAR_DEG = 1.5, 2.0, (11.0, 0.8)
_PLACE_X, _MARK_X, _NAME_X, _BAR_X, _COUNT_X = -11.0, -9.6, -8.9, 4.5, 11.0
_FINAL_DEG = 0.9

_NO_BREAK = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True, slots=True)
class _Namer:
    """Names the players in sentences and lists; by number where there are several.

    Ids say nothing to them, and may be nobody else's business.
    """

    company: Company
    texts: CompanyTexts

    def name(self, player: str) -> str:
        if player == RIVAL:
            rival = self.company.rival_description
            is_ghost = rival is not None and rival.kind == "ghost"
            return self.texts.earlier_self if is_ghost else self.texts.rival
        if len(self.company.players) == 1:
            return self.texts.you
        return self.texts.player.format(number=self.company.players.index(player) + 1)

    def is_you(self, player: str | None) -> bool:
        return player != RIVAL and len(self.company.players) == 1

    def seat(self, player: str) -> int | None:
        """Return the seat whose mark stands beside a name; null where there is no mark."""
        if player == RIVAL or len(self.company.players) == 1:
            return None
        return self.company.players.index(player)

    def listed(self, players: Sequence[str]) -> str:
        # No line ends between a player and the number.
        names = [self.name(player).replace(" ", _NO_BREAK) for player in players]
        if len(names) == 1:
            return names[0]
        return self.texts.separator.join(names[:-1]) + self.texts.last_separator + names[-1]

    def said(self, about_you: str, about_player: str, player: str) -> str:
        """Return the sentence for the only participant, or the one that names a player."""
        if self.is_you(player):
            return about_you
        return sentence(about_player.format(player=self.name(player)))


def _counted(one: str, several: str, n: int) -> str:
    return one if n == 1 else several.format(n=n)


# --- after each card ----------------------------------------------------------------------------


def round_feedback(
    screens: Screens, played: PlayedCard, company: Company, state: GameState
) -> Screen:
    """Return the screen that follows a card.

    Parameters
    ----------
    screens : Screens
        Of the study, in its language.
    played : PlayedCard
        The round and the table after it.
    company : Company
        Who plays.
    state : GameState
        What lies round the card.
    """
    namer = _Namer(company, screens.texts.company)
    middle = _middle_of(screens)
    head = _headed(_headline(played.result, namer), middle)
    below = replace(middle, top=box_of(head).bottom - 2 * _GAP_DEG)
    stacks = tuple(_stacks(screens, played, namer, below))
    lowest = min(box_of(element).bottom for element in stacks)
    words = _detailed(_details(played, namer), replace(middle, top=lowest - _GAP_DEG))
    return Screen("feedback-round", (head, *stacks, *words), screens.blank(state).table)


@dataclass(frozen=True, slots=True)
class _Middle:
    """The room in the middle of the table."""

    top: float
    bottom: float
    width_deg: float


def _middle_of(screens: Screens) -> _Middle:
    """Return the highest room that is wide enough, or else the widest."""
    rows = [box_of(element).top for element in screens.layout.answer_rows()]
    bottom = max([_BOTTOM_Y, *(top + _GAP_DEG for top in rows)])
    rooms = []
    top = _TOP_Y
    while top >= _LEAST_TOP_Y:
        rooms.append(_Middle(top, bottom, screens.middle_deg(bottom=bottom, top=top)))
        top -= _GAP_DEG
    wide = [room for room in rooms if room.width_deg >= _WANTED_DEG]
    return wide[0] if wide else max(rooms, key=lambda room: room.width_deg)


def _headed(headline: str, room: _Middle) -> Words:
    """Write the headline in one line if that is not too small."""
    deg = _HEADLINE_DEG
    while text_width_deg(headline, deg, bold=True) > room.width_deg and deg > _LEAST_HEADLINE_DEG:
        deg = max(deg - _STEP_DEG, _LEAST_HEADLINE_DEG)
    # Bold letters are wider than `balanced` counts on.
    bold = text_width_deg(headline, deg, bold=True) / text_width_deg(headline, deg)
    lines = balanced(headline, room.width_deg / bold, deg)
    return Words(lines, 0, room.top, deg, bold=True, hangs=True)


def _detailed(details: Sequence[str], room: _Middle) -> Iterator[Words]:
    """Write what there is to say, smaller where it is much."""
    if not details:
        return
    deg = _DETAIL_DEG
    while True:
        text = "\n".join(balanced(line, room.width_deg, deg) for line in details)
        words = Words(text, 0, room.top, deg, hangs=True)
        if box_of(words).bottom >= room.bottom or deg <= _LEAST_DETAIL_DEG:
            break
        deg = max(deg - _STEP_DEG, _LEAST_DETAIL_DEG)
    yield words


def _headline(result: RoundResult, namer: _Namer) -> str:
    """Say who takes the card; alone, why there is none to take."""
    texts = namer.texts
    if result.winner is not None:
        return namer.said(texts.you_takes, texts.takes, result.winner)
    if namer.company.at_table == namer.company.players and len(namer.company.players) == 1:
        return _missed(result, texts)
    if result.outcome == "voided":
        return texts.nobody_takes
    return texts.nobody_answered if result.outcome == "nobody_answered" else texts.nobody_right


def _missed(result: RoundResult, texts: CompanyTexts) -> str:
    """Say why the only player has not taken the card."""
    if not result.attempts:
        return texts.alone_late
    attempt = result.attempts[0]
    if attempt.t_s < 0:
        return texts.alone_early
    return texts.alone_both_modes if attempt.both_modes else texts.alone_wrong


def _details(played: PlayedCard, namer: _Namer) -> list[str]:
    """Say what led to it, what was given up, and where cards went that nobody has."""
    result, texts = played.result, namer.texts
    details = []
    if result.voided_by is not None and len(namer.company.at_table) > 1:
        details.append(namer.said(texts.you_voided, texts.voided, result.voided_by))
    if result.tied:
        tied = sentence(texts.tied.format(players=namer.listed(result.tied)))
        details.append(f"{tied} {texts.by_lot if result.by_lot else texts.by_time}")
    given = [p.player for p in result.penalties if p.card is not None]
    if len(given) == 1:
        details.append(namer.said(texts.you_gives, texts.gives, given[0]))
    elif given:
        details.append(sentence(texts.several_give.format(players=namer.listed(given))))
    details.append(_elsewhere(played, texts))
    return [line for line in details if line]


def _elsewhere(played: PlayedCard, texts: CompanyTexts) -> str:
    """Say where cards went to, or came from, that are in nobody's hand."""
    result = played.result
    if result.returned:
        return _counted(texts.one_under_pile, texts.under_pile, len(result.returned))
    if result.winner is None:
        return _counted(texts.one_set_aside, texts.set_aside, len(played.table.jackpot))
    n_won = sum(move.source.kind == "jackpot" for move in result.moves)
    return _counted(texts.one_jackpot_won, texts.jackpot_won, n_won) if n_won else ""


def _change(result: RoundResult, player: str) -> int:
    """Return how many cards a round brought a player, or cost."""
    gained = sum(m.destination.player == player for m in result.moves)
    return gained - sum(m.source.player == player for m in result.moves)


def _stacks(
    screens: Screens, played: PlayedCard, namer: _Namer, middle: _Middle
) -> Iterator[Element]:
    """Draw each player's cards side by side, and those set aside: how many, and the change."""
    texts, result = namer.texts, played.result
    columns = [
        (sentence(namer.name(player)), namer.seat(player), n, _change(result, player))
        for player, n in played.table.n_won.items()
    ]
    if played.table.jackpot:
        columns.append((sentence(texts.set_aside_label), None, len(played.table.jackpot), 0))
    change_deg = text_width_deg("+00", _CHANGE_DEG, bold=True) + _GAP_DEG
    least_deg = _STACK_WIDTH_DEG + change_deg + _GAP_DEG
    names_deg = max(_name_deg(name, seat) + 2 * _GAP_DEG for name, seat, *_ in columns)
    share_deg = middle.width_deg / len(columns)
    # Where names have no room, a mark says it alone; where stacks have none, they are smaller.
    marks_only = names_deg > share_deg
    scale = min(1.0, share_deg / least_deg)
    spacing = min(max(least_deg, names_deg), share_deg)
    right_deg = (len(columns) - 1) / 2 * spacing + (_STACK_WIDTH_DEG / 2 + change_deg) * scale
    # What changed stands at the right of each stack, for which all may have to move.
    shift = max(right_deg - middle.width_deg / 2, 0.0)
    name_y = middle.top - _MARK_DEG / 2
    y = middle.top - _MARK_DEG - _GAP_DEG - _STACK_HEIGHT_DEG * scale / 2
    for i, (name, seat, n, change) in enumerate(columns):
        x = (i - (len(columns) - 1) / 2) * spacing - shift
        yield from _named(screens, "" if marks_only and seat is not None else name, seat, x, name_y)
        yield from _stack(screens, x, y, n, _changed(change, texts), scale=scale)


def _name_deg(name: str, seat: int | None) -> float:
    """Return the width of a name with its mark."""
    mark = _MARK_DEG + (_GAP_DEG if name else 0.0) if seat is not None else 0.0
    return mark + (text_width_deg(name, _NAME_DEG) if name else 0.0)


def _changed(change: int, texts: CompanyTexts) -> str:
    if change == 0:
        return ""
    return texts.gained.format(n=change) if change > 0 else texts.lost.format(n=-change)


def _stack(
    screens: Screens, x: float, y: float, n: int, change: str, *, scale: float
) -> Iterator[Element]:
    """Draw a stack of cards with their number on it, and beside it what changed."""
    width, height = _STACK_WIDTH_DEG * scale, _STACK_HEIGHT_DEG * scale
    svg = stack_svg(screens.palette, width, height, thick=n > 1)
    yield Drawing(svg, x, y, width, height)
    count_deg = _COUNT_DEG * scale
    number_deg = text_width_deg(str(n), count_deg, bold=True)
    count_deg *= min(1.0, (width - 2 * _STACK_EDGE_DEG) / number_deg)
    yield Words(str(n), x, y, count_deg, bold=True)
    if change:
        deg = _CHANGE_DEG * scale
        change_deg = text_width_deg(change, deg, bold=True)
        yield Words(change, x + (width + _GAP_DEG * scale + change_deg) / 2, y, deg, bold=True)


def _named(screens: Screens, name: str, seat: int | None, x: float, y: float) -> Iterator[Element]:
    """Write a name, after its mark if it has one."""
    left = x - _name_deg(name, seat) / 2
    if seat is not None:
        yield screens.layout.keys.mark(seat, left + _MARK_DEG / 2, y, size_deg=_MARK_DEG)
        left += _MARK_DEG + _GAP_DEG
    if name:
        yield Words(name, left + text_width_deg(name, _NAME_DEG) / 2, y, _NAME_DEG)


# --- in the end ---------------------------------------------------------------------------------


def final_standings(screens: Screens, table: Table, company: Company) -> Screen:
    """Return the screen that tells, after the last card, who has won.

    Parameters
    ----------
    screens : Screens
        Of the study, in its language.
    table : Table
        After the last round; cards left in its pile say that the game was capped.
    company : Company
        Who played.
    """
    namer = _Namer(company, screens.texts.company)
    texts = namer.texts
    lines = [_result(table, namer)]
    if table.pile:
        lines.append(texts.capped.format(n=len(table.pile)))
    if table.jackpot:
        lines.append(texts.jackpot_left.format(n=len(table.jackpot)))
    rows = tuple(_rows(screens, table, namer))
    return screens.page("standings", texts.final_title, "\n".join(lines), drawn=rows)


def _result(table: Table, namer: _Namer) -> str:
    """Say who has won, or, alone, how much."""
    texts, ranked = namer.texts, standings(table)
    if len(ranked) == 1:
        return texts.alone_result.format(n=ranked[0].n_cards, n_cards=table.n_cards)
    if ranked[0].n_cards == 0:
        return texts.nobody_won
    first = [standing.player for standing in ranked if standing.place == 1]
    if len(first) == 1:
        return namer.said(texts.you_wins, texts.wins, first[0])
    return sentence(texts.share.format(players=namer.listed(first)))


def _rows(screens: Screens, table: Table, namer: _Namer) -> Iterator[Element]:
    """Draw a row for each player, best first: place, name, a bar, and the number of cards."""
    ranked = standings(table)
    full = table.n_cards if len(ranked) == 1 else max(s.n_cards for s in ranked)
    for i, standing in enumerate(ranked):
        y = _ROWS_TOP_Y - (i + 0.5) * _ROW_DEG
        bold = standing.place == 1 and standing.n_cards > 0
        if len(ranked) > 1:
            place = namer.texts.place.format(place=standing.place)
            yield Words(place, _PLACE_X, y, _FINAL_DEG, bold=bold)
        seat = namer.seat(standing.player)
        if seat is not None:
            yield screens.layout.keys.mark(seat, _MARK_X, y, size_deg=1.1)
        name = sentence(namer.name(standing.player))
        start = _NAME_X if seat is not None else _MARK_X - 0.4
        yield Words(name, start + text_width_deg(name, TEXT_DEG) / 2, y, TEXT_DEG)
        yield Bar(standing.n_cards / max(full, 1), _BAR_X, y, *_BAR_DEG)
        yield Words(str(standing.n_cards), _COUNT_X, y, _FINAL_DEG, bold=bold)
