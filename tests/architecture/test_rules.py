"""The rules of the source tree hold, and each of them notices when it is broken."""

from fnmatch import fnmatch
from functools import partial
from statistics import median

import pytest

from hookonce.agents import AGENTS
from tests.architecture import exceptions, rules
from tests.architecture.tree import bindings_of, functions, length, line_count, python_files, source_tree

RULES = {
    "at most 20 files side by side": rules.crowded_folders,
    "no class name twice": rules.repeated_classes,
    "a small file has two importers": partial(rules.lonely_files, exceptions=exceptions.SMALL_FILES),
    "a file has at most 400 lines": partial(rules.long_files, exceptions=exceptions.LONG_FILES),
    "a function has at most 50 lines": partial(rules.long_functions, exceptions=exceptions.LONG_FUNCTIONS),
    "a package's own file holds names and no logic": partial(rules.busy_packages, exceptions=exceptions.PACKAGES),
    "file names are nouns": partial(rules.verb_files, exceptions=exceptions.FILE_NAMES),
    "no name is a participle": partial(rules.participle_names, exceptions=exceptions.PARTICIPLES),
    "a limit carries its unit": rules.limits_without_unit,
    "private modules stay in their package": rules.private_imports,
    "one list of agents": partial(rules.agent_lists, agents=AGENTS, exceptions=exceptions.AGENT_LISTS),
}
LONG = "x = 1\n"
FIVE = "NAMES = ['codex', 'cline', 'kiro', 'amp', 'devin']\n"
BROKEN = [
    ("at most 20 files side by side", {f"store/part{n}.py": "" for n in range(21)}, ["store: 21 files"]),
    ("no class name twice", {"a.py": "class Call: ...\n", "b.py": "class Call: ...\n"}, ["Call: a.py, b.py"]),
    ("a small file has two importers", {"a.py": "from hookonce.base import ids\n" * 40, "base/ids.py": LONG}, ["base/ids.py: 1 lines, 1 importers"]),
    ("a small file has two importers", {"base/ids.py": LONG}, ["base/ids.py: 1 lines, 0 importers"]),
    ("a file has at most 400 lines", {"a.py": LONG * 401}, ["a.py: 401 lines"]),
    ("a function has at most 50 lines", {"a.py": "def f():\n" + "    x = 1\n" * 50}, ["a.py:1 f: 51 lines"]),
    ("a package's own file holds names and no logic", {"store/__init__.py": "def f(): ...\n"}, ["store/__init__.py:1 FunctionDef"]),
    ("a package's own file holds names and no logic", {"store/__init__.py": "A = f()\n"}, ["store/__init__.py:1 Assign"]),
    ("file names are nouns", {"store/told.py": ""}, ["store/told"]),
    ("file names are nouns", {"store/text_parse.py": ""}, ["store/text_parse"]),
    ("file names are nouns", {"answered/calls.py": ""}, ["answered"]),
    ("file names are nouns", {"store/sql_helpers.py": ""}, ["store/sql_helpers"]),
    ("no name is a participle", {"a.py": "def told(): ...\n"}, ["a.py:1 told"]),
    ("no name is a participle", {"a.py": "class Answered: ...\n"}, ["a.py:1 Answered"]),
    ("no name is a participle", {"a.py": "def f(_chosen): ...\n"}, ["a.py:1 f._chosen"]),
    ("no name is a participle", {"a.py": "def f(*, kept=1, **sent): ...\n"}, ["a.py:1 f.kept", "a.py:1 f.sent"]),
    ("no name is a participle", {"a.py": "def f():\n    found = 1\n"}, ["a.py:2 f.found"]),
    ("no name is a participle", {"a.py": "class Row:\n    judged: int = 1\n"}, ["a.py:2 Row.judged"]),
    ("no name is a participle", {"a.py": "class Row:\n    def f(self):\n        self.made = 1\n"}, ["a.py:3 Row.f.made"]),
    ("no name is a participle", {"a.py": "x = [said for said in y]\n"}, ["a.py:1 said"]),
    *(
        ("a limit carries its unit", {"a.py": f"{name} = 1 << 16\n"}, [f"a.py:1 {name}"])
        for name in ("_MOST", "FRAME_LIMIT", "_CHUNK", "START_TIMEOUT", "MAX_FRAME", "_POLL_INTERVAL", "CALLS_TIMEOUT")
    ),
    ("private modules stay in their package", {"a.py": "from hookonce.store._sql import x\n", "store/_sql.py": ""}, ["a.py:1 hookonce.store._sql"]),
    ("private modules stay in their package", {"cli/a.py": "import hookonce.agents._config.entry\n", "agents/_config/entry.py": ""}, ["cli/a.py:1 hookonce.agents._config.entry"]),
    ("one list of agents", {"a.py": FIVE}, ["a.py:1 names 5 agents"]),
    ("one list of agents", {"a.py": "T = {'codex': 1, 'cline': 2, 'kiro': 3, 'amp': 4, 'devin': 5}\n"}, ["a.py:1 names 5 agents"]),
]
KEPT = [
    ("a small file has two importers", {"a.py": f"from hookonce.base import ids\n{LONG * 40}", "b.py": f"def f():\n    import hookonce.base.ids\n{LONG * 40}", "base/ids.py": LONG}),
    ("file names are nouns", {"daemon/missed_calls.py": "", "base/seed.py": ""}),
    ("no name is a participle", {"a.py": "speed = feed = 1\nclosed_keys = chosen_row = 2\n"}),
    *(
        ("a limit carries its unit", {"a.py": f"{name} = 1\n"})
        for name in ("MAX_FRAME_BYTES", "START_TIMEOUT_S", "_POLL_INTERVAL_S", "BATCH_ROWS", "MAX_CALLS_PER_FILE", "TIMEOUTS", "VERSION")
    ),
    ("private modules stay in their package", {"store/query.py": "from hookonce.store._sql import x\n", "store/_sql.py": ""}),
    ("one list of agents", {"a.py": FIVE.replace("'devin'", "'devil'")}),
]


