"""shown.json: texts of other parties, and how errors and command lines show them. The standard library knows the characters."""

import unicodedata

from cases import Case

COMMENT = (
    "Texts that another party wrote: labels of holders, names, messages of servers. shown: the text in errors, in logs and "
    "on a terminal."
)

HIDDEN = {"Cc", "Cf", "Zl", "Zp"}
SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# As the standard library of Python 3.11 knows Unicode. Later versions add to the last one.
RANGES = {
    "controls of ASCII": (0x00, 0x1F),
    "letters of ASCII": (0x20, 0x7E),
    "the last of ASCII and the controls behind it": (0x7F, 0xA0),
    "Latin letters and the soft hyphen": (0xA1, 0xFF),
    "Arabic numbers": (0x600, 0x61F),
    "signs of other scripts": (0x6D6, 0x70F),
    "more Arabic signs": (0x890, 0x8E3),
    "Mongolian separators": (0x180B, 0x180F),
    "blanks, marks of direction and line ends": (0x2000, 0x2064),
    "isolates and deprecated marks": (0x2066, 0x2070),
    "the byte order mark": (0xFEFC, 0xFEFF),
    "annotations": (0xFFF9, 0xFFFD),
    "Kaithi": (0x110BB, 0x110CD),
    "hieroglyphs": (0x1342E, 0x13438),
    "shorthand": (0x1BC9E, 0x1BCA3),
    "music": (0x1D171, 0x1D17B),
    "tags": (0xE0020, 0xE007F),
}
TEXTS = {
    "an empty label": "",
    "a usual label": "gunicorn:4711@web-3",
    "a label that clears the screen": "web\x1b[2J\x1b[1;1H",
    "a label that forges a line of doctor": "web\nok    store       PostgreSQL at db:5432",
    "a label that goes back to the start of its line": "web\rok",
    "a label with the one-byte form of the escape": "web\x9b31m",
    "a label that turns its end around": "web\u202e3-bew",
    "a title of the window": "\x1b]0;title\x07",
    "a text that was shown before": "web\\u{1b}[2J\\n",
    "a path of Windows": "C:\\ids\\new",
    "letters of many scripts": "K\u00e4se \u6771\u4eac \u05e2\u05d1\u05e8\u05d9\u05ea \U0001f600",
    "letters with a combining mark": "Ka\u0308se",
    "quotes and percent": "\"a\" 'b' 100%",
}


def shown(text: str) -> str:
    """The text with its hidden characters escaped."""

    def each(letter: str) -> str:
        if letter in SHORT:
            return SHORT[letter]
        return f"\\u{{{ord(letter):x}}}" if unicodedata.category(letter) in HIDDEN else letter

    return "".join(map(each, text))


def cases() -> list[Case]:
    """The cases of the file."""
    texts = dict(TEXTS)
    for name, (first, last) in RANGES.items():
        # A place that is not assigned may get a meaning later.
        letters = (chr(code) for code in range(first, last + 1))
        texts[name] = "".join(letter for letter in letters if unicodedata.category(letter) != "Cn")
    return [{"name": name, "text": text, "shown": shown(text)} for name, text in texts.items()]
