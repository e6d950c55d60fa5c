"""The text of PDF files, as far as it takes to search them for names."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

__all__ = ["pdf_texts"]

_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\n?endstream", re.DOTALL)
_STRING = re.compile(rb"\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)|<[0-9A-Fa-f\s]*>", re.DOTALL)
_ARRAY = re.compile(rb"\[((?:[^\[\]()<]|\((?:[^()\\]|\\.)*\)|<[0-9A-Fa-f\s]*>)*)\]\s*TJ", re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r\n|.)", re.DOTALL)
_ESCAPED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
_CHARACTERS = re.compile(rb"beginbfchar(.*?)endbfchar", re.DOTALL)
_RANGES = re.compile(rb"beginbfrange(.*?)endbfrange", re.DOTALL)
_RANGE = re.compile(rb"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>\s*(<[0-9A-Fa-f]+>|\[[^\]]*\])")
_HEX = re.compile(rb"<([0-9A-Fa-f]+)>")
_LARGEST_STREAM_BYTES = 200_000_000
_LONGEST_RANGE = 65_536


def pdf_texts(data: bytes) -> Iterator[str]:
    """Give the texts of a PDF file: its metadata, and what its pages show.

    A page names glyphs, and only each font's table says which characters they are. Which font is
    in use is not followed: every text is read by every table, and one of them is right.
    """
    streams = [*_unpacked(data)]
    tables = [table for stream in streams if (table := _glyphs(stream))]
    for part in (data, *streams):
        if b"beginbfchar" in part or b"beginbfrange" in part:
            continue
        strings = [_joined(match[1]) for match in _ARRAY.finditer(part)]
        strings += [_plain(match[0]) for match in _STRING.finditer(part)]
        yield "\n".join(s.decode("latin-1") for s in strings)
        yield "\n".join(_from_utf16(s) for s in strings if s.startswith(b"\xfe\xff"))
        for table in tables:
            yield "\n".join(_decoded(s, table) for s in strings)
    # Metadata as XML stands in a stream of its own.
    yield from (s.decode("utf-8", errors="replace") for s in streams if b"<x:xmpmeta" in s)


def _unpacked(data: bytes) -> Iterator[bytes]:
    for match in _STREAM.finditer(data):
        try:
            yield zlib.decompressobj().decompress(match[1], _LARGEST_STREAM_BYTES)
        except zlib.error:
            yield match[1]


def _plain(text: bytes) -> bytes:
    """Return the bytes that a literal or hexadecimal string means."""
    if text.startswith(b"<"):
        digits = re.sub(rb"\s", b"", text[1:-1])
        return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii"))

    def escaped(match: re.Match[bytes]) -> bytes:
        code = match[1]
        if code[:1] in b"01234567":
            return bytes([int(code, 8) & 0xFF])
        return _ESCAPED.get(code, b"" if code in (b"\n", b"\r", b"\r\n") else code)

    return _ESCAPE.sub(escaped, text[1:-1])


def _joined(array: bytes) -> bytes:
    """Join the pieces of a line that is set with distances of its own."""
    return b"".join(_plain(match[0]) for match in _STRING.finditer(array))


def _from_utf16(text: bytes) -> str:
    return text[2:].decode("utf-16-be", errors="replace")


def _glyphs(stream: bytes) -> dict[int, str]:
    """Read a font's table of glyphs and characters; empty for other streams."""
    table: dict[int, str] = {}
    for block in _CHARACTERS.finditer(stream):
        found = _HEX.findall(block[1])
        for code, text in zip(found[::2], found[1::2], strict=False):
            table[int(code, 16)] = _hex_text(text)
    for block in _RANGES.finditer(stream):
        for line in _RANGE.finditer(block[1]):
            first, last = int(line[1], 16), int(line[2], 16)
            targets = _HEX.findall(line[3])
            for number in range(min(last - first + 1, _LONGEST_RANGE)):
                if line[3].startswith(b"[") and number < len(targets):
                    table[first + number] = _hex_text(targets[number])
                elif targets and not line[3].startswith(b"["):
                    table[first + number] = chr(min(int(targets[0], 16) + number, 0x10FFFF))
    return table


def _hex_text(digits: bytes) -> str:
    return bytes.fromhex(digits.decode("ascii").zfill(4)).decode("utf-16-be", errors="replace")


def _decoded(text: bytes, table: dict[int, str]) -> str:
    """Read a string as glyphs of two bytes and of one, as fonts differ in that."""
    pairs = zip(text[::2], text[1::2], strict=False)
    two = "".join(table.get(high << 8 | low, "") for high, low in pairs)
    return two + "\n" + "".join(table.get(byte, "") for byte in text)
