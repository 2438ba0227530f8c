"""Characters that look like others: letters of other alphabets, digits of other scripts, spaces that are none."""

from unicodedata import category, normalize
from unicodedata import digit as digit_of
from unicodedata import name as name_of

_LATIN = dict(
    zip(
        "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u03bf\u0391\u0392\u0395\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7",
        "aeopcyxijsABEKMHOPCTXoABEHIKMNOPTX",
        strict=True,
    )
)
"""Cyrillic and Greek letters that are drawn as Latin ones."""


def plain(text: str) -> str:
    """A text with plain characters in place of those that look like them; two names of one such form can't be told apart by eye."""
    return "".join(_plain(char) for char in normalize("NFKC", text))


def _plain(char: str) -> str:
    if char in _LATIN:
        return _LATIN[char]
    if category(char) == "Zs":
        return " "
    if category(char) == "Cf":
        return ""
    return char if char.isascii() else str(digit_of(char, char))


def described(char: str) -> str:
    """A character by its number and name."""
    return f"U+{ord(char):04X} ({name_of(char, 'without a name').lower()})"
