"""Groups whose rows are of one class: alike in what an adversary's distributions are about."""

import math
from typing import Any

from sqlanon.errors import ReleaseError
from sqlanon.forms.form import PROVED_OTHERWISE, SHARE
from sqlanon.forms.qit_st import GROUP_FIGURES, GroupForm
from sqlanon.models.shapes import either, number, record, whole, word
from sqlanon.plans.manifest import Manifest

_FIGURES = {**GROUP_FIGURES, "classes": either(SHARE, PROVED_OTHERWISE), "signatures": whole()}


def joins_signatures(manifest: Manifest) -> bool:
    """Tell whether rows of one class share only the distribution of their signatures."""
    return bool(manifest["parameters"].get("classes") == "distributions")


class ClassGroupForm(GroupForm):
    """QIT and ST of groups that are made class by class."""

    name = "class_qit_st"
    promise = either(record({"r": number(1), "posterior": SHARE}), record({"r": number(1), "condition": word("delta")}))
    figures = _FIGURES
    words = ("forms/class_qit_st/words.txt", *GroupForm.words)
    hidden_parameters = (*GroupForm.hidden_parameters, "l", "backgrounds", "classes")

    def check_manifest(self, manifest: Manifest, where: str) -> None:
        """Refuse a manifest without an r above 1 and at most its l, or that does not name its backgrounds' columns."""
        super().check_manifest(manifest, where)
        parameters = manifest["parameters"]
        if not parameters.get("r", math.inf) <= parameters["l"]:
            raise ReleaseError(f"the manifest of {where} does not say an r above 1 and at most its l")
        if "backgrounds" not in parameters:
            raise ReleaseError(f"the manifest of {where} does not name its backgrounds' columns")

    def guarantee(self, manifest: Manifest, rows: int) -> dict[str, Any]:
        """Return what is promised, as numbers; where groups of 0.2.0 mix classes it may be the paper's condition."""
        parameters = manifest["parameters"]
        if parameters.get("guarantee") == "delta" and (parameters.get("repair") or joins_signatures(manifest)):
            return {"r": parameters["r"], "condition": "delta"}
        return {"r": parameters["r"], "posterior": 1 / parameters["r"]}


CLASS_QIT_ST = ClassGroupForm()
