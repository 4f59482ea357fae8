"""The sample world: *The Salt Coast*, a book in six languages, with a chat and questions to try it on.

`salt-coast.json` is a SillyTavern world info file, so that loading it is an ordinary import. `chat.json` is a short
conversation in French, a language the lore is not written in. `questions.json` asks 24 questions, each in another
language than the entry that answers it, and gives that entry's title.
"""

from importlib.resources import files


def world() -> bytes:
    """Return the world as the bytes of a SillyTavern world info file: JSON, UTF-8, no byte order mark."""
    return files(__name__).joinpath("salt-coast.json").read_bytes()
