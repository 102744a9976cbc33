"""What the documentation shows is what happens."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hookonce
from tests.cli.command import environment, run
from tests.shared import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "agents").glob("*.md"))]
BLOCK = re.compile(r"```(console|python)\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def blocks(language):
    """Each block of a language with the page that it stands on."""
    return [
        pytest.param(text, id=f"{page.name}-{number}")
        for page in PAGES
        for number, (kind, text) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))
        if kind == language
    ]


def commands(text):
    """Each command of a console block with the output that it must have; `make` is tried by hand."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        if not command.startswith("make "):
            yield command, output


@pytest.mark.parametrize("text", blocks("console"))
def test_console_blocks(text):
    """
    A command that the documentation shows prints what the documentation says.
    """
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}
    for command, expected in commands(text):
        done = subprocess.run(command, shell=True, capture_output=True, text=True, env=env, check=False)  # noqa: S602
        assert expected == done.stdout


@pytest.mark.parametrize("text", blocks("python"))
def test_python_blocks(text):
    """
    An example in Python does what it says.
    """
    example = doctest.DocTestParser().get_doctest(text, {}, "documentation", None, 0)

    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    """
    A relative link names a file that is there.
    """
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_generated_pages_are_up_to_date():
    """
    Pages and schemas that are made from the tables say what the tables say.
    """
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True, check=False
    )

    assert (0, "") == (done.returncode, done.stdout), done.stderr


def test_public_names_are_few_and_there():
    """
    Every public name can be imported, and there are at most twenty.
    """
    assert len(hookonce.__all__) <= 20
    assert all(getattr(hookonce, name) for name in hookonce.__all__)


def test_every_command_is_in_the_readme():
    """
    No command is hidden from the first page.
    """
    from hookonce.cli import COMMANDS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"hookonce {name}" not in text] == []


def test_the_hook_of_the_readme_passes_without_a_warning_and_refuses(tmp_path):
    """
    As a reader types it: the script, the manifest beside it, `check` and `try`.
    """
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    script = next(block for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) if "cat >" in block)
    env = environment(HOME=str(tmp_path))
    subprocess.run(script, shell=True, env=env, check=True)  # noqa: S602
    manifest = tmp_path / ".config" / "hookonce" / "hooks.json"
    manifest.write_text(next(block for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL) if '"spec"' in block))
    checked = run("check", manifest, HOME=str(tmp_path))
    tried = run("try", "no-rm-rf", "--agent", "codex", "--json", HOME=str(tmp_path))

    assert (0, f"{manifest}: manifest, 1 document: ok\n", "") == checked
    assert "not like this" in tried.documents()[0]["reply"]["stdout"]
