"""What a release is, in words: the lines that its publisher is shown, read off the manifest alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlanon.plain_values import plain, words
from sqlanon.plans.manifest import departed
from sqlanon.wording import advice, option

Manifest = Mapping[str, Any]
Table = tuple[str, Sequence[str], Sequence[Sequence[object]], Sequence[str]]
NOTABLE_LOSS = 0.05  # of the rows: from which share on the promise has to say what it is not about
UNCHECKED = "; this is per row, for whether a person has several was not looked at" + advice(
    f" (say {option('id')}, and it is)"
)
NOT_PROMISED = "that nobody learns who is in the table (quasi values are exact)"


def summarize_groups(manifest: Manifest, where: str) -> dict[str, str]:
    """Say what a release of groups is."""
    verified, guarantee, columns = manifest["verified"], manifest["guarantee"], manifest["columns"]
    return {
        "published": _published_groups(manifest, where),
        "method": _method(manifest, manifest["parameters"]),
        "dropped rows": _dropped(manifest),
        "promised": f"from {_tables(manifest)}, nobody infers a person's {words(columns['sensitive'])} with confidence"
        f" above 1/{guarantee['l']} = {guarantee['confidence']:.1%}{_limits(manifest)}",
        "not promised": f"{NOT_PROMISED}, nor anything against"
        f" who knows more, learns from the release, or has {_second(manifest)}",
        "verified": f"group sizes, {verified['diversity']} different values at least, confidence"
        f" {verified['confidence']:.1%} at most, row order{_agreement(verified, 'quasi_rows')}",
        "error (RCE)": f"{verified['reconstruction_error']:,.1f},"
        f" {verified['reconstruction_error_ratio']:.6f} times its lower bound",
        "files": _files(manifest),
    }


def _tables(manifest: Manifest) -> str:
    """Say what a promise is about: these tables, or all releases of their ledger."""
    number = manifest["parameters"].get("release")
    return "these tables alone" if number is None else f"this release ({number}) and all others of its ledger together"


def _together(manifest: Manifest) -> str:
    return f"from {_tables(manifest)}, " if "release" in manifest["parameters"] else ""


def _second(manifest: Manifest) -> str:
    if "release" not in manifest["parameters"]:
        return "a second release of these people"
    words = "a release of these people that is not of its ledger, or knows that values decide who leaves"
    return words + WAITED.get(manifest["parameters"].get("waiting", "alone"), "")


# what is not promised to those who came new and were not shown at once
WAITED = {
    "alone": ", or knows who waited to be shown, for who did most likely has a value frequent among those who came",
    "together": ", or knows how values are distributed among those who wait (how many came decides who waits)",
}


_MISSING = "; who was in the table and is missing here had {value}one of the frequent values of people alike"


def summarize_class_groups(manifest: Manifest, where: str) -> dict[str, str]:
    """Say what a release of groups is that were made class by class."""
    parameters, guarantee = manifest["parameters"], manifest["guarantee"]
    backgrounds = "; ".join(", ".join(columns) for columns in parameters["backgrounds"])
    plain_parameters = {
        name: value for name, value in parameters.items() if name not in ("l", "backgrounds", "classes")
    }
    column = words(manifest["columns"]["sensitive"])
    # rows without a value were left out for that, whatever is frequent
    missing = _MISSING.format(value=f"no {column}, or " if parameters["nulls"] == "drop" else "")
    lines = summarize_groups({**manifest, "guarantee": {"l": parameters["l"], "confidence": 1}}, where)
    return {
        "published": lines["published"],
        "method": _method(manifest, plain_parameters),
        "against": f"who knows how {column} is distributed by {backgrounds}",
        "dropped rows": _dropped(manifest) + (missing if manifest["dropped_rows"] else ""),
        "promised": (
            f"{_together(manifest)}nobody who knows one of these distributions infers a person's {column} with a"
            " posterior above"
            f" 1/{guarantee['r']:g} = {guarantee['posterior']:.1%}"
            if "posterior" in guarantee
            else f"the paper's condition for 1/{guarantee['r']:g} against who knows one of these distributions; it does"
            " not prove the posterior"
        )
        + _limits(manifest),
        "not promised": f"{NOT_PROMISED}, nor anything against who"
        f" knows distributions by other columns or several of these at once, or has {_second(manifest)}",
        **{name: lines[name] for name in ("verified", "error (RCE)", "files")},
    }


def summarize_randomized(manifest: Manifest, where: str) -> dict[str, str]:
    """Say what a release of randomized values is."""
    return {
        "published": f"{manifest['rows']:,} rows: {where}",
        "method": _method(manifest, manifest["parameters"]),
        "dropped rows": _dropped(manifest),
        "promised": f"{_together(manifest)}counts of {words(manifest['columns']['sensitive'])}: small ones are far off,"
        f" large ones near, as below; a row keeps its own value with probability 1/gamma{_ever(manifest)}"
        f"{_limits(manifest)}",
        "not promised": f"{NOT_PROMISED}, nor that a frequent value"
        f" stays secret, nor anything against who has {_second(manifest)}",
        "verified": f"row order, promise{_agreement(manifest['verified'], 'retention')}",
        "files": _files(manifest),
    }


def _ever(manifest: Manifest) -> str:
    """Say whom the promised counts are of, where decoy groups have lost members."""
    departures = departed(manifest)
    if not departures:
        return ""
    return (
        f"; counts are of the {manifest['rows'] + departures:,} persons whom releases of the ledger have shown, and"
        " small ones of those left are as far off; large ones of those left spread up to 1.42 times as much"
    )


def randomized_tables(manifest: Manifest) -> list[Table]:
    """Return what is promised of each sensitive column's counts: title, heads, rows, closing lines."""
    from sqlanon.methods.splu import binomial  # of one method

    return [binomial.table(column, promised) for column, promised in manifest["guarantee"].items()]


