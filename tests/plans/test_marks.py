"""What is marked as not there is refused with the mark's reason, and what is refused is marked."""

import pytest

import sqlanon
from sqlanon.errors import UsageError
from sqlanon.forms import form_of_method
from sqlanon.methods import METHODS
from sqlanon.plans.engines import ENGINE, NEVER, OURS, Mark
from sqlanon.risks.candidates import CompareQuestion
from tests.conftest import METHODS as ASKED
from tests.conftest import ROOT
from tests.lacking import LACKS

NEWEST = ROOT / "fixtures" / "releases" / "0.2.0"


def test_marks_are_of_three_kinds_and_give_a_reason():
    lacking = [*LACKS.values(), *(method.lacks for method in METHODS.values())]
    lacking += [form_of_method(name).lacks for name in METHODS]
    marks = [mark for lacks in lacking for mark in lacks.values()]
    assert {mark.kind for mark in marks} == {OURS, ENGINE, NEVER} and all(mark.why for mark in marks)
    assert str(Mark(NEVER, "it tells")) == "*never*, because it tells"


@pytest.mark.parametrize("name", METHODS)
def test_a_method_lacks_what_it_marks(name):
    method, form = METHODS[name], form_of_method(name)
    assert ("macros" in method.lacks) is not bool(method.macros)
    assert ("ledger" in method.lacks) is not bool(method.followed)
    assert ("compare" in method.lacks) is (method.strength is None)
    assert ("complete" in form.lacks) is isinstance(form.completion, Mark)
    assert ("voters" in form.lacks) is (form.presence is None)


@pytest.mark.parametrize("name", METHODS)
def test_a_release_refuses_what_its_form_marks(name, con):
    method, form = METHODS[name], form_of_method(name)
    release = sqlanon.open(NEWEST / name, con=con)
    con.execute("create table people (age int)")
    requests = {
        "complete": lambda: release.complete(1),
        "voters": lambda: release.verify(voters="people"),
        "background": lambda: release.verify(background="people"),
        "compare": lambda: CompareQuestion(source="people", quasi=("age",), sensitive=("d",), methods=(name,)),
        "ledger": lambda: sqlanon.publish(name, con, "people", ledger="l", out="o", id="age",
                                          quasi=["age"], sensitive="age", **ASKED[name]),
    }  # fmt: skip
    for what, mark in {**form.lacks, **method.lacks}.items():
        if what in requests:
            with pytest.raises(UsageError) as refused:
                requests[what]()
            assert mark.why in str(refused.value), what
