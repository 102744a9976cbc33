"""Peers: which package may be called, what its answer means, and what is told of all of them."""

import json
import subprocess
import sys

import peer_numbers
import pytest
from cases import build_payload
from msgspec.json import decode, encode
from peer_bench import read_verdict
from peer_catalog import (
    ABSENT,
    ALLOWED_LICENCES,
    HOOKS,
    NPM,
    PACKAGES,
    PYPI,
    InstallationError,
    PeerPackage,
    install_package,
    normalize_licence,
    read_metadata_licence,
    run_installer,
)
from peer_report import OURS_FUNCTION, PeerProgram, PeerReport, PeerRow

DENY = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}


@pytest.mark.parametrize(
    ("code", "answer", "expected"),
    [
        (0, "", "passes"),
        (0, "{}", "passes"),
        (0, "no JSON", "passes"),
        (0, "[1]", "passes"),
        (2, "", "denies"),
        (0, json.dumps(DENY), "denies"),
        (0, json.dumps(DENY).replace("deny", "ask"), "asks"),
        (0, json.dumps(DENY).replace("deny", "allow"), "passes"),
        (0, '{"decision":"block"}', "denies"),
        (0, '{"continue":false}', "denies"),
    ],
)
def test_an_answer_is_read_as_claude_code_reads_it(code, answer, expected):
    assert expected == read_verdict(code, answer.encode())


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("MIT", "MIT"),
        ("MIT License", "MIT"),
        ("The MIT License\n\nCopyright ...", "MIT"),
        ("Apache Software License", "Apache-2.0"),
        ("Apache License 2.0", "Apache-2.0"),
        ("Apache License", "Apache"),
        ("MIT with conditions", "MIT with conditions"),
        ("SEE LICENSE IN LICENSE", "SEE LICENSE IN LICENSE"),
        ("", ""),
    ],
)
def test_a_licence_is_known_by_its_usual_spellings_and_by_no_others(told, expected):
    assert expected == normalize_licence(told)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["License-Expression: MIT", "License: other"], "MIT"),
        (["Classifier: License :: OSI Approved :: Apache Software License"], "Apache-2.0"),
        (["License: MIT"], "MIT"),
        (["Name: x"], ""),
    ],
)
def test_metadata_of_a_python_package_has_three_places_for_its_licence(lines, expected):
    assert expected == read_metadata_licence("\n".join(["Metadata-Version: 2.4", *lines, "", "text"]))


def package(registry, folder, licence):
    """A package that is in the cache already."""
    peer = PeerPackage("peer", registry, "a-peer", "1.0", ["{bin}/peer"], "a peer")
    place = folder / "a-peer-1.0"
    if registry == NPM:
        file, text = place / "node_modules/a-peer/package.json", json.dumps({"license": licence})
    else:
        file, text = place / "lib/python3.11/site-packages/a_peer-1.0.dist-info/METADATA", f"License: {licence}\n\n"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    (place / ".finished").touch()
    return peer


@pytest.mark.parametrize("registry", [PYPI, NPM])
def test_only_a_licence_that_lets_everybody_measure_is_called(tmp_path, registry):
    allowed = package(registry, tmp_path / "one", "MIT")
    other = package(registry, tmp_path / "two", "MIT with conditions")

    assert tmp_path / "one/a-peer-1.0" == install_package(allowed, tmp_path / "one", offline=True)
    with pytest.raises(InstallationError, match="MIT with conditions"):
        install_package(other, tmp_path / "two", offline=True)


def test_offline_nothing_is_installed(tmp_path):
    with pytest.raises(InstallationError, match="not in the cache"):
        install_package(PACKAGES[0], tmp_path, offline=True)


def test_what_an_installer_says_is_the_reason():
    with pytest.raises(InstallationError, match="sh fails: error: no such package"):
        run_installer(["sh", "-c", "echo this >&2; echo error: no such package >&2; exit 1"])
    with pytest.raises(InstallationError, match="it needs no-such-installer"):
        run_installer(["no-such-installer"])


def test_every_peer_has_a_pinned_version_and_is_either_here_or_absent_with_a_reason():
    names = [peer.name for peer in PACKAGES]

    assert len(names) == len(set(names))
    assert not set(names) & ABSENT.keys()
    assert all(peer.version and peer.registry in {PYPI, NPM} for peer in PACKAGES)
    assert all(ABSENT.values())
    assert "MIT" in ALLOWED_LICENCES


