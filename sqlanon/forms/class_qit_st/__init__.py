"""Groups whose rows are of one class: alike in what an adversary's distributions are about."""

from sqlanon.forms.qit_st import GROUP_FIGURES, GroupForm
from sqlanon.forms.schema_parts import PROVED_OTHERWISE, SHARE
from sqlanon.plans.json_schema import either, number, record, whole, word

_FIGURES = {**GROUP_FIGURES, "classes": either(SHARE, PROVED_OTHERWISE), "signatures": whole()}


class ClassGroupForm(GroupForm):
    """QIT and ST of groups that are made class by class."""

    name = "class_qit_st"
    promise = either(record({"r": number(1), "posterior": SHARE}), record({"r": number(1), "condition": word("delta")}))
    figures = _FIGURES
    words = ("forms/class_qit_st/words.txt", *GroupForm.words)
    hidden_parameters = (*GroupForm.hidden_parameters, "l", "backgrounds", "classes")


CLASS_QIT_ST = ClassGroupForm()
