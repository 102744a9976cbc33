"""E-mail addresses are masked in texts that are kept, and nothing else is."""

import time

import pytest

from hookonce.model import Decision, HookRun, Stored, User
from hookonce.store.privacy.addresses import mask_addresses, mask_text
from tests.dispatch.event_factory import event


@pytest.mark.covers("AH-53")
@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("bob@example.com", "[e-mail]"),
        ("/home/bob.b+x@example.co.uk/w", "/home/[e-mail]/w"),
        ("file:///home/bob%40example.com/w", "file:///home/[e-mail]/w"),
        ("?next=%2Fu%2Fbob%2540example.com", "?next=[e-mail]"),
        ("git config user.email 'o'neil@example.com'", "git config user.email '[e-mail]'"),
        ("a@b.example,c@d.example; e@f.example", "[e-mail],[e-mail]; [e-mail]"),
        ("Bob <bob@example.com>", "Bob <[e-mail]>"),
        (r"grep bob\\@example.com", "grep [e-mail]"),
        ('"bob"@example.com', "[e-mail]"),
        ('to "bob b"@example.com', "to [e-mail]"),
        ("müller@bücher.example", "[e-mail]"),
        ("mailto:bob@example.com?subject=x", "mailto:[e-mail]?subject=x"),
        ("bob@example.com.", "[e-mail]."),
        ("--author=bob@example.com", "--author=[e-mail]"),
        ("@bob@mastodon.example", "@[e-mail]"),
        ("bob@163.com", "[e-mail]"),
        ("bob@xn--bcher-kva.xn--p1ai/x", "[e-mail]/x"),
        # other signs, and other dots
        ("bob\uff20example.com", "[e-mail]"),
        ("bob\ufe6bexample.com", "[e-mail]"),
        ("bob\uff20example\uff0ecom", "[e-mail]"),
        ("bob&#64;example.com bob&#x40;example.com bob&commat;example.com", "[e-mail] [e-mail] [e-mail]"),
        (r"bob\u0040example.com bob\x40example.com bob\\u0040example.com", "[e-mail] [e-mail] [e-mail]"),
        # hosts without a dot, where the text says that it is mail
        ("mail bob@localhost, bob@localhost:25", "mail [e-mail], [e-mail]:25"),
        ("bob@localhost.localdomain", "[e-mail]"),
        ("--author 'Bob <bob@laptop>'", "--author 'Bob <[e-mail]>'"),
        ("Bob <bob@laptop.(none)>", "Bob <[e-mail]>"),
        ("mailto:bob@intranet", "mailto:[e-mail]"),
        ("git config user.email bob@laptop", "git config user.email [e-mail]"),
        ("GIT_AUTHOR_EMAIL=bob@laptop git commit", "GIT_AUTHOR_EMAIL=[e-mail] git commit"),
        ("""{"email": "bob@laptop"}""", """{"email": "[e-mail]"}"""),
        ("bob@[192.0.2.1] bob@[IPv6:2001:db8::1]", "[e-mail] [e-mail]"),
        # a login at a domain cannot be told from an address
        ("ssh bob@build.example.com uptime", "ssh [e-mail] uptime"),
        ("scp x bob@build.example.com:/srv", "scp x [e-mail]:/srv"),
        ("https://bob@dev.example.com/org/x.git", "https://[e-mail]/org/x.git"),
        # an address that a file is named after
        ("/backup/bob@example.com.json", "/backup/[e-mail].json"),
        ("bob@example.com.tar.gz", "[e-mail].gz"),
    ],
)
def test_an_address_is_masked_wherever_it_stands(text, masked):
    assert masked == mask_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "npm install lodash@4.17.21 @scope/pkg@^1.0.0 react@next vue@v3.0.0-beta.rc",
        "npm install pkg@1.2.3-beta.next 'pkg@npm:other@2.0.0-rc.one'",
        "node_modules/.pnpm/@babel+core@7.24.0/node_modules/@babel/core",
        "go install example.com/cmd/x@latest example.com/cmd/x@v1.2.3-pre.release",
        "git clone git@github.com:org/repo.git",
        "git clone ssh://git@github.com/org/repo.git git+ssh://git@example.com/x",
        "hg clone ssh://hg@bitbucket.org/org/repo",
        "ssh root@buildhost uptime; ssh bob@192.0.2.1; scp x bob@host:/srv",
        "bob@laptop:~/src$ make",
        "psql postgres://app@localhost:5432/db",
        "pip install 'x @ https://example.com/x.whl'",
        "uses: actions/checkout@v4",
        "docker pull repo/image@sha256:0a1b",
        "systemctl status getty@tty1.service user@1000.service backup@home.timer",
        "src/icons/logo@2x.png src/icons/logo@1.5x.webp",
        "templates/mail@layout.html",
        "@dataclass(frozen=True)\n@app.route('/x')",
        r"printf 'import x\n@app.route\n\t@functools.wraps\r\n@pytest.fixture'",
        "+@foo.bar ~@foo.bar",
        "app/@modal/page.tsx",
        "a @ b.c",
        "a@[0.1, 0.2]",
        "100%40",
        "0x40 u0040",
        "user@",
        "@example.com",
        "",
    ],
)
def test_what_is_no_address_stays(text):
    assert text == mask_text(text)


def stored(level="minimal", **fields):
    return Stored(event=event(**fields), level=level)


@pytest.mark.parametrize("level", ["minimal", "standard"])
def test_every_text_and_key_of_a_record_is_looked_at(level):
    record = Stored(
        event=event(cwd="/home/a@b.example", data={"k@b.example": [{"x": "a@b.example"}, 1], "l@b.example": 2}),
        decision=Decision(outcome="deny", reason="not to a@b.example"),
        runs=[HookRun(hook="/home/a@b.example/h.sh")],
        level=level,
    )
    masked = mask_addresses(record)

    assert ("/home/[e-mail]", {"[e-mail]": [{"x": "[e-mail]"}, 1], "[e-mail]+": 2}) == (masked.event.cwd, masked.event.data)
    assert ("not to [e-mail]", "/home/[e-mail]/h.sh") == (masked.decision.reason, masked.runs[0].hook)
    assert record.event.tool == masked.event.tool
    places = {gap.where: gap.note for gap in masked.gaps if gap.strategy == "masked"}
    assert {"$.event.cwd", "$.event.data", "$.event.data.[e-mail][0].x", "$.decision.reason", "$.runs[0].hook"} == places.keys()
    assert {"e-mail"} == set(places.values())
    assert masked == mask_addresses(masked)


def test_full_and_the_user_that_is_named_on_purpose_stay():
    full = stored("full", cwd="/home/a@b.example")
    assert full is mask_addresses(full)
    named = stored(user=User(id="a@b.example"), cwd="/home/a@b.example")
    assert (User(id="a@b.example"), "/home/[e-mail]") == (mask_addresses(named).event.user, mask_addresses(named).event.cwd)


def test_long_texts_of_signs_cost_no_more_than_their_length():
    begun = time.process_time()
    for text in ("a" * 200_000 + "@", "@" * 30_000, "a@" * 30_000, "a@" + "b." * 100_000, "\\" * 100_000, "%40" * 30_000, '"@' * 30_000, "<a@" * 20_000):
        mask_text(text)
    assert time.process_time() - begun < 2
