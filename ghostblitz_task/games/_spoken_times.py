"""The ways in which a time on a clock face is said in English: all are the same answer."""

from __future__ import annotations

from functools import lru_cache

_ONES = (
    "twelve",
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
_TENS = {2: "twenty", 3: "thirty", 4: "forty", 5: "fifty"}


@lru_cache(maxsize=1024)
def spoken_times(time: str) -> frozenset[str]:
    """Return the ways to say a time, the time as given among them.

    Parameters
    ----------
    time : str
        On a clock face, as in ``11:55``: also ``5 to 12``, ``five to twelve`` and
        ``eleven fifty-five``.
    """
    hour, minute = (int(part) for part in time.split(":"))
    next_hour = hour % 12 + 1
    said = {time, f"{hour}:{minute:02}"}
    for h, coming in ((str(hour), str(next_hour)), (_ONES[hour], _ONES[next_hour])):
        if minute == 0:
            said |= {h, f"{h} o'clock"}
        elif minute <= 30:
            said |= {f"{m} past {h}" for m in _minutes(minute)}
        else:
            said |= {f"{m} to {coming}" for m in _minutes(60 - minute)}
    if minute:
        tail = f"oh {_in_words(minute)}" if minute < 10 else _in_words(minute)
        said.add(f"{_ONES[hour]} {tail}")
    return frozenset(said)


def _minutes(n: int) -> tuple[str, ...]:
    named = {15: ("quarter", "a quarter"), 30: ("half",)}.get(n, ())
    return (str(n), _in_words(n), *named)


def _in_words(n: int) -> str:
    if n < 20:
        return _ONES[n]
    tens, ones = divmod(n, 10)
    return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")
