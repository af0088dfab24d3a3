"""How many examples hypothesis draws, by `HYPOTHESIS_PROFILE`.

quick: two of five that a test asks for, the same in every run, the default. thorough: all that it asks for, the same
in every run, what the build adds. fresh: five times, new ones in every run; a failure it finds is printed with what
reproduces it.
"""

import math
import os

from hypothesis import HealthCheck, settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
TIMES = {"quick": 0.4, "thorough": 1, "fresh": 5}

settings.register_profile("quick", deadline=None, derandomize=True)
settings.register_profile("thorough", deadline=None, derandomize=True)
settings.register_profile("fresh", deadline=None, print_blob=True)
settings.load_profile(PROFILE)


def examples(number: int, *suppressed: HealthCheck) -> settings:
    """Return settings for `number` examples, times what the profile says."""
    return settings(max_examples=math.ceil(number * TIMES[PROFILE]), suppress_health_check=suppressed)
