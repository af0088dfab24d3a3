"""Tests of engines; what they compare with says where values differ, as an assertion in a test does."""

import pytest

pytest.register_assert_rewrite("tests.engines.hostile")
