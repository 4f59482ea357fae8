"""What our lore set promises to those who measure with it."""

from collections import Counter

import pytest

from benchmarks.recall import lore

PARTS = ("choosing", "judging")


def asks():
    return [ask for part in PARTS for ask in lore.trial(part).asks]


def test_the_set_is_large_and_in_many_languages():
    """There are 150 entries or more in eight languages or more, and 600 messages or more, Portuguese among both."""
    assert len(lore.corpus().entries) >= 150
    assert len(set(lore.corpus().languages)) >= 8
    assert len(asks()) >= 600
    spoken = Counter(ask.language for ask in asks())
    assert len(spoken) >= 8
    assert "pt" in spoken
    assert "pt" in lore.corpus().languages


def test_small_talk_and_other_topics_have_no_gold_and_all_else_has():
    """Gold is empty exactly for small talk and for questions off the topic."""
    for ask in asks():
        assert bool(ask.gold) == (ask.kind not in lore.WITHOUT_GOLD), ask.messages[-1].content
        assert ask.kind in lore.KINDS


def test_no_message_is_in_both_parts():
    """What chooses parameters does not judge them."""
    said = [{ask.messages for ask in lore.trial(part).asks} for part in PARTS]
    assert not said[0] & said[1]


@pytest.mark.parametrize("kind", ["anaphora_reply", "anaphora_user"])
def test_a_message_without_its_own_topic_has_an_earlier_one(kind):
    """A message whose topic is elsewhere comes with the messages that hold it."""
    assert all(len(ask.messages) > 1 for ask in asks() if ask.kind == kind)