_UNCERTAIN = (
    *("k", "l", "threshold", "undiverse", "max_group", "refine", "max_alternatives", "order_alternatives", "draws"),
)


def summarize_uncertain(manifest: Manifest, where: str) -> dict[str, str]:
    """Say what a release of uncertain rows is."""
    verified, guarantee, parameters = manifest["verified"], manifest["guarantee"], manifest["parameters"]
    exact = "unless * or uncertain" if "generalized" not in verified else "unless uncertain or generalized"
    return {
        "published": _published_groups(manifest, where),
        "method": f"{manifest['method']}, {words({name: parameters[name] for name in _UNCERTAIN})}",
        "dropped rows": _dropped(manifest),
        "uncertain": f"{verified['uncertain_rows']:,} rows in a quasi-identifier,"
        f" {verified['uncertain_sensitive']:,} in {words(manifest['columns']['sensitive'])}",
        **_veiled(verified),
        "promised": f"groups of at least {guarantee['k']} rows; where a value weighs {guarantee['threshold']} or more,"
        f" at least {guarantee['l']} different weights, or no quasi value{_limits(manifest)}",
        "not promised": f"that nobody learns who is in the table (quasi values are exact, {exact}), nor"
        f" any confidence: in some group a value is held by {verified['largest_confidence']:.1%} of the rows"
        + _known_for_certain(verified),
        "verified": "group sizes, weights, what is uncertain, hierarchies, row order, agreement with the source",
        "files": _files(manifest),
    }


def _veiled(verified: Mapping[str, Any]) -> dict[str, str]:
    """Say how many rows do not show their own values, by the way that was taken."""
    if "generalized" in verified:
        figures = verified["generalized"]
        return {"generalized": f"{figures['generalized_rows']:,} rows in {figures['generalized_groups']:,} groups"}
    return {"suppressed": f"{verified['suppressed_rows']:,} rows in {verified['suppressed_groups']:,} groups"}


def _known_for_certain(verified: Mapping[str, Any]) -> str:
    if "one_value" not in verified:
        return ""
    groups, rows = (verified["one_value"][name] for name in ("groups_of_one_value", "rows_known_for_certain"))
    return f"; in {groups:,} groups all rows have one value, below the threshold, and {rows:,} rows' value is known"


def _agreement(verified: Mapping[str, Any], check: str) -> str:
    return ", agreement with the source" if check in verified else ""


_BOXES = ("k", "l", "partition", "nulls")


def summarize_boxes(manifest: Manifest, where: str) -> dict[str, str]:
    """Say what a release of generalized rows is."""
    verified, guarantee, parameters = manifest["verified"], manifest["guarantee"], manifest["parameters"]
    sizes = " to ".join(map(str, sorted({verified["k"], verified["largest_class"]})))
    column = words(manifest["columns"]["sensitive"])
    diverse = f", with at least {guarantee['l']} different values of {column}" if guarantee["l"] > 1 else ""
    return {
        "published": f"{manifest['rows']:,} rows in {manifest['groups']:,} boxes of {sizes}: {where}",
        "method": _method(manifest, {name: parameters[name] for name in _BOXES}),
        "dropped rows": _dropped(manifest),
        "promised": f"every row shares its box with others, at least {guarantee['k']} rows in all{diverse}"
        + _limits(manifest),
        "not promised": f"any confidence: in some box one value of {column} is held by"
        f" {verified['largest_confidence']:.1%} of the rows; nor anything against who knows more, or has a"
        " second release of these people",
        "verified": f"class sizes, different values, boxes, row order{_agreement(verified, 'quasi_values')}",
        "files": _files(manifest),
    }


Summary = Callable[[Manifest, str], dict[str, str]]


def _method(manifest: Manifest, parameters: Mapping[str, Any]) -> str:
    # how many rows a person has stands in the promise, which is about rows
    plain_parameters = {name: value for name, value in parameters.items() if name != "rows_per_person"}
    return f"{manifest['method']}, {words(plain(plain_parameters))}"


def _dropped(manifest: Manifest) -> str:
    """Say how many rows were left out, and which share of the source's that is."""
    dropped = manifest["dropped_rows"]
    return f"{dropped:,} ({_loss(manifest):.2%})" if dropped else "0"


def _loss(manifest: Manifest) -> float:
    """Return the share of the source's rows that were left out."""
    rows, dropped = int(manifest["rows"]), int(manifest["dropped_rows"])
    return dropped / max(1, rows + dropped)


def _limits(manifest: Manifest) -> str:
    """Say what a promise leaves open: whose rows they are, and the people whose rows are not there."""
    persons = manifest["parameters"].get("rows_per_person")
    loss = _loss(manifest)
    missing = f"; {loss:.1%} of the rows are left out, and who knows who was in the table sees whose"
    return (
        (UNCHECKED if persons == "unchecked" else "")
        + ("; this is per row, and some persons have several" if persons == "many" else "")
        + (missing if loss > NOTABLE_LOSS else "")
    )


def _published_groups(manifest: Manifest, where: str) -> str:
    verified = manifest["verified"]
    sizes = " to ".join(map(str, sorted({verified["smallest_group"], verified["largest_group"]})))
    return f"{manifest['rows']:,} rows in {manifest['groups']:,} groups of {sizes}: {where}"


def _files(manifest: Manifest) -> str:
    files = manifest["files"].items()
    return ", ".join(f"{name} ({entry['rows']:,} rows)" if "rows" in entry else name for name, entry in files)
