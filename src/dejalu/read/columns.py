"""Which columns of a file hold the text, the id and what else is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import UsageError

TEXT_NAMES = ("text", "content", "body")
ID_NAME = "id"
SAMPLE = 60  # characters of a sample value in messages


@dataclass(frozen=True, slots=True)
class Ask:
    """What the user asked for; () and None mean: find out."""

    text: tuple[str, ...] = ()
    id: str | None = None
    extra: tuple[str, ...] = ()
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class Columns:
    """What is read of one file, decided once and then handed to every task; plain values, so it goes through JSON.

    text       names of the text columns (joined when several, see `dejalu.read.arrow.join`)
    id         name of the id column, or None
    extra      names of further columns
    encoding   of csv and txt; "utf-8" elsewhere
    bom        bytes of byte order mark to pass over
    delimiter  csv: the character between fields
    places     csv: place of each of `names` in the record
    fields     csv: number of fields of a record
    damage     the file cannot be read at all, and why (--on-error skip)
    """

    text: tuple[str, ...]
    id: str | None = None
    extra: tuple[str, ...] = ()
    encoding: str = "utf-8"
    bom: int = 0
    delimiter: str = ""
    places: tuple[int, ...] = ()
    fields: int = 0
    damage: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Every column to be read, once each: text, id, extra."""
        return tuple(dict.fromkeys((*self.text, *self.others)))

    @property
    def others(self) -> tuple[str, ...]:
        """The columns beside the text, once each: id, extra."""
        return tuple(dict.fromkeys((*((self.id,) if self.id is not None else ()), *self.extra)))

    def to_json(self) -> dict[str, Any]:
        """Plain values for json.dumps."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Columns:
        """The inverse of `to_json`, tuples restored."""
        restored: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        return cls(**restored)


@dataclass(frozen=True, slots=True)
class Offer:
    """A column that a file has: its type in words, whether it can be text, whether the type is a string proper."""

    type: str
    text: bool
    string: bool


def choose(
    file: str,
    offers: Mapping[str, Offer],
    ask: Ask,
    *,
    find: Callable[[str], Offer | None],
    sample: Callable[[str], str | None],
) -> Columns:
    """Decide the columns of one file.

    Args:
        offers: the top-level columns, in the file's order.
        find: looks a name up, nested `a.b` included.
        sample: gives a value of a string column, for messages.

    Raises:
        UsageError: a column that was asked for is not there; which column is the text cannot be told.
    """
    for name in (*ask.text, *((ask.id,) if ask.id is not None else ()), *ask.extra):
        if find(name) is None:
            raise UsageError(f"{file}: has no column {name!r}; it has {_names(offers)}")
    if ask.text:
        for name in ask.text:
            offer = find(name)
            if offer is not None and not offer.text:
                raise UsageError(
                    f"{file}: column {name!r} holds {offer.type}, not text; {_strings(offers, sample)}; "
                    "choose with --text-column NAME"
                )
        text = ask.text
    else:
        text = (_text(file, offers, sample),)
    id_column = ask.id if ask.id is not None else ID_NAME if ID_NAME in offers else None
    return Columns(text, id_column, ask.extra)


def _text(file: str, offers: Mapping[str, Offer], sample: Callable[[str], str | None]) -> str:
    for name in TEXT_NAMES:
        if name in offers and offers[name].text:
            return name
    strings = [name for name, offer in offers.items() if offer.string]
    if len(strings) == 1:
        return strings[0]
    raise UsageError(
        f"{file}: cannot tell which column is the text: none is named {', '.join(TEXT_NAMES[:-1])} or "
        f"{TEXT_NAMES[-1]}, and {_strings(offers, sample)}; choose with --text-column NAME"
    )


def _strings(offers: Mapping[str, Offer], sample: Callable[[str], str | None]) -> str:
    strings = [name for name, offer in offers.items() if offer.string]
    if not strings:
        types = ", ".join(f"{name} ({offer.type})" for name, offer in offers.items())
        return f"no column holds strings (columns: {types or 'none'})"
    shown = "; ".join(f"{name}: {_cut(sample(name))}" for name in strings)
    return f"the string columns are {shown}" if len(strings) > 1 else f"the only string column is {shown}"


def _names(offers: Mapping[str, Offer]) -> str:
    return ", ".join(offers) if offers else "no columns"


def _cut(value: str | None) -> str:
    if value is None:
        return "null"
    return repr(value if len(value) <= SAMPLE else value[: SAMPLE - 1] + "…")


def named(ask: Sequence[str] | str | None) -> tuple[str, ...]:
    """A tuple of names from what a caller passed: one name, several, or none."""
    if ask is None:
        return ()
    return (ask,) if isinstance(ask, str) else tuple(ask)
