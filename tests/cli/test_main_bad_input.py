"""Bad input ends in one clear sentence, and never stops what comes after it."""

import json
import subprocess
import sys

import pytest

from hookonce import formats
from hookonce.demo.replay import list_recordings as bundled
from tests.cli.command import PAYLOAD, environment, lines, recorded, run, shell, tagged
from tests.sample import EXHAUSTIVE

MUCH = 60_000_000 if EXHAUSTIVE else 16_000_000  # bytes; more than 65,536 short lines
DEEP = b"[" * 10_000 + b"]" * 10_000
TEXT = json.dumps(PAYLOAD)
LATE = TEXT[:-1].encode()  # a payload without its closing brace

# What is wrong with a line, and the words that must be in the sentence about it.
BAD = {
    "no JSON": (b"hello", "invalid JSON: Expecting value"),
    "cut off": (LATE, "invalid JSON: Expecting ',' delimiter"),
    "two on a line": (TEXT.encode() * 2, "one on a line each"),
    "invalid UTF-8": (b'{"a":"\xff"}', "invalid UTF-8 at byte 6"),
    "raw surrogate": (b'{"a":"\xed\xa0\x80"}', "invalid UTF-8"),
    "UTF-16": ("\ufeff{}".encode("utf-16-le"), "convert it to UTF-8"),
    "NaN": (LATE + b',"x":NaN}', "NaN is not a JSON number"),
    "minus infinity": (LATE + b',"x":-Infinity}', "-Infinity is not a JSON number"),
    "float out of range": (LATE + b',"x":1e400}', "the number 1e400 is too large"),
    "endless integer": (LATE + b',"x":' + b"9" * 5000 + b"}", "too many digits"),
    "depth 10,000": (DEEP, "nested too deeply"),
    "depth inside a payload": (LATE + b',"x":' + DEEP + b"}", "nested too deeply"),
    "control character": (b'{"a":"\x01"}', "Invalid control character"),
    "zero bytes": (b"\0\0\0", "invalid JSON"),
    "array": (b"[1]", "expected a JSON object, got an array"),
    "number": (b"7", "expected a JSON object, got the value 7"),
    "null": (b"null", "expected a JSON object, got null"),
    "too long": (b'{"a":"' + b"x" * 5000 + b'"}', "longer than 4000 bytes; --max-line raises the limit"),
}
KINDS = pytest.mark.parametrize(("bad", "words"), BAD.values(), ids=BAD)


def limit(bad):
    """A limit under which only the line that is meant to be too long is."""
    return ("--max-line", "4000" if b"xxxx" in bad else "100000")


@pytest.mark.part(3)
@KINDS
def test_the_next_line_still_goes_through(bad, words):
    """
    A bad line is named with its number and its fault, counted at the end, and its neighbours are translated.
    """
    ran = run("translate", "--to", "openhook", *limit(bad), given=lines(tagged(1), bad + b"\n", tagged(3)))

    assert (1, ["s1", "s3"]) == (ran.code, [event["session_id"] for event in ran.documents()])
    sentence, count = ran.complaints()
    assert sentence.startswith("line 2: ")
    assert words in sentence
    assert "1 line could not be read; 2 events written" == count


@pytest.mark.part(3)
@KINDS
def test_stop_means_the_first_bad_line(bad, words):
    """
    With --on-error stop nothing after the bad line is translated.
    """
    stream = lines(tagged(1), bad + b"\n", tagged(3))
    ran = run("translate", "--to", "openhook", "--on-error", "stop", *limit(bad), given=stream)

    assert (1, ["s1"]) == (ran.code, [event["session_id"] for event in ran.documents()])
    assert words in ran.err
    assert "1 line could not be read; 1 event written" in ran.err