@pytest.mark.parametrize("name", RULES)
def test_the_package_keeps_the_rule(name):
    """
    Nothing in src/hookonce breaks it, but for what exceptions.py lists with a reason.
    """
    assert [] == RULES[name](source_tree())


@pytest.mark.parametrize(("name", "tree", "lines"), BROKEN)
def test_a_tree_that_breaks_the_rule_is_noticed(name, tree, lines):
    """
    The rule names the place.
    """
    assert lines == RULES[name](tree)


@pytest.mark.parametrize(("name", "tree"), KEPT)
def test_a_tree_that_keeps_the_rule_is_not(name, tree):
    """
    The rule leaves alone what only looks similar.
    """
    assert [] == RULES[name](tree)


def test_every_rule_is_shown_to_fail():
    """
    A rule without a tree that breaks it may have gone blind.
    """
    assert RULES.keys() == {name for name, *_ in BROKEN}


@pytest.mark.parametrize("table", ["SMALL_FILES", "LONG_FILES", "FILE_NAMES", "PACKAGES", "AGENT_LISTS"])
def test_no_exception_for_a_file_is_left_over(table):
    """
    What was renamed or removed needs no exception any more.
    """
    names = [*source_tree(), *(path.rpartition(".")[0] for path in source_tree())]
    names += [path.rpartition("/")[0] for path in source_tree()]

    assert [] == [pattern for pattern in getattr(exceptions, table) if not any(fnmatch(name, pattern) for name in names)]


def test_no_exception_for_a_name_is_left_over():
    """
    Each stands for a name that the package still has.
    """
    bindings = [binding for path in python_files(source_tree()) for binding in bindings_of(source_tree()[path])]
    names = {name for _, name, _ in bindings} | {f"{owner.rpartition('.')[2]}.{name}" for owner, name, _ in bindings}

    assert set() == exceptions.PARTICIPLES.keys() - names


def test_most_files_and_functions_are_short():
    """
    The median file has fewer than 150 lines and the median function fewer than 15.
    """
    tree = source_tree()
    files = [path for path in python_files(tree) if not path.endswith("__init__.py")]

    assert median(line_count(tree[path]) for path in files) < 150
    assert median(length(function) for path in files for function in functions(tree[path])) < 15
