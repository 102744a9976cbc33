"""A module on stdio that misbehaves: its callers get one clear answer, soon, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hookonce.modules.host.client import invoke
from hookonce.modules.host.stdio import StdioLink
from hookonce.modules.protocol import messages
from hookonce.modules.protocol.messages import Request
from tests.handlers.processes import eventually, running, word
from tests.modules.talking import PYTHON, READ, SUBJECT, environment, program

ECHO = "say({'ok': True, 'result': r['args'], 'id': r['id']})"
NUMBERLESS = "say({'ok': True, 'result': r['args']})"
OPEN = Path("/proc/self/fd")
needs_proc = pytest.mark.skipif(not OPEN.exists(), reason="descriptors are counted in /proc")


def stderr_tail(link):
    return b"".join(link._log._pieces).decode(errors="replace")


def is_there(pid):
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid):
    for _ in range(200):
        if not is_there(pid):
            return True
        time.sleep(0.02)
    return False


def said(text, timeout=0.5):
    """What a call of a module comes to."""
    with StdioLink(program(text)) as link:
        return invoke(link, "do", {"x": 1}, timeout=timeout)


BROKEN = {
    "exits": ("sys.exit(3)", "unreachable", "the module ended with code 3"),
    "is killed": ("os.kill(os.getpid(), 9)", "unreachable", "the module was ended by SIGKILL"),
    "says why": ("sys.exit('no disk')", "unreachable", "the module ended with code 1; it said last: no disk"),
    "half a line": ("sys.stdout.write('{\"ok\":'); sys.exit(0)", "unreachable", "the module ended with code 0"),
    "closes stdout": (
        "sys.stdout.write('{'); sys.stdout.flush(); os.close(1); time.sleep(60)",
        "unreachable",
        "the module was ended: it closed its stdout in the middle of an answer",
    ),
    "a wrong id": (
        "say({'ok': True, 'result': 1, 'id': 99})",
        "internal",
        "the module answered with the id 99, which no request has",
    ),
    "no outcome": ("say({'fine': 1, 'id': r['id']})", "internal", "the module's answer is not valid: expected ok to be true or false"),
    "no code": (
        "say({'ok': False, 'error': 'bad', 'id': r['id']})",
        "internal",
        "the module's answer is not valid: expected error to have a code and a message",
    ),
    "hangs": ("time.sleep(60)", "timeout", "no answer within 0.5 seconds"),
    "no JSON": ("print('hello', flush=True)", "timeout", "no answer within 0.5 seconds"),
    "a list": ("print('[1]', flush=True)", "timeout", "no answer within 0.5 seconds"),
    "never ends the line": ("sys.stdout.write('x' * 2_000_000); sys.stdout.flush()", "timeout", "no answer within 0.5 seconds"),
}


@pytest.mark.part(3)
@pytest.mark.covers("AMP-9", "AMP-17")
@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_with_a_module_is_said(name):
    """
    Each way to fail has its code and its sentence.
    """
    text, code, message = BROKEN[name]
    answer = said(text, timeout=0.5 if code == "timeout" else 20)
    assert (code, message) == (answer.error.code, answer.error.message)


def test_a_timeout_tells_the_last_words():
    """
    What stood on stdout and was no answer helps to find out why none came.
    """
    assert "hello" in said("print('hello', flush=True)").error.details["last_words"]


def test_what_cannot_be_started_is_unreachable():
    """
    The error names the program and the reason, and what to type is in the details.
    """
    answer = invoke(StdioLink(["no-such-program-anywhere"]), "do")
    assert answer.error.code == "unreachable"
    assert answer.error.message == "no-such-program-anywhere cannot be started: No such file or directory"
    assert invoke(StdioLink(["a\0b"]), "do").error.code == "unreachable"


@pytest.mark.covers("AMP-25")
def test_the_limit_is_said_in_both_directions(monkeypatch):
    """
    A request beyond the limit is not sent; an answer beyond it ends the module, which is started again.
    """
    monkeypatch.setattr(messages, "MAX_MESSAGE_BYTES", 100_000)
    with StdioLink(program("say({'ok': True, 'result': 'x' * r['args']['n'], 'id': r['id']})")) as link:
        assert invoke(link, "do", {"text": "x" * 100_000, "n": 1}).error.code == "bad_request"
        answer = invoke(link, "do", {"n": 200_000})
        assert answer.error.code == "internal"
        assert "its answer was longer than 100000 bytes" in answer.error.message
        assert invoke(link, "do", {"n": 3}).result == "xxx"


@pytest.mark.covers("AMP-25")
def test_both_sides_may_write_much_at_the_same_time():
    """
    While a request goes out for which there is no room, answers are read: nobody waits for the other for ever.
    """
    text = "say({'ok': True, 'result': 'y' * 500_000, 'id': r['id']})"
    with StdioLink(program(text)) as link:
        assert invoke(link, "do", timeout=20).ok
        oks = []
        threads = [
            threading.Thread(target=lambda: oks.append(invoke(link, "do", {"x": "z" * 500_000}, timeout=30).ok)) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert oks == [True] * 8


def test_a_killed_module_fails_all_calls_under_way_and_answers_the_next():
    """
    Everybody who waits is told at once that it is gone; then it is started again, and works.
    """
    with StdioLink([sys.executable, SUBJECT], env=environment()) as link:
        first = invoke(link, "pid").result
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(invoke(link, "hold", timeout=60))) for _ in range(5)]
        for thread in threads:
            thread.start()
        while link.pid == first and not all(thread.is_alive() for thread in threads):
            time.sleep(0.01)
        time.sleep(0.1)
        os.kill(first, signal.SIGKILL)
        for thread in threads:
            thread.join()
        assert ["unreachable"] * 5 == [answer.error.code for answer in answers]
        assert invoke(link, "pid").result != first
        assert link.start_count == 2


def test_a_module_that_ended_between_two_calls_costs_nobody_an_answer():
    """
    It is started again before the next call, which does not notice.
    """
    with StdioLink(program(ECHO + "; sys.exit(0)")) as link:
        for number in range(3):
            assert invoke(link, "do", {"n": number}).result == {"n": number}
            assert link.pid is None or gone(link.pid)
        assert link.start_count == 3


@pytest.mark.covers("AMP-X9")
def test_a_module_that_fails_again_and_again_rests_longer_and_longer():
    """
    The first restart costs nothing; after that calls are refused for a while, and told for how long.
    """
    with StdioLink(program("sys.exit(1)")) as link:
        assert ["the module ended with code 1"] * 2 == [invoke(link, "do").error.message for _ in range(2)]
        waits = []
        for _ in range(2):
            answer = invoke(link, "do")
            assert answer.error.code == "unreachable"
            waits.append(answer.error.details["retry_after"])
            time.sleep(waits[-1] + 0.01)
            assert invoke(link, "do").error.message == "the module ended with code 1"
        assert 0 < waits[0] <= 0.1 < waits[1] <= 0.2
        assert link.start_count == 4


def test_without_ids_calls_are_made_one_at_a_time():
    """
    A module that does not echo ids gets its next request after its answer, so nobody gets another's.
    """
    with StdioLink(program("time.sleep(0.005); " + NUMBERLESS)) as link:
        wrong = []

        def talk(number):
            wrong.extend(invoke(link, "do", {"n": number}).result != {"n": number} for _ in range(5))

        threads = [threading.Thread(target=talk, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == [False] * 40


@pytest.mark.covers("AMP-6", "AMP-11")
def test_health_to_the_letter_is_heard_of_a_module_that_echoes_ids_elsewhere():
    """
    The specification prints the answer to health without an id; another line without one is still nobody's answer.
    """
    noise = "say({'level': 'info'})"
    with StdioLink(program(f"(say({{'status': 'ok'}}) if r['op'] == 'health' else {ECHO}); {noise}")) as link:
        assert [{"n": 1}, {"n": 2}] == [invoke(link, "do", {"n": number}).result for number in (1, 2)]
        assert invoke(link, "health", timeout=5).result == {"status": "ok"}
        assert invoke(link, "do", {"n": 3}).result == {"n": 3}
        assert link.start_count == 1


def test_without_ids_a_late_answer_is_never_taken_for_another():
    """
    After a timeout such a module is started again.
    """
    with StdioLink(program("time.sleep(r['args'].get('s', 0)); " + NUMBERLESS)) as link:
        assert invoke(link, "do", {"n": 1}).result == {"n": 1}
        assert invoke(link, "do", {"n": 2, "s": 0.3}, timeout=0.1).error.code == "timeout"
        assert invoke(link, "do", {"n": 3}).result == {"n": 3}
        assert link.start_count == 2


def test_without_ids_an_answer_too_many_ends_the_module():
    """
    Nobody knows which of two answers is the right one; the next call has a new module.
    """
    with StdioLink(program(NUMBERLESS + "; time.sleep(0.05); " + NUMBERLESS)) as link:
        for number in range(3):
            assert invoke(link, "do", {"n": number}).result == {"n": number}
            time.sleep(0.2)
        assert link.start_count == 3


def test_with_ids_late_and_double_answers_disturb_nobody():
    """
    What nobody waits for any more is noted in the log and dropped.
    """
    with StdioLink(program("time.sleep(r['args'].get('s', 0)); " + ECHO + "; " + ECHO)) as link:
        assert invoke(link, "do", {"n": 1}).result == {"n": 1}
        assert invoke(link, "do", {"n": 2, "s": 0.3}, timeout=0.1).error.code == "timeout"
        assert invoke(link, "do", {"n": 3}).result == {"n": 3}
        assert link.start_count == 1
        assert "an answer that nobody waits for any more" in stderr_tail(link)


def test_answers_may_come_in_any_order():
    """
    Ids tell whose an answer is, also where a language made texts of them.
    """
    text = READ + (
        "held = []\nfor line in sys.stdin:\n    r = json.loads(line)\n    held.append(r)\n"
        "    if r['op'] == 'health' or len(held) == 4:\n"
        "        for one in reversed(held): say({'ok': True, 'result': one['args']['n'] if 'args' in one else 0, 'id': str(one['id'])})\n"
        "        held = []\n"
    )
    with StdioLink([*PYTHON, text]) as link:
        link.ask(Request("health"), 10)
        results = {}
        threads = [
            threading.Thread(target=lambda n=n: results.update({n: invoke(link, "do", {"n": n}, timeout=20).result})) for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == {0: 0, 1: 1, 2: 2, 3: 3}


def test_stderr_is_kept_as_a_log_and_never_in_the_way():
    """
    Megabytes on stderr do not stop a module, and the end of them can be read.
    """
    with StdioLink(program("sys.stderr.write('x' * 5_000_000 + '\\nthe end\\n'); sys.stderr.flush(); " + ECHO)) as link:
        assert invoke(link, "do", {"n": 1}, timeout=30).ok
    assert len(stderr_tail(link)) <= 64 << 10
    assert "the end" in stderr_tail(link)


@pytest.mark.covers("AMP-31")
def test_closing_ends_the_module_and_everything_it_started(tmp_path):
    """
    Its own process and a child that ignores every request to leave are both gone.
    """
    note = tmp_path / "child"
    child = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"
    text = (
        f"import subprocess; p = subprocess.Popen([sys.executable, '-c', {child!r}]); "
        f"open({str(note)!r}, 'w').write(str(p.pid)); " + ECHO
    )
    link = StdioLink(program(text))
    assert invoke(link, "do", timeout=20).ok
    pid = link.pid
    link.close()
    assert gone(pid)
    assert gone(int(note.read_text(encoding="ascii")))
    assert invoke(link, "do").error.message == "the link to the module is closed"
    link.close()


@pytest.mark.parametrize("word", ["pass", "signal.signal(signal.SIGTERM, signal.SIG_IGN)"], ids=["deaf", "stubborn"])
def test_a_module_that_does_not_leave_is_made_to(word):
    """
    One that ignores the end of its stdin is asked to end, and one that ignores that is killed.
    """
    text = f"import signal; {word}\nfor line in sys.stdin:\n    r = json.loads(line); {ECHO}\nwhile True: time.sleep(60)\n"
    link = StdioLink([*PYTHON, READ + text])
    assert invoke(link, "do").ok
    pid = link.pid
    link.close(grace=0.1)
    assert gone(pid)


def test_a_child_that_holds_the_pipes_does_not_hide_the_end_of_its_module():
    """
    The module has ended, so its caller is told, whoever still has its stdout open.
    """
    text = "import subprocess; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); os._exit(5)"
    assert said(text, timeout=20).error.message == "the module ended with code 5"


@needs_proc
def test_no_descriptor_stays_open():
    """
    After many lives, good and bad, as many files are open as before.
    """
    before = len(list(OPEN.iterdir()))
    for text in (ECHO, "sys.exit(1)", "os.close(0); time.sleep(60)", "time.sleep(60)", NUMBERLESS):
        with StdioLink(program(text)) as link:
            for _ in range(3):
                invoke(link, "do", timeout=0.2)
    for _ in range(100):  # threads that read stderr close it themselves
        if len(list(OPEN.iterdir())) <= before:
            break
        time.sleep(0.02)
    assert len(list(OPEN.iterdir())) <= before


def test_everything_that_goes_over_the_wire_can_be_watched():
    """
    A transcript has what was sent, what was heard, and what was said beside it.
    """
    heard = []
    with StdioLink(program("print('aside', file=sys.stderr, flush=True); " + ECHO), watch=lambda *one: heard.append(one)) as link:
        invoke(link, "do", {"n": 1})
    assert ("sent", b'{"op":"do","args":{"n":1},"id":1}\n') in heard
    assert ("heard", b'{"ok": true, "result": {"n": 1}, "id": 1}') in heard
    for _ in range(100):  # stderr is read by a thread of its own
        if ("said", b"aside\n") in heard:
            break
        time.sleep(0.02)
    assert ("said", b"aside\n") in heard


@pytest.mark.covers("AMP-X2")
@pytest.mark.parametrize("number", ["'somebody else'", "9999", "[1]", "1.5", "True"])
def test_an_answer_to_somebody_else_is_no_answer(number):
    """
    An id that no request has is said at once, and nothing is taken for the answer.
    """
    with StdioLink(program(f"say({{'ok': True, 'result': 1, 'id': {number}}})")) as link:
        answer = invoke(link, "do", timeout=20)
    assert ("internal", True) == (answer.error.code, "which no request has" in answer.error.message)


def test_a_failure_quotes_only_what_was_said_since_its_call_began():
    """
    What went wrong in an earlier call explains nothing.
    """
    text = "if r['op'] == 'bad': os._exit(7)\n    print('boom!', file=sys.stderr, flush=True); " + ECHO
    with StdioLink(program(text)) as link:
        invoke(link, "good", {}, timeout=5)
        while "boom!" not in stderr_tail(link):
            time.sleep(0.01)
        failed = invoke(link, "bad", {}, timeout=5)

    assert "the module ended with code 7" == failed.error.message


HOST = """
import sys, threading, time
from hookonce.modules.host.client import invoke
from hookonce.modules.host.stdio import StdioLink
link = StdioLink([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)", sys.argv[1]])
asking = threading.Thread(target=invoke, args=(link, "do"))
asking.start()
while link.pid is None:
    time.sleep(0.01)
print("started", flush=True)
asking.join()
"""


@pytest.mark.covers("AMP-31")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_module_that_hangs_does_not_outlive_a_host_that_is_killed(number):
    """
    Not even where it does not see that its stdin has ended.
    """
    mark = word()
    with subprocess.Popen([sys.executable, "-c", HOST, mark], env=environment(), stdout=subprocess.PIPE) as host:
        host.stdout.readline()
        assert len(running(mark)) > 1
        host.send_signal(number)
    assert eventually(lambda: not running(mark))
