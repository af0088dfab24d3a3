"""How many examples hypothesis draws: few and always the same by default, many and new ones where they are asked for.

`HYPOTHESIS_PROFILE=thorough pytest` is what the build runs; a failure it finds is printed with what reproduces it.
"""

import os

from hypothesis import HealthCheck, settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
TIMES = {"quick": 1, "thorough": 5}

settings.register_profile("quick", deadline=None, derandomize=True)
settings.register_profile("thorough", deadline=None, print_blob=True)
settings.load_profile(PROFILE)


def examples(number: int, *suppressed: HealthCheck) -> settings:
    """Return settings for `number` examples, five times as many in the thorough profile."""
    return settings(max_examples=number * TIMES[PROFILE], suppress_health_check=suppressed)
