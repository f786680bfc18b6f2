"""Every message that a user can cause has one form, and a test of its words."""

import re

import messages
import pytest

ALL = list(messages.messages())
# Python's own words, and reasons that stand inside of other messages.
OTHER_FORMS = {
    "module \0 has no attribute \0",
    "config has no option \0",
    "\0 with Python objects",
    "columns \0",
    "there is no file \0",
    "\0 does not have it at line \0",
    "\0: \0",
}


def test_the_messages_are_found():
    assert len(ALL) > 140
    assert len({message.file for message in ALL}) > 25


@pytest.mark.parametrize("message", ALL, ids=lambda message: f"{message.file}:{message.line}")
def test_a_message_has_the_form_of_all(message):
    is_of_form = re.search(r"(; got .*, |; )expected .*\.?", message.text, re.DOTALL)
    assert is_of_form or message.text in OTHER_FORMS


@pytest.fixture(scope="module")
def words():
    return messages.expected_words()


@pytest.mark.parametrize("message", ALL, ids=lambda message: f"{message.file}:{message.line}")
def test_some_test_or_page_expects_its_words(message, words):
    assert message.problem in words, f"no test has {message.problem!r}"
