"""What a text looks like: two that differ only in what nobody sees are one to whoever chooses between them."""

import unicodedata


def strip_unseen(text: str) -> str:
    """A text as it looks: letters composed (NFC), without invisible characters, each run of spaces as one."""
    seen = "".join(
        letter
        for letter in unicodedata.normalize("NFC", text)
        if unicodedata.category(letter) not in ("Cc", "Cf") or letter.isspace()
    )
    # Removing what stands between a letter and its accent brings them together.
    return " ".join(unicodedata.normalize("NFC", seen).split())
