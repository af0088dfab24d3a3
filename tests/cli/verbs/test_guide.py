"""The guides in the terminal: every one is listed, printed as it stands, rendered on a terminal."""

import re

import pytest

from sqlanon.cli.verbs import guide
from tests.command import Shell

TOPICS = guide.topics()


@pytest.fixture
def shell(tmp_path):
    (tmp_path / "tmp").mkdir()
    return Shell(tmp_path)


def test_without_a_topic_every_guide_is_a_line(shell):
    done = shell("guide")
    assert done.returncode == 0
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert lines == [[topic, guide.subject(path)] for topic, path in TOPICS.items()]
    assert sorted(TOPICS) == [topic for topic, _ in lines]
    assert len(TOPICS) == len(list(guide.PACKAGE.rglob("*.md")))


@pytest.mark.parametrize("topic", TOPICS)
def test_a_guide_begins_with_a_heading_and_the_question_that_it_answers(topic):
    heading, blank, sentence, after, *_ = TOPICS[topic].read_text(encoding="utf-8").splitlines()
    assert heading.startswith("# ")
    assert (blank, after) == ("", "")
    assert re.fullmatch(r"[A-Z][^`*\[]*\?" if topic != "changelog" else r"[A-Z].*\.", sentence)
    assert len(topic) + len(sentence) < 100


def test_there_are_few_guides_and_earlier_topics_lead_to_them(shell):
    assert len(TOPICS) <= 15 + 1  # and the changelog
    for earlier, topic in guide.MOVED.items():
        assert earlier not in TOPICS
        assert shell("guide", earlier).stdout == TOPICS[topic].read_text(encoding="utf-8")


def test_a_terminal_gets_it_rendered(shell):
    shown = shell("guide", "anatomy", FORCE_COLOR="1", COLUMNS="90").stdout
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert plain != shown
    assert "```" not in plain
    assert "sqlanon publish anatomy" in plain
    assert max(map(len, plain.splitlines())) <= 90


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [("anatomi", "; the nearest is 'anatomy'"), ("VERIFY", "; the nearest is 'verify'"), ("\x1b[31mzzzz", "")],
)
def test_an_unknown_topic_is_met_with_the_nearest_and_all(shell, asked, nearest):
    done = shell("guide", asked)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"there is no guide {asked!r}{nearest}; the guides are {', '.join(TOPICS)}" in done.stderr
    assert "\x1b" not in done.stderr
