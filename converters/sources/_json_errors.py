"""Where a text stops being JSON, found by reading it once more with a parser that keeps its place."""

from __future__ import annotations

import json
import re
from typing import Final, NoReturn

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_BARE_WORD: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|(-?Infinity|NaN)', re.DOTALL)


# What may stand at the end of a text that was cut within a word or a number.
_BEGUN: Final = re.compile(r"|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|-|\.|[eE][+-]?")


class JsonSyntaxError(Exception):
    """A text is no JSON.

    Attributes:
        reason: What is wrong, in words.
        offset: Where, in bytes of the document.
        is_cut: Whether all would be well so far, if only the text went on.
    """

    def __init__(self, reason: str, offset: int, *, is_cut: bool = False) -> None:
        self.reason = reason
        self.offset = offset
        self.is_cut = is_cut
        super().__init__(reason)


class _BareWordError(Exception):
    """NaN or Infinity, which Python's parser takes for numbers."""


def find_syntax_error(text: bytes, offset: int, *, is_document: bool = False) -> JsonSyntaxError:
    """The first error of a text that is known to have one.

    Args:
        text: A whole document, or what stands in an array from the beginning of an element on.
        offset: Where `text` stands in the document.
        is_document: Which of the two it is.
    """
    characters = text.decode("utf-8", "surrogateescape")
    at = 1 if characters.startswith("\ufeff") else 0
    is_cut = False
    try:
        at = _skip(characters, at)
        while True:
            at = _skip(characters, _value_end(characters, at))
            if is_document:
                reason = "more text follows the end of the document" if at < len(characters) else "it cannot be read"
                break
            if characters[at : at + 1] != ",":
                reason, is_cut = "expected a comma", at == len(characters)
                break
            at = _skip(characters, at + 1)
    except json.JSONDecodeError as error:
        at, reason = error.pos, _plain_words(error.msg)
        is_cut = (
            error.msg.startswith("Unterminated string")
            or ("escape" in error.msg and len(characters) - at < len("\\uXXXX"))
            or _BEGUN.fullmatch(characters, at) is not None
        )
    except _BareWordError as error:
        at, reason = _find_bare_word(characters, at), f"{error} is no JSON number"
    except RecursionError:
        reason = "objects or arrays are nested too deep"
    return JsonSyntaxError(reason, offset + len(characters[:at].encode("utf-8", "surrogateescape")), is_cut=is_cut)


def _value_end(characters: str, at: int) -> int:
    def refuse(word: str) -> NoReturn:
        raise _BareWordError(word)

    return json.JSONDecoder(parse_constant=refuse, parse_int=str).raw_decode(characters, at)[1]


def _skip(characters: str, at: int) -> int:
    match = _SPACE.match(characters, at)
    return match.end() if match else at


def _find_bare_word(characters: str, at: int) -> int:
    return next((match.start(1) for match in _BARE_WORD.finditer(characters, at) if match[1]), at)


def _plain_words(message: str) -> str:
    return f"{message[:1].lower()}{message[1:]}"
