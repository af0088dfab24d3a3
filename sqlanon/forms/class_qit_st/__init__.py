"""Groups whose rows are of one class: alike in what an adversary's distributions are about."""

from typing import cast

from sqlanon.forms.qit_st import GROUP_FIGURES, GroupForm
from sqlanon.forms.schema_parts import PROVED_OTHERWISE, SHARE
from sqlanon.plans.json_schema import either, number, record, whole, word
from sqlanon.verification.checks import Verification

_FIGURES = {**GROUP_FIGURES, "classes": either(SHARE, PROVED_OTHERWISE), "signatures": whole()}


class ClassGroupForm(GroupForm):
    """QIT and ST of groups that are made class by class."""

    name = "class_qit_st"
    promise = either(record({"r": number(1), "posterior": SHARE}), record({"r": number(1), "condition": word("delta")}))
    figures = _FIGURES
    words = ("forms/class_qit_st/words.txt", *GroupForm.words)
    hidden_parameters = (*GroupForm.hidden_parameters, "l", "backgrounds", "classes")

    @property
    def verification_of_one(self) -> Verification:
        """Return what verifies the tables of one sensitive column."""
        from sqlanon.forms.class_qit_st import verification

        return cast(Verification, verification)


CLASS_QIT_ST = ClassGroupForm()
