"""What a release is, in words: the lines that its publisher is shown, read off the manifest alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlanon.methods.splu import binomial
from sqlanon.plain_values import plain, words

Manifest = Mapping[str, Any]
Table = tuple[str, Sequence[str], Sequence[Sequence[object]], Sequence[str]]
NOT_PROMISED = "that nobody learns who is in the table (quasi values are exact)"


def summarize_groups(manifest: Manifest, where: str) -> dict[str, str]:
    """Say what a release of groups is."""
    verified, guarantee, columns = manifest["verified"], manifest["guarantee"], manifest["columns"]
    return {
        "published": _published_groups(manifest, where),
        "method": f"{manifest['method']}, {words(plain(manifest['parameters']))}",
        "dropped rows": f"{manifest['dropped_rows']:,}",
        "promised": f"from these tables alone, nobody infers a person's {words(columns['sensitive'])} with confidence"
        f" above 1/{guarantee['l']} = {guarantee['confidence']:.1%}",
        "not promised": f"{NOT_PROMISED}, nor anything against"
        " who knows more, learns from the release, or has a second release of these people",
        "verified": f"group sizes, {verified['diversity']} different values at least, confidence"
        f" {verified['confidence']:.1%} at most, row order, agreement with the source",
        "error (RCE)": f"{verified['reconstruction_error']:,.1f},"
        f" {verified['reconstruction_error_ratio']:.6f} times its lower bound",
        "files": _files(manifest),
    }


_MISSING = "; who was in the table and is missing here had one of the frequent values of people alike"


def summarize_class_groups(manifest: Manifest, where: str) -> dict[str, str]:
    """Say what a release of groups is that were made class by class."""
    parameters, guarantee = manifest["parameters"], manifest["guarantee"]
    known = "; ".join(", ".join(columns) for columns in parameters["backgrounds"])
    shown = {name: value for name, value in parameters.items() if name not in ("l", "backgrounds")}
    column, dropped = words(manifest["columns"]["sensitive"]), manifest["dropped_rows"]
    share = dropped / max(1, manifest["rows"] + dropped)
    lines = summarize_groups({**manifest, "guarantee": {"l": parameters["l"], "confidence": 1}}, where)
    return {
        "published": lines["published"],
        "method": f"{manifest['method']}, {words(plain(shown))}",
        "against": f"who knows how {column} is distributed by {known}",
        "dropped rows": f"{dropped:,} ({share:.2%})" + (_MISSING if dropped else ""),
        "promised": f"nobody who knows one of these distributions infers a person's {column} with a posterior above"
        f" 1/{guarantee['r']:g} = {guarantee['posterior']:.1%}"
        if "posterior" in guarantee
        else f"the paper's condition for 1/{guarantee['r']:g} against who knows one of these distributions; it does not"
        " prove the posterior",
        "not promised": f"{NOT_PROMISED}, nor anything against who"
        " knows distributions by other columns or several of these at once, or has a second release of these people",
        **{name: lines[name] for name in ("verified", "error (RCE)", "files")},
    }


def summarize_randomized(manifest: Manifest, where: str) -> dict[str, str]:
    """Say what a release of randomized values is."""
    return {
        "published": f"{manifest['rows']:,} rows: {where}",
        "method": f"{manifest['method']}, {words(plain(manifest['parameters']))}",
        "dropped rows": f"{manifest['dropped_rows']:,}",
        "promised": f"counts of {words(manifest['columns']['sensitive'])}: small ones are far off, large ones near, as"
        " below; a row keeps its own value with probability 1/gamma",
        "not promised": f"{NOT_PROMISED}, nor that a frequent value"
        " stays secret, nor anything against who has a second release of these people",
        "verified": "row order, promise, agreement with the source",
        "files": _files(manifest),
    }


def randomized_tables(manifest: Manifest) -> list[Table]:
    """Return what is promised of each sensitive column's counts: title, heads, rows, closing lines."""
    return [binomial.table(column, promised) for column, promised in manifest["guarantee"].items()]


_UNCERTAIN = ("k", "l", "threshold", "undiverse", "refine", "max_alternatives", "order_alternatives", "draws")


def summarize_uncertain(manifest: Manifest, where: str) -> dict[str, str]:
    """Say what a release of uncertain rows is."""
    verified, guarantee, parameters = manifest["verified"], manifest["guarantee"], manifest["parameters"]
    return {
        "published": _published_groups(manifest, where),
        "method": f"{manifest['method']}, {words({name: parameters[name] for name in _UNCERTAIN})}",
        "dropped rows": f"{manifest['dropped_rows']:,}",
        "uncertain": f"{verified['uncertain_rows']:,} rows in a quasi-identifier,"
        f" {verified['uncertain_sensitive']:,} in {words(manifest['columns']['sensitive'])}",
        "suppressed": f"{verified['suppressed_rows']:,} rows in {verified['suppressed_groups']:,} groups",
        "promised": f"groups of at least {guarantee['k']} rows; where a value weighs {guarantee['threshold']} or more,"
        f" at least {guarantee['l']} different weights, or no quasi value",
        "not promised": "that nobody learns who is in the table (quasi values are exact, unless * or uncertain), nor"
        f" any confidence: in some group a value is held by {verified['largest_confidence']:.1%} of the rows",
        "verified": "group sizes, weights, what is uncertain, hierarchies, row order, agreement with the source",
        "files": _files(manifest),
    }


Summary = Callable[[Manifest, str], dict[str, str]]


def _published_groups(manifest: Manifest, where: str) -> str:
    verified = manifest["verified"]
    sizes = " to ".join(map(str, sorted({verified["smallest_group"], verified["largest_group"]})))
    return f"{manifest['rows']:,} rows in {manifest['groups']:,} groups of {sizes}: {where}"


def _files(manifest: Manifest) -> str:
    return ", ".join(f"{name} ({described['rows']:,} rows)" for name, described in manifest["files"].items())
