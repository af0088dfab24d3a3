"""What engines, scripts and macros lack, and why, as the guide of engines shows it."""

from collections.abc import Mapping

from sqlanon.plans.engines import ENGINE, ENGINES, OURS, Mark

_DRIVER = Mark(OURS, "Python decides after each statement what the next one asks")
_ONE_SELECT = Mark(ENGINE, "a macro is one SELECT")
# what scripts and macros lack, beside what engines do
LACKS: Mapping[str, Mapping[str, Mark]] = {
    **{name: declared.lacks for name, declared in ENGINES.items()},
    "script": dict.fromkeys(("check", "attack", "report", "compare", "complete"), _DRIVER),
    "macros": dict.fromkeys(("verify", "estimate", "attack", "report", "compare", "complete"), _ONE_SELECT),
}