@pytest.mark.part(2)
@KINDS
def test_a_bad_first_line_is_no_different(bad, words):
    """
    Where the very first line is bad, the others are translated all the same.
    """
    ran = run("translate", "--to", "openhook", *limit(bad), given=lines(bad + b"\n", tagged(2), tagged(3)))

    assert (1, ["s2", "s3"]) == (ran.code, [event["session_id"] for event in ran.documents()])
    assert ran.complaints()[0].startswith("line 1: ")
    assert words in ran.err


@pytest.mark.part(2)
@KINDS
def test_check_and_identify_go_on_too(bad, words):
    """
    `check` and `identify` name the same fault on the same line and look at the others.
    """
    stream = lines(tagged(1), bad + b"\n", tagged(3))
    checked = run("check", "--json", *limit(bad), given=stream)
    (verdict,) = checked.documents()
    identified = run("identify", "--json", *limit(bad), given=stream)

    assert (1, False, 3) == (checked.code, verdict["ok"], verdict["documents"])
    assert [2] == [problem["line"] for problem in verdict["problems"]]
    assert words in verdict["problems"][0]["message"]
    assert 1 == identified.code
    named = [finding for finding in identified.documents() if finding["name"] == "claude-code"]
    assert 2 == len(named)
    assert words in identified.out + identified.err


@pytest.mark.parametrize("command", [("translate", "--to", "openhook"), ("check",), ("identify",)])
@pytest.mark.parametrize("given", [b"", b"\n \r\n", b"\xef\xbb\xbf"], ids=["nothing", "blank lines", "a mark alone"])
def test_nothing_at_all_is_said_in_one_sentence(command, given):
    """
    Empty input is an error that says so.
    """
    ran = run(*command, given=given)

    assert 1 == ran.code
    assert "no document" in ran.out + ran.err
    assert "Traceback" not in ran.err


def test_a_repeated_key_is_refused_only_if_asked():
    """
    The last of duplicate keys wins; --strict refuses the line and goes on with the next.
    """
    twice = LATE + b',"session_id":"s9"}\n'
    lenient = run("translate", "--to", "openhook", given=lines(twice, tagged(2)))
    strict = run("translate", "--to", "openhook", "--strict", given=lines(twice, tagged(2)))

    assert (0, ["s9", "s2"]) == (lenient.code, [event["session_id"] for event in lenient.documents()])
    assert (1, ["s2"]) == (strict.code, [event["session_id"] for event in strict.documents()])
    assert "line 1: duplicate key 'session_id'" == strict.complaints()[0]


WRONG = (None, 1, -0.5, True, "x", "", [], {}, [1], {"a": 1}, 10**30, "\ud800", [[[]]])


def broken(document):
    """The document with each value in turn replaced by each value of a wrong type, two levels deep."""
    for key, value in document.items():
        for wrong in WRONG:
            yield document | {key: wrong}
        if isinstance(value, dict):
            for inner in value:
                for wrong in (None, 1, "x", [1], {"a": 1}):
                    yield document | {key: value | {inner: wrong}}


@pytest.mark.part(2)
@pytest.mark.parametrize("agent", bundled())
def test_wrong_types_in_payloads_break_nothing(agent):
    """
    Whatever type stands anywhere in a payload, the line becomes a record or one sentence.
    """
    given = [wrong for payload in recorded(agent)[:4] for wrong in broken(payload)]

    ran = run("translate", "--from", agent, "--to", "canonical", given=lines(*given))

    assert ran.code in {0, 1}
    refused = [line for line in ran.complaints() if line.startswith("line ")]
    assert len(given) == len(ran.out.splitlines()) + len(refused)


