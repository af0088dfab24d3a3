"""Groups whose rows are of one class: alike in what an adversary's distributions are about."""

from collections.abc import Mapping
from typing import Any, cast

from sqlanon.estimators import OF_CLASSES
from sqlanon.forms.qit_st import GROUP_FIGURES, GroupForm
from sqlanon.forms.qit_st.words import summarize_groups
from sqlanon.forms.schema_parts import PROVED_OTHERWISE, SHARE
from sqlanon.forms.summary_lines import (
    Manifest,
    count_dropped,
    name_method,
    name_second,
    name_together,
    tell_left_out,
    tell_limits,
    tell_presence,
)
from sqlanon.plain_values import words
from sqlanon.plans.json_schema import either, number, record, whole, word
from sqlanon.verification.checks import Verification

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
        "method": name_method(manifest, plain_parameters),
        "against": f"who knows how {column} is distributed by {backgrounds}",
        "dropped rows": count_dropped(manifest) + (missing if manifest["dropped_rows"] else ""),
        "promised": (
            f"{name_together(manifest)}nobody who knows one of these distributions infers a person's {column} with a"
            " posterior above"
            f" 1/{guarantee['r']:g} = {guarantee['posterior']:.1%}"
            if "posterior" in guarantee
            else f"the paper's condition for 1/{guarantee['r']:g} against who knows one of these distributions; it does"
            " not prove the posterior"
        )
        + tell_limits(manifest),
        "not promised": f"{tell_presence(manifest)}, nor anything against who"
        f" knows distributions by other columns or several of these at once, or has {name_second(manifest)}",
        **{name: lines[name] for name in ("verified", "error (RCE)", "files")},
    }


_FIGURES = {**GROUP_FIGURES, "classes": either(SHARE, PROVED_OTHERWISE), "signatures": whole()}


class ClassGroupForm(GroupForm):
    """QIT and ST of groups that are made class by class."""

    name = "class_qit_st"
    estimators = OF_CLASSES
    promise = either(record({"r": number(1), "posterior": SHARE}), record({"r": number(1), "condition": word("delta")}))
    figures = _FIGURES

    @property
    def verification_of_one(self) -> Verification:
        """Return what verifies the tables of one sensitive column."""
        from sqlanon.forms.class_qit_st import verification

        return cast(Verification, verification)

    def summary_of_one(self, manifest: Mapping[str, Any], where: str) -> dict[str, str]:
        """Say what a release of such groups is, and what rows left out give away."""

        lines = summarize_class_groups(manifest, where)
        # of several columns others are left out, and it is said otherwise
        left_out = tell_left_out(manifest) if self.several is None else ""
        return lines | {"promised": lines["promised"] + left_out}


CLASS_QIT_ST = ClassGroupForm()
