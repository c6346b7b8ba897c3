"""Say in whole sentences what the user should know before using the result."""

from __future__ import annotations

from .facts import Facts, fitting_shingle, fitting_threshold, short_limit

_SHARE_OF_SHORT = 0.2
_LOWEST_THRESHOLD = 0.5  # none below is proposed: texts that share less than half are hardly copies
_SOURCE_DOCUMENTS = 1000
_SOURCE_SHARE = 0.5


def warnings(facts: Facts) -> list[str]:
    """Return the warnings of a run, most important first; empty when there is nothing to say."""
    found = [
        _unused(facts),
        _short(facts),
        *_losses(facts),
        *_caps(facts),
        _set_aside(facts),
        _repeated(facts),
        _invalid(facts),
    ]
    return [sentence for sentence in found if sentence]


def _unused(facts: Facts) -> str:
    if not facts.unused:
        return ""
    named = ", ".join("--" + name.replace("_", "-") for name in facts.unused)
    what = "is" if len(facts.unused) == 1 else "are"
    return f"{named} {what} not looked at by --method {facts.method}, as it is set: the result is the same without."


def _short(facts: Facts) -> str:
    short = facts.short
    if facts.method != "minhash" or not short.texts or short.below_limit <= _SHARE_OF_SHORT * short.texts:
        return ""
    share = f"{short.below_limit / short.texts:.0%} of the texts"
    limit = short_limit(facts.threshold, facts.shingle)
    token = "word" if facts.unit == "word" else "character"
    if limit is None:
        return (
            f"At --threshold {facts.threshold:g} one changed {token} hides every text: only texts with exactly the "
            "same shingles are found. For near duplicates use a lower --threshold, for example 0.8."
        )
    text = (
        f"{share} have fewer than {limit} {token}s, and one changed {token} hides such a text at --threshold "
        f"{facts.threshold:g} with --shingle {facts.shingle}: its near duplicates are not found."
    )
    median = f"the median text ({short.median:,} {token}s)"
    if short.median >= limit:
        return f"{text} Use a smaller --shingle or a lower --threshold; {median} is long enough as it is."
    shingle, threshold = fitting_shingle(facts.threshold, short.median), fitting_threshold(facts.shingle, short.median)
    ways = [f"--shingle {shingle}"] if shingle else []
    ways += [f"--threshold {threshold:g}"] if threshold >= _LOWEST_THRESHOLD else []
    if not ways and (shingle := fitting_shingle(_LOWEST_THRESHOLD, short.median)):
        ways = [f"--shingle {shingle} --threshold {_LOWEST_THRESHOLD:g}"]
    if ways:
        return f"{text} Use a smaller --shingle or a lower --threshold: for {median} {' or '.join(ways)} would do."
    return f"{text} The median text has {short.median:,} {token}s: too few for any setting to see past one change."


def _losses(facts: Facts) -> list[str]:
    """Sources, or the whole input where there is no source column, that lose more than half."""
    read, removed = facts.counts["read"], facts.removed
    if facts.source_column is None:
        if not _heavy(read, removed):
            return []
        return [
            f"The input loses more than half: {removed:,} of {read:,} documents ({removed / read:.1%}) are removed. "
            "Look at some with `dejalu show` before using the result."
        ]
    return [
        f"{facts.source_column} = {_value(source.value)} loses more than half: {source.removed:,} of {source.read:,} "
        f"documents ({source.removed / source.read:.1%}) are removed. "
        "Look at some with `dejalu show` before using the result."
        for source in facts.sources
        if _heavy(source.read, source.removed)
    ]


def _heavy(read: int, removed: int) -> bool:
    return read >= _SOURCE_DOCUMENTS and removed > _SOURCE_SHARE * read


def _caps(facts: Facts) -> list[str]:
    return [
        f"{cap.skipped:,} {cap.what} were skipped by the cap of {cap.limit:,} ({cap.name}): "
        "some duplicates may be left."
        + (f" {cap.remedy}" if cap.remedy else "")
        for cap in facts.caps
        if cap.skipped
    ]


def _set_aside(facts: Facts) -> str:
    count = facts.counts["set_aside"]
    broken = [file.file for file in facts.files if not file.whole]
    text = ""
    if count:
        text = f"{_many(count, 'damaged record')} set aside and in no output: see set_aside.parquet."
    if broken:
        text += f"{' ' if text else ''}{_many(len(broken), 'file')} not read to the end, the first is {broken[0]}."
    return text


def _repeated(facts: Facts) -> str:
    repeated = facts.repeated
    if not repeated.ids:
        return ""
    examples = ", ".join(f"id {value} occurs {times:,} times" for value, times in repeated.most[:3])
    more = f"{repeated.ids:,} ids occur more than once: " if repeated.ids > 1 else "An id is repeated: "
    return f"{more}{examples}. Rows are removed by their place, so no other row with the same id is touched."


def _invalid(facts: Facts) -> str:
    invalid = facts.invalid
    if not invalid.texts:
        return ""
    first = ", ".join(f"{file} row {row:,}" for file, row in invalid.first[:3])
    return (
        f"{_many(invalid.texts, 'text')} not valid Unicode (invalid UTF-8 or a lone surrogate; first: {first}). "
        "What is invalid was replaced for comparing only; the original bytes are written back."
    )


def _many(count: int, noun: str) -> str:
    return f"1 {noun} was" if count == 1 else f"{count:,} {noun}s were"


def _value(value: str | None) -> str:
    return "null" if value is None else repr(value)