@pytest.mark.parametrize(("command", "expected"), [("ls -la", "passes"), ("rm -rf /", "denies"), ("git push --force", "passes")])
def test_the_script_judges_as_the_readme_does(command, expected):
    done = subprocess.run(
        [sys.executable, "-I", "-S", HOOKS / "guard_script.py"], input=build_payload(1024, command), capture_output=True, check=True
    )

    assert expected == read_verdict(done.returncode, done.stdout)


@pytest.mark.integration
@pytest.mark.parametrize(("source", "compiler"), [("guard.go", ["go", "build", "-o"]), ("guard.rs", ["rustc", "--edition=2021", "-o"])])
def test_compiled_stand_ins_judge_as_the_script_does(tmp_path, source, compiler):
    program = tmp_path / "guard"
    try:
        run_installer([*compiler, str(program), str(HOOKS / source)])
    except InstallationError as problem:
        pytest.skip(str(problem))
    for command in ("ls", "rm -rf /", 'echo "\u00e9\n\\" && rm -rf x', "rm\t-rf /", "rm -r\U0001f600f"):
        for payload in (build_payload(1024, command), json.dumps(json.loads(build_payload(1024, command))).encode()):
            done = subprocess.run([program], input=payload, capture_output=True, check=True)
            assert ("denies" if "rm -rf" in command else "passes") == read_verdict(0, done.stdout), command
    assert 1 == subprocess.run([program], input=b'{"tool_name": "Bash", "too', capture_output=True, check=False).returncode


def report(**medians):
    """A report with the same median for each payload, without and with a pause."""
    verdicts = {"ls -la": "passes", "rm -rf /": "denies", "git push --force": "asks"}
    programs = [
        PeerProgram(name=name, words="x", version="1.0", licence="MIT", is_peer=name != OURS_FUNCTION, verdicts=verdicts)
        for name in medians
    ]
    rows = [
        PeerRow(name=name, payload=payload, pause_ms=pause, calls=1, p50_ms=p50, p99_ms=p50, errors=0)
        for name, p50 in medians.items()
        for payload in ("ls -la", "rm -rf /", "git push --force")
        for pause in (0, 50)
    ]
    return PeerReport(hookonce="1", date="d", machine="m", load=0.0, rounds=1, programs=programs, rows=rows, missing={"other": "it needs more"})


def test_a_peer_is_compared_with_our_function_hook_where_it_comes_closest():
    found = report(**{OURS_FUNCTION: 2.0, "slow": 9.0})
    fast = PeerRow(name="slow", payload="other", pause_ms=0, calls=1, p50_ms=3.0, p99_ms=3.0, errors=0)
    ours = PeerRow(name=OURS_FUNCTION, payload="other", pause_ms=0, calls=1, p50_ms=2.0, p99_ms=2.0, errors=0)

    assert 4.5 == found.least_ratio("slow")
    found.rows.extend([fast, ours])
    assert 1.5 == found.least_ratio("slow")


def test_a_report_is_read_as_it_was_written():
    found = report(**{OURS_FUNCTION: 2.0})

    assert found == decode(encode(found), type=PeerReport)


def test_the_page_has_a_row_for_each_program_and_names_who_is_missing(monkeypatch):
    found = report(**{"slow": 9.0, OURS_FUNCTION: 2.0, "fast": 1.0})
    monkeypatch.setattr(peer_numbers, "load_report", lambda: found)
    lines = peer_numbers.peer_section()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith(("| slow", "| fast", "| hookonce"))]

    assert ["fast", OURS_FUNCTION, "slow"] == [row[0] for row in rows]
    assert ["9.00 passes", "9.00 denies", "9.00 asks", "9.00", "9.00", "9.00", "4.50", "held"] == rows[2][2:]
    assert [["0.50", "missed"], ["1", ""]] == [row[-2:] for row in rows[:2]]
    assert "Not measured: other: it needs more." in lines
    assert "slow" in peer_numbers.peer_drawing()["docs/peers.svg"]


def test_without_numbers_nothing_is_told_of_peers(monkeypatch):
    monkeypatch.setattr(peer_numbers, "load_report", lambda: None)

    assert ([], {}) == (peer_numbers.peer_section(), peer_numbers.peer_drawing())
