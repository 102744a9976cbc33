"""E-mail addresses are masked in texts that are kept, and nothing else is."""

import time

import pytest

from hookonce.store.privacy.addresses import mask_addresses, mask_text
from tests.dispatch.event_factory import event


@pytest.mark.covers("AH-53")
@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("bob@example.com", "[e-mail]"),
        ("/home/bob.b+x@example.co.uk/w", "/home/[e-mail]/w"),
        ("file:///home/bob%40example.com/w", "file:///home/[e-mail]/w"),
        ("git config user.email 'o'neil@example.com'", "git config user.email '[e-mail]'"),
        ("a@b.example,c@d.example; e@f.example", "[e-mail],[e-mail]; [e-mail]"),
        ("Bob <bob@example.com>", "Bob <[e-mail]>"),
        (r"grep bob\\@example.com", "grep [e-mail]"),
        ('"bob"@example.com', '"[e-mail]'),
        ("müller@bücher.example", "[e-mail]"),
        ("mailto:bob@example.com?subject=x", "mailto:[e-mail]?subject=x"),
        ("bob@example.com.", "[e-mail]."),
        ("--author=bob@example.com", "--author=[e-mail]"),
        ("@bob@mastodon.example", "@[e-mail]"),
    ],
)
def test_an_address_is_masked_wherever_it_stands(text, masked):
    assert masked == mask_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "npm install lodash@4.17.21 @scope/pkg@^1.0.0",
        "git clone git@github.com:org/repo.git",
        "ssh root@buildhost uptime",
        "pip install 'x @ https://example.com/x.whl'",
        "uses: actions/checkout@v4",
        "@dataclass(frozen=True)",
        "a @ b.c",
        "100%40",
        "user@",
        "@example.com",
        "",
    ],
)
def test_what_is_no_address_stays(text):
    assert text == mask_text(text)


def test_every_text_and_key_of_an_event_is_looked_at():
    told = event(cwd="/home/a@b.example", data={"k@b.example": [{"x": "a@b.example"}, 1]})
    masked = mask_addresses(told)

    assert ("/home/[e-mail]", {"[e-mail]": [{"x": "[e-mail]"}, 1]}) == (masked.cwd, masked.data)
    assert told.tool == masked.tool


def test_long_texts_of_signs_cost_no_more_than_their_length():
    begun = time.process_time()
    for text in ("a" * 200_000 + "@", "@" * 30_000, "a@" * 30_000, "a@" + "b." * 100_000, "\\" * 100_000, "%40" * 30_000):
        mask_text(text)
    assert time.process_time() - begun < 2