@pytest.mark.part(3)
@pytest.mark.parametrize("name", [name for name in formats.FORMATS if formats.load(name).read])
def test_wrong_types_in_documents_break_nothing(name):
    """
    Whatever type stands anywhere in a document of a format, translating and checking end in order.
    """
    written = run("translate", "--to", name, "--privacy", "full", given=lines(*recorded("claude-code")))
    given = [wrong for document in written.documents() for wrong in broken(document)]

    translated = run("translate", "--from", name, "--to", "canonical", given=lines(*given))
    checked = run("check", "--strict", "--json", given=lines(*given))

    refused = [line for line in translated.complaints() if line.startswith("line ")]
    assert len(given) == len(translated.out.splitlines()) + len(refused)
    assert (1, False, len(given)) == (checked.code, *(checked.documents()[0][key] for key in ("ok", "documents")))


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "command", ["agents", "agents codex", "demo", "demo --json", "agents --json", "--help", "translate --to canonical"]
)
def test_a_reader_that_has_seen_enough_is_no_error(command, tmp_path):
    """
    `| head -1` gives one line, exit 0 and silence.
    """
    file = tmp_path / "many.jsonl"
    file.write_bytes(lines(*map(tagged, range(3000))))
    given = f"< {file}" if "translate" in command else ""

    ran = shell(f'hookonce {command} {given} | head -1 >/dev/null; echo "${{PIPESTATUS[0]}}"')

    assert ("0\n", "") == (ran.out, ran.err)


@pytest.mark.parametrize("command", ["agents", "translate --to canonical {}", "check --json {}"])
def test_a_full_disk_is_one_sentence(command, tmp_path):
    """
    Output that cannot be written is an expected error, not ours.
    """
    file = tmp_path / "one.jsonl"
    file.write_bytes(lines(PAYLOAD))

    ran = shell(f"hookonce {command.format(file)} > /dev/full")

    assert (1, "hookonce: cannot go on: No space left on device\n") == (ran.code, ran.err)


@pytest.mark.parametrize("script", ["hookonce check <&-", "hookonce translate --to openhook <&-"])
def test_a_closed_input_is_an_empty_one(script):
    """
    Without standard input there is no document, and no crash.
    """
    ran = shell(script)

    assert 1 == ran.code
    assert "no document" in ran.out + ran.err


MEASURE = """
import resource, subprocess, sys
child = subprocess.Popen([sys.executable, "-m", "hookonce", *sys.argv[3:]], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
size, total = int(sys.argv[1]), int(sys.argv[2])
head, tail = sys.stdin.read().split("@")
text = tail.replace("#", "x" * size)
for number in range(total // (len(head) + len(text))):
    child.stdin.write(f"{head}{number}{text}\\n".encode())
child.stdin.close()
print(child.wait(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


def peak(size, total, *words):
    """Exit code and the most memory in MiB that hookonce took for so many bytes of lines of that size."""
    given = json.dumps(PAYLOAD | {"session_id": "@", "tool_input": {"command": "#"}})
    command = [sys.executable, "-c", MEASURE, str(size), str(total), *words]
    done = subprocess.run(command, input=given, capture_output=True, check=True, text=True, env=environment())
    code, mebibytes = map(int, done.stdout.split())
    assert 0 == code
    return mebibytes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "words"), [(1, ("--from", "claude-code", "--to", "openhook")), (700, ("--to", "agent-hooks"))]
)
def test_memory_stays_flat(size, words):
    """
    Many times as many different lines take at most as much more memory as remembering 65,536 ids does.
    """
    few, many = peak(size, 3_000_000, "translate", *words), peak(size, MUCH, "translate", *words)

    assert many - few < 16
    assert many < 64


@pytest.mark.slow
def test_long_lines_do_not_add_up():
    """
    Thirty lines of five megabytes take hardly more memory than three.
    """
    words = ("translate", "--from", "claude-code", "--to", "canonical")
    few, many = peak(5_000_000, 15_001_000, *words), peak(5_000_000, 150_010_000, *words)

    assert 40 < few
    assert many - few < 80


@pytest.mark.slow
def test_checking_keeps_no_documents():
    """
    `check` of ten times as many documents takes as much memory.
    """
    assert peak(5000, 30_000_000, "check") - peak(5000, 3_000_000, "check") < 8
