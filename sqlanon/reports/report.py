"""Make the page about a release, and write it where it was asked for."""

import os
from collections.abc import Sequence

from sqlanon.adversary.findings import Attack
from sqlanon.bounded_files import UnfitFileError, parse_json, read_text
from sqlanon.errors import SourceError, UsageError
from sqlanon.releases.release import Release
from sqlanon.reports.compared_lines import read_candidates, read_comparison
from sqlanon.reports.facts import gather
from sqlanon.reports.page import Page
from sqlanon.wording import option


def make_page(
    release: Release,
    against: object = None,
    identifier: tuple[str, ...] = (),
    others: Sequence[Release] = (),
    comparison: str | os.PathLike[str] | None = None,
    attack: Attack | str | os.PathLike[str] | None = None,
    sample: int | None = None,
) -> Page:
    """Return the page about a release; with the source, a comparison or scored attacks it is internal.

    attack: what was found before, or the file that holds it; nothing is attacked again. sample: how many rows orders
    and learning look at, 200,000 if None.

    Raises what verification, attacks and answers raise.
    """
    compared = [] if comparison is None else read_comparison(comparison)
    candidates = [] if comparison is None else read_candidates(comparison)
    earlier_attack = attack if attack is None or isinstance(attack, Attack) else read_attack(attack)
    if earlier_attack is not None and others:
        raise UsageError(f"{option('attack')} holds what was found with other releases; name them to attack instead")
    if earlier_attack is not None and sample is not None:
        raise UsageError(f"{option('attack')} holds what was found before; give {option('sample')} to attack instead")
    return Page(
        gather(
            release, against, identifier=identifier, others=others, compared=compared, attack=earlier_attack,
            candidates=candidates, sample=sample,
        )
    )  # fmt: skip


def read_attack(path: str | os.PathLike[str]) -> Attack:
    """Return what a file holds that `attack` printed as JSON; raise SourceError for any other."""
    try:
        return Attack.from_plain(parse_json(read_text(path)))
    except UnfitFileError as error:
        raise SourceError(f"cannot read {str(path)!r}: {error.strerror}") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        words = "holds no attack; `attack` prints one with its"
        raise SourceError(f"{str(path)!r} {words} {option('format', 'json')}") from None
