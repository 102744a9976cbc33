"""The client against whatever it may be given, in a build that ends at the first byte out of place.

`HOOKONCE_FUZZ=20000` makes a twentieth of that many calls instead of a few; `HOOKONCE_FUZZ_SEED` chooses others.
"""

import os
import random
import shlex
import shutil
import subprocess
from contextlib import suppress

import pytest

from hookonce.base.wire import ACK, ANSWER, BEGIN, COLD, encode_reply
from tests.client.native.client_env import Daemon, World, hear
from tests.client.native.conftest import SOURCE

CALLS = int(os.environ.get("HOOKONCE_FUZZ", "400")) // 20
SEED = int(os.environ.get("HOOKONCE_FUZZ_SEED", "18"))
NEVER = 1 << 62  # nanoseconds: a deadline that is not met, so that what is said in two pieces is heard
SANITIZED = ["-O1", "-g", "-std=c11", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0:exitcode=66", "UBSAN_OPTIONS": "exitcode=66"}
WORDS = [b"|", b":", b"\n", b"\\0", b"\\0777", b"\\", b"\0", b" ", b"/", b"..", b"x", b"trial|Try|", b"wrapper:", b"3|", b"9", b"\xff", b"a" * 300, b"/" * 5000]
ARGUMENTS = [b"trial", b"Try", b"--timeout", b"70.25", b"1e9", b"--on-failure", b"closed", b"-", b"", b"x" * 9000, b"\xff\n", b"amp"]


@pytest.fixture(scope="module")
def asan_client(tmp_path_factory):
    """The client of C that checks each access."""
    made = tmp_path_factory.mktemp("sanitized") / "hookonce-on"
    words = [*shlex.split(os.environ.get("CC") or "cc"), *SANITIZED, "-o", made, SOURCE / "hookonce-on.c"]
    try:
        subprocess.run(words, capture_output=True, check=True)
        subprocess.run([made], stdin=subprocess.DEVNULL, capture_output=True, check=True, env={})
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this compiler has no address sanitizer")
    return made


def damage_bytes(choice, data):
    """The same with a byte, a piece or a word of ours changed, lost or added, or cut off."""
    for _ in range(choice.randrange(4)):
        at = choice.randrange(len(data) + 1)
        piece = choice.choice([choice.choice(WORDS), choice.randbytes(choice.randrange(6)), b""])
        data = data[:at] + piece + data[at + choice.choice([0, 0, 1, 4, 400]) :]
    return data


def replies(choice, deadline):
    """What a daemon may say, and in another order than it would."""
    texts = [b"", b"{}", choice.randbytes(choice.choice([3, 70_000]))]
    kinds = choice.choices([ACK, ANSWER, BEGIN, COLD, 0, 9], [6, 4, 3, 1, 1, 1], k=choice.randrange(4))
    said = [encode_reply(kind, deadline, choice.randrange(60), choice.choice(texts), choice.choice(texts)) for kind in kinds]
    return b"".join(said)


def answer(choice, line):
    """Say it in one piece or two; whether every client makes the same of it.

    Else it is damaged, or said before anything was heard, and what comes first counts.
    """
    is_certain, is_heard = choice.random() < 0.4, choice.random() < 0.8
    said = replies(choice, NEVER) if is_certain else damage_bytes(choice, replies(choice, 0))
    half = choice.choice([0, 1, len(said) // 2])
    with suppress(OSError):
        if is_certain or is_heard:
            hear(line)
        line.sendall(said[:half])
        line.sendall(said[half:])
    return is_certain


def test_nothing_that_it_is_given_is_read_or_written_out_of_place(asan_client, compiled, tmp_path):
    """
    Replies of a daemon, the files beside it, its words, environment and payload; it ends with an exit code of its own.

    The client without a C library says the same.
    """
    world = World(asan_client, tmp_path)
    shutil.copy(compiled, world.bin / "freestanding")
    script = f"{world.home}/python\nbuild\n{world.home}/lib\n".encode()
    rows = b"trial|Try|3|out \\0101|err\ntrial||2|no|\ntool:trial|Try|2||why\n/|1:2|tool\n/tmp|*|tool wrapper\n"
    with Daemon(world.house()) as daemon:
        for number in range(CALLS):
            choice, certain = random.Random(f"{SEED} {number}"), []  # noqa: S311
            (world.bin / "interpreter").write_bytes(damage_bytes(choice, choice.choice([script, b"", rows])))
            (world.bin / "failmode.bin").write_bytes(damage_bytes(choice, rows * choice.choice([1, 900])))
            words = choice.choices(ARGUMENTS, k=choice.randrange(6))
            environment = {f"V{i}".encode(): damage_bytes(choice, b"value").replace(b"\0", b"") for i in range(choice.randrange(40))}
            extra = {b"HOOKONCE_COLD": b"1"} if choice.random() < 0.1 else {}
            payload = damage_bytes(choice, choice.choice([b"{}", b'{"a": "\\""}' * 20, b" " * 200_000]))
            daemon.act = lambda line, number=number, certain=certain: certain.append(answer(random.Random(f"{SEED} {number}"), line))  # noqa: S311
            done = [
                subprocess.run([client, *words], input=payload, env={**ENVIRONMENT, **environment, **extra}, capture_output=True, check=False, timeout=60)
                for client in (world.client, world.bin / "freestanding")
            ]

            assert 0 <= min(one.returncode for one in done), (number, done)
            assert 66 != done[0].returncode, (number, done[0].stderr)
            assert b"Sanitizer" not in done[0].stderr, (number, done[0].stderr)
            if all(certain):
                first, second = [(one.returncode, one.stdout, one.stderr) for one in done]
                assert first == second, number
