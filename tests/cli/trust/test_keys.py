"""hookonce keys: two machines, one of which is told to trust what the other signs."""

import json

import pytest
from msgspec.json import encode

from hookonce.store.integrity import trusted_keys
from tests.attacks.terminal import shown
from tests.cli.command import PAYLOAD, lines, run


class Machine:
    """A home of its own."""

    def __init__(self, folder):
        folder.mkdir()
        self.home = folder

    def run(self, *words, given=b""):
        return run(*words, given=given, HOME=str(self.home))

    def agree(self, *words):
        """A person at a terminal types the code."""
        return shown(self.home, *words, agrees=True)

    def trusts(self, name, key):
        """What a person has agreed to before."""
        file = self.home / ".local" / "share" / "hookonce" / "trusted-keys.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode([trusted_keys.TrustedKey(name=name, key=key["key"], fingerprint=key["fingerprint"], since="2026-01-01T00:00:00Z")]))

    def signed(self, to="agent-hooks", count=3):
        """Events that it has signed, one in each line."""
        payloads = [PAYLOAD | {"session_id": f"s{number}"} for number in range(count)]
        return self.run("translate", "--to", to, "--sign", given=lines(*payloads)).out

    def key(self):
        """Its public key, as others get it."""
        return self.run("keys", "show", "--json").documents()[0]


@pytest.fixture
def laptop(tmp_path):
    return Machine(tmp_path / "laptop")


@pytest.fixture
def server(tmp_path):
    return Machine(tmp_path / "server")


@pytest.mark.covers("AH-51")
def test_a_key_of_another_machine_is_added_used_and_removed(laptop, server):
    """
    check and events import know who has signed, as soon as a person has said whose key it is, and no longer.
    """
    stream, key = laptop.signed(), laptop.run("keys", "show").out
    known = laptop.key()
    assert (key.strip(), known["fingerprint"][:16]) == (known["key"], known["name"])
    (unknown,) = server.run("check", "--json", given=stream.encode()).documents()
    assert (3, True) == (len(unknown["warnings"]), "hookonce keys add" in unknown["warnings"][0]["message"])

    code, said = server.agree("keys", "add", "laptop", key.strip())
    assert (0, True) == (code, known["fingerprint"] in said)

    (report,) = server.run("check", "--json", given=stream.encode()).documents()
    assert ({"laptop": 3}, [], True) == (report["signed_by"], report["warnings"], report["ok"])
    assert "3 documents signed by laptop" in server.run("check", given=stream.encode()).out
    (listing,) = server.run("keys", "list", "--json").documents()
    assert ([], [("laptop", known["fingerprint"])]) == (listing["own"], [(one["name"], one["fingerprint"]) for one in listing["others"]])

    assert 0 == server.agree("keys", "remove", "laptop")[0]
    assert 3 == len(server.run("check", "--json", given=stream.encode()).documents()[0]["warnings"])
    assert "no trusted key is called laptop; there is none" in server.run("keys", "remove", "laptop").err


@pytest.mark.parametrize("to", ["cloudevents", "otel"])
def test_import_tells_whose_the_events_are_and_keeps_no_broken_one(laptop, server, to):
    """
    Each signature is verified; an event that is not what was signed is named and not kept.
    """
    first, second, third = laptop.signed(to).splitlines()
    server.trusts("laptop", laptop.key())
    strange = server.home.parent / "strange"
    other = Machine(strange).signed(to, 1).replace("s0", "s9").splitlines()[0]
    forged = second.replace("s1", "s7")
    plain = run("translate", "--to", to, given=lines(PAYLOAD | {"session_id": "s8"})).out.strip()
    unknown = Machine(server.home.parent / "third").signed(to, 5).splitlines()[4]
    done = server.run("events", "import", given=f"{first}\n{forged}\n{third}\n{other}\n{plain}\n{unknown}".encode())

    assert (1, "4 events imported, of 6 lines") == (done.code, done.out.splitlines()[0].partition(";")[0])
    assert "2 lines signed by laptop" in done.out
    assert "1 line signed by the unknown key" in done.out
    assert "2 lines not imported, because the signature does not match" in done.err
    assert ["line 2", "line 4"] == [line.split(":")[1].strip() for line in done.err.splitlines() if "one of them was changed" in line]
    records = server.run("events", "--json").documents()
    via = {record["event"]["session"]: record["event"]["origin"]["via"] for record in records}
    assert ["import", "signed by laptop"] == via["s0"]
    assert ["import"] == via["s8"]
    assert {"s7", "s9"}.isdisjoint(via)


def test_an_event_cannot_say_of_itself_that_it_is_signed(server):
    """
    What stands in an extension about signatures is taken out; only a signature counts.
    """
    made = run("translate", "--to", "openhook", given=lines(PAYLOAD)).documents()[0]
    made["extensions"]["dev.hookonce"]["origin"] = {"via": ["signed by laptop", "import"]}
    assert 0 == server.run("events", "import", given=json.dumps(made).encode()).code

    (record,) = server.run("events", "--json").documents()
    assert ["import"] == record["event"]["origin"]["via"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["x", "ed25519:AAAA"], "this is not a public key"),
        (["x", "rsa:AAAA"], "expected ed25519"),
        (["x", "nowhere.pub"], "neither a key nor a file with a key: No such file"),
        (["a b", "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="], "is not a valid name for a key"),
        (["laptop", "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="], "hookonce keys remove laptop"),
    ],
)
def test_what_cannot_be_trusted_is_told_before_anybody_is_asked(laptop, server, words, told):
    server.trusts("laptop", laptop.key())
    done = server.run("keys", "add", *words)

    assert (1, True) == (done.code, told in done.err)


def test_a_machine_trusts_its_own_key_anyway(laptop):
    done = laptop.run("keys", "add", "me", laptop.key()["key"])

    assert (1, True) == (done.code, "a key of this machine" in done.err)


def test_a_key_can_lie_in_a_file(laptop, server, tmp_path):
    (tmp_path / "laptop.pub").write_text(laptop.run("keys", "show").out)

    assert 0 == server.agree("keys", "add", "laptop", str(tmp_path / "laptop.pub"))[0]


def test_the_words_of_a_verb_are_counted(laptop):
    assert (64, 64) == (laptop.run("keys", "add", "laptop").code, laptop.run("keys", "show", "x").code)
    assert "this machine has no key yet" in laptop.run("keys", "list").out
