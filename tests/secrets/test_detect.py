"""What is a secret, what is none, and what masking leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.base.jsontext import dump
from hookonce.secrets.detect import (
    SECRET_KINDS,
    classify_field,
    find_secrets,
    is_mask,
    mask_secrets,
    match_hints,
    secret_mask,
    truncate_text,
)
from hookonce.secrets.patterns import SECRET_FORMATS as SHAPES
from hookonce.secrets.secret_names import classify_name
from tests.secrets.material import ALNUM, LONG, PUBLISHED, PW, TOLD, ends, written
from tests.secrets.ordinary import ORDINARY

AROUND = ["{}", "echo {} | pbcopy", "curl https://x.example/?q={}&y=1", "/srv/data/{}/file.txt", 'say "{}"', "a\n{}\nb", "x={};y=2"]
AROUND += ["a\\n{}\\nb", "'{}'", "<{}>", "({})", "ä {} ö"]


@pytest.mark.parametrize(("kind", "parts"), [(kind, parts) for kind, *parts in PUBLISHED])
def test_published_formats_are_found_wherever_they_stand(kind, parts):
    """
    A key in a published shape is masked in commands, paths, URLs and quotes; the words around it stay.
    """
    for around in AROUND:
        text = around.format(written(parts))

        clean, kinds = mask_secrets(text)

        assert not any(end in clean for end in ends(parts)), around
        assert kind in kinds or around != "{}"
        assert all(word in clean for word in ("curl", "pbcopy", "/srv/data/", "say", "ä") if word in text)


@pytest.mark.parametrize(("kind", "text", "secret"), TOLD)
def test_secrets_are_known_by_what_stands_before_them(kind, text, secret):
    """
    Headers, URLs, assignments, flags and key blocks keep their names and lose their secret.
    """
    clean, kinds = mask_secrets(text)

    assert secret in text
    assert secret not in clean
    assert kind in kinds
    assert secret_mask(kind) in clean


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_as_it_is(text):
    """
    Words, paths, hashes, ids, encoded data, variables and limits are no secrets.
    """
    assert (text, []) == mask_secrets(text)


def test_the_tables_are_as_long_as_promised():
    """
    At least 40 published formats, 150 secrets and 150 texts that hold none.
    """
    assert len(SHAPES) >= 40
    assert len(PUBLISHED) + len(TOLD) >= 150
    assert len(ORDINARY) >= 150
    assert {shape.kind for shape in SHAPES} == {kind for kind, *_ in PUBLISHED}
    assert len(ORDINARY) == len(set(ORDINARY))


def test_the_filter_sees_what_the_shapes_see_also_in_json():
    """
    One look at the JSON of a record is enough to know that there is nothing to look for.
    """
    for text in [written(parts) for _, *parts in PUBLISHED] + [text for _, text, _ in TOLD]:
        assert match_hints(text.encode())
        assert match_hints(dump({"a": [{"b": text}]}))
        tabs = text.replace(" ", "\t")
        assert match_hints(dump(tabs)) or not find_secrets(tabs)


def test_what_is_found_is_in_order_and_apart():
    """
    Places do not overlap, and two secrets in one text are two.
    """
    text = f"DB_PASSWORD={PW} API_TOKEN={LONG} ls"

    found = find_secrets(text)

    assert [PW, LONG] == [text[one.start : one.end] for one in found]
    assert ["password", "token"] == [one.kind for one in found]


def test_a_more_telling_kind_wins():
    """
    A token of GitHub is called so, also where it is assigned to a variable.
    """
    token = written(("ghp_", (ALNUM, 36)))

    assert ("export TOKEN=[secret:github-token] && ls", ["github-token"]) == mask_secrets(f"export TOKEN={token} && ls")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("password", "password"), ("DB_PASSWORD", "password"), ("dbPassword", "password"), ("X-Api-Key", "key"),
        ("apiKey", "key"), ("access_token", "token"), ("clientSecret", "secret"), ("Authorization", "key"),
        ("max_tokens", None), ("token_limit", None), ("next_page_token", None), ("primary_key", None), ("monkey", None),
        ("key", None), ("public_key", None), ("keyboard", None), ("passed", None), ("tokens", None), ("pass", None),
        ("SECRET_NAME", None), ("PASSWORD_FILE", None), ("secretary", None), ("compass", None), ("PATH", None), ("", None),
    ],
)  # fmt: skip
def test_names_that_announce_a_secret(name, kind):
    """
    A name says so with its last word.
    """
    assert kind == (classify_name(name) or (None,))[0]


def test_fields_hold_secrets_by_their_name():
    """
    A value that refers to a secret, or says that there is none, is none.
    """
    assert "password" == classify_field("password", "y")
    assert [None] * 5 == [classify_field("password", one) for one in ("", "$PW", "${PW}", "***", "null")]
    assert [None] * 3 == [classify_field(one, "x") for one in ("name", "file", "max_tokens")]


def test_masks_are_known_by_their_kind():
    """
    Only what we put there is taken for a mask.
    """
    assert all(is_mask(secret_mask(kind)) for kind in SECRET_KINDS)
    assert not any(map(is_mask, ("[secret:my own words]", "[secret:mother]", "secret:jwt", "[secret:jwt", "x [secret:jwt]")))


pieces = st.sampled_from(
    [written(parts) for _, *parts in PUBLISHED[::7]] + [text for _, text, _ in TOLD[::5]] + ORDINARY[::9] + list(SECRET_KINDS)
    + ["PASSWORD", "=", ":", " ", "\n", "--token", "[secret:jwt]", "[secret:", "]", '"', "'", "\\", "://", "@", "-u", "ä", "\ud800", "\t", "bearer"]
)  # fmt: skip
texts = st.lists(pieces | st.text(alphabet=st.characters(codec=None), max_size=6), max_size=8).map("".join)


@given(texts)
def test_masked_text_holds_no_secret_any_more(text):
    """
    Masking twice is masking once.
    """
    clean, kinds = mask_secrets(text)

    assert [] == find_secrets(clean)
    assert (clean, []) == mask_secrets(clean)
    assert (clean == text) == (kinds == [])


def test_a_secret_that_a_mask_uncovers_is_masked_too():
    """
    Two that stand together without anything between them: the first ends where the second begins.
    """
    assert ("[secret:aws-access-key][secret:github-token]", ["github-token", "aws-access-key"]) == mask_secrets("AKIAB2LXGEZDMRNCOU3B" + "ghp_" + "a1B2c3" * 6)


@pytest.mark.parametrize("text", ["curl -u me:pass1234'more5678' https://x.example", "curl -H 'Authorization: Bearer abc123def456ghi'\"more5678\""])
def test_the_rest_of_a_word_that_a_shell_joins_belongs_to_its_secret(text):
    """
    Behind a quotation a word goes on.
    """
    assert ("[secret:" in mask_secrets(text)[0], "more5678" in mask_secrets(text)[0]) == (True, False)


@pytest.mark.parametrize("length", [4, 20, 39])
def test_a_text_ends_before_a_secret_and_never_within_it(length):
    """
    Half of it would be known to nobody, and be half of it all the same.
    """
    token = "ghp_" + "a1B2c3" * 6
    text = f"use {token} now"

    assert "use " == truncate_text(text, length)
    assert (text[:2], f"use {token}", text) == tuple(truncate_text(text, size) for size in (2, 44, 99))


@given(texts)
def test_masks_are_all_that_masking_adds(text):
    """
    A masked text is at most as much longer as its masks are.
    """
    clean, kinds = mask_secrets(text)

    assert len(clean) <= len(text) + sum(len(secret_mask(kind)) for kind in kinds)
    assert set(kinds) <= SECRET_KINDS


@given(texts)
def test_where_the_filter_sees_nothing_there_is_nothing(text):
    """
    What is found in a text is hinted at by its JSON, in which blanks and quotation marks are written otherwise.
    """
    assert not find_secrets(text) or match_hints(dump({"a": [text]}))


@given(texts)
def test_places_lie_in_the_text(text):
    """
    Every place is inside the text, is not empty, and ends before the next one begins.
    """
    at = 0
    for kind, start, end in find_secrets(text):
        assert at <= start < end <= len(text)
        assert kind in SECRET_KINDS
        at = end


@given(st.binary(max_size=200), st.binary(max_size=200), st.sampled_from(PUBLISHED))
def test_the_filter_takes_any_bytes(before, after, published):
    """
    Bytes that are no text hide no secret among them.
    """
    _, *parts = published
    secret = written(parts).encode()

    assert set(match_hints(secret)) <= set(match_hints(before + b"\n" + secret + b"\n" + after))
    assert match_hints(secret)
