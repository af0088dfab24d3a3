"""Groups whose rows are of one class: alike in what an adversary's distributions are about."""

from collections.abc import Mapping
from typing import Any, cast

from sqlanon.estimators import OF_CLASSES
from sqlanon.forms.qit_st import GROUP_FIGURES, GroupForm
from sqlanon.forms.schema_parts import PROVED_OTHERWISE, SHARE
from sqlanon.forms.summary_lines import tell_left_out
from sqlanon.plans.json_schema import either, number, record, whole, word
from sqlanon.verification.checks import Verification

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
        from sqlanon.verification import class_qit_st

        return cast(Verification, class_qit_st)

    def summary_of_one(self, manifest: Mapping[str, Any], where: str) -> dict[str, str]:
        """Say what a release of such groups is, and what rows left out give away."""
        from sqlanon.forms.class_qit_st.words import summarize_class_groups

        lines = summarize_class_groups(manifest, where)
        # of several columns others are left out, and it is said otherwise
        left_out = tell_left_out(manifest) if self.several is None else ""
        return lines | {"promised": lines["promised"] + left_out}


CLASS_QIT_ST = ClassGroupForm()
