"""Rules of the source tree: each is a function of a tree that lists what breaks it, one line each.

What is allowed besides stands in exceptions.py with its reason, and comes in as an argument.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatch

from tests.architecture.tree import (
    Tree,
    bindings_of,
    functions,
    imports_of,
    is_docstring,
    length,
    line_count,
    module_of,
    parse,
    python_files,
)

MAX_SIBLING_FILES = 20
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50
MIN_FILE_LINES = 40
MIN_IMPORTERS = 2
MAX_AGENT_NAMES = 4



def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


EMPTY_NAMES = _words("util utils helper helpers manager factory common misc base_class stuff")
# Verbs that name a file badly: what the file holds is the loader, the selection, the redaction.
VERBS = _words("""accept add adopt analyse append apply ask begin bring build calculate catch choose clean collect compute connect
    convert create decide decode degrade delete deliver derive detect discover do drive elide emit encode erase evaluate
    execute expand explain extract fetch find fold follow forget gather generate get give handle hear identify ingest
    insert install interpret invoke judge keep learn listen load locate make manage mend normalise normalize obtain
    open parse perform prepare produce protect prove provide purge put read receive recognise redact refuse reject
    remember remove render replace resolve respond restore retrieve sanitise sanitize save say see
    seek select send serve show speak splice take tell think transform translate try
    understand uninstall unpack update validate verify wait weaken write""")

IRREGULAR_PARTICIPLES = _words("""begun borne born bound bought broken brought built caught chosen dealt done drawn driven eaten fallen fed felt fled
    forgotten fought found given gone got grown had heard held hidden hung kept known laid led left lent lit lost made
    meant met misplaced paid put_aside ridden risen said seen sent shown sold sought spent spoken spun stolen stood struck
    stuck swept sworn swum taken taught thought thrown told torn understood undone unended unheard unkept unquoted unsaid
    unseen untold withdrawn woken won worn wound written rewritten""")
ED_NOUNS = _words("bed bleed breed embed exceed feed hundred indeed need proceed red seed shed speed succeed weed")

# Words that say of a constant that it limits something, and words that say in what.
TIME_WORDS = _words("TIMEOUT PATIENCE REST DELAY GRACE LIFETIME DEADLINE PERIOD")
LIMIT_WORDS = TIME_WORDS | _words("MOST LEAST LIMIT CHUNK BATCH INTERVAL MAX MIN BUDGET")
TIME_UNITS = _words("S MS US NS DAYS")
UNITS = TIME_UNITS | _words("PERCENT DEPTH PORT MB KB SCORE RATIO COUNT CODE FD INTEGER UINT64 VERSION")

FileException = dict[str, str]  # a path or pattern, and the reason


def crowded_folders(tree: Tree) -> list[str]:
    """More than 20 files side by side."""
    counts = Counter(path.rpartition("/")[0] for path in tree if not path.endswith("__init__.py"))
    return [f"{folder or '.'}: {count} files" for folder, count in counts.items() if count > MAX_SIBLING_FILES]


def repeated_classes(tree: Tree) -> list[str]:
    """A class name that the package uses twice."""
    places = defaultdict(list)
    for path in python_files(tree):
        for node in ast.walk(parse(tree[path])):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path)
    return [f"{name}: {', '.join(paths)}" for name, paths in sorted(places.items()) if len(paths) > 1]


def lonely_files(tree: Tree, exceptions: FileException) -> list[str]:
    """A file under 40 lines with fewer than two importers, which belongs into its importer."""
    importers = defaultdict(set)
    for path in python_files(tree):
        for module, _ in imports_of(path, tree[path]):
            importers[module].add(path)
    return [
        f"{path}: {line_count(tree[path])} lines, {len(importers[module_of(path)])} importers"
        for path in python_files(tree)
        if not path.endswith("__init__.py") and line_count(tree[path]) < MIN_FILE_LINES
        if len(importers[module_of(path)]) < MIN_IMPORTERS and not _is_listed(path, exceptions)
    ]


def long_files(tree: Tree, exceptions: FileException) -> list[str]:
    """A file of more than 400 lines."""
    counts = {path: line_count(text) for path, text in tree.items() if not _is_listed(path, exceptions)}
    return [f"{path}: {count} lines" for path, count in counts.items() if count > MAX_FILE_LINES]


def long_functions(tree: Tree, exceptions: FileException) -> list[str]:
    """A function that does not fit on a screen, docstring included."""
    return [
        f"{path}:{function.lineno} {function.name}: {length(function)} lines"
        for path in python_files(tree)
        for function in functions(tree[path])
        if length(function) > MAX_FUNCTION_LINES and f"{path} {function.name}" not in exceptions
    ]


def busy_packages(tree: Tree, exceptions: FileException) -> list[str]:
    """An `__init__.py` with more than a docstring, imports and literals."""
    return [
        f"{path}:{node.lineno} {type(node).__name__}"
        for path in python_files(tree)
        if path.endswith("__init__.py") and not _is_listed(path, exceptions)
        for node in parse(tree[path]).body
        if not _is_plain(node)
    ]


def _is_plain(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            return value is None or _is_literal(value)
    return is_docstring(node)


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except ValueError:
        return False
    return True


def verb_files(tree: Tree, exceptions: FileException) -> list[str]:
    """A file or folder that is named by a verb, a participle, or a word that says nothing."""
    names = {part: path for path in tree for part in _parts(path)}
    return [name for name in sorted(names) if _is_no_noun(name.rpartition("/")[2]) and not _is_listed(name, exceptions)]


def _parts(path: str) -> Iterator[str]:
    """A file and its folders, each by its path without a suffix."""
    pieces = path.rpartition(".")[0].split("/")
    yield from ("/".join(pieces[: end + 1]) for end in range(len(pieces)) if not pieces[end].startswith("__"))


def _is_no_noun(name: str) -> bool:
    """A noun phrase ends in its noun; before that, `missed_calls` may say which ones."""
    words = name.strip("_").split("_")
    return words[-1] in VERBS or is_participle(words[-1]) or bool(EMPTY_NAMES.intersection(words))


def is_participle(name: str) -> bool:
    """Whether a name is nothing but a participle: `told`, `_chosen`, `answered`."""
    word = name.strip("_").lower()
    return word in IRREGULAR_PARTICIPLES or (
        "_" not in word and len(word) > 3 and word.endswith("ed") and word not in ED_NOUNS
    )


def participle_names(tree: Tree, exceptions: FileException) -> list[str]:
    """A function, class, parameter, variable or field whose name is a participle."""
    return [
        f"{path}:{line} {f'{owner}.{name}' if owner else name}"
        for path in python_files(tree)
        for owner, name, line in bindings_of(tree[path])
        if is_participle(name) and not {name, f"{owner.rpartition('.')[2]}.{name}"} & exceptions.keys()
    ]


def limits_without_unit(tree: Tree) -> list[str]:
    """A number that limits something and does not say in what: bytes, seconds, rows, files, calls."""
    return [
        f"{path}:{line} {name}"
        for path in python_files(tree)
        for name, line in _number_constants(parse(tree[path]))
        if LIMIT_WORDS & set(words := name.strip("_").split("_")) and not _has_unit(words)
    ]


def _number_constants(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _is_number(node.value):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name) and name.id.isupper():
                        yield name.id, name.lineno


def _is_number(value: ast.expr) -> bool:
    """A number, sums and products of numbers, or a tuple of them."""
    match value:
        case ast.Constant(value=number):
            return isinstance(number, int | float) and not isinstance(number, bool)
        case ast.BinOp(left=left, right=right):
            return _is_number(left) or _is_number(right)
        case ast.Tuple(elts=elements):
            return bool(elements) and all(map(_is_number, elements))
    return False


def _has_unit(words: list[str]) -> bool:
    """Of a time, its unit; of anything else a unit, or what is counted: a plural."""
    if TIME_WORDS.intersection(words):
        return not TIME_UNITS.isdisjoint(words)
    return not UNITS.isdisjoint(words) or any(
        len(w) > 2 and w.endswith("S") and not w.endswith(("SS", "US")) for w in words
    )


def private_imports(tree: Tree) -> list[str]:
    """A module `_x` that is imported from outside of its package."""
    modules = {module_of(path) for path in python_files(tree)}
    return [
        f"{path}:{line} {module}"
        for path in python_files(tree)
        for module, line in imports_of(path, tree[path])
        if module in modules and (owner := _private_owner(module)) is not None
        if not f"{module_of(path)}.".startswith(f"{owner}.")
    ]


def _private_owner(module: str) -> str | None:
    """The package to which a private module belongs, if it or a package above it is private."""
    parts = module.split(".")
    index = next((i for i, part in enumerate(parts) if re.fullmatch(r"_[a-z0-9]\w*", part)), None)
    return None if index is None else ".".join(parts[:index])


def agent_lists(tree: Tree, agents: Collection[str], exceptions: FileException) -> list[str]:
    """A literal that names five agents or more besides the only list of them."""
    return [
        f"{path}:{node.lineno} names {count} agents"
        for path in python_files(tree)
        if not _is_listed(path, exceptions)
        for node in ast.walk(parse(tree[path]))
        if (count := len(set(_literal_texts(node)) & set(agents))) > MAX_AGENT_NAMES
    ]


def _literal_texts(node: ast.AST) -> Iterator[str]:
    elements: Iterable[ast.expr | None] = ()
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        elements = node.elts
    elif isinstance(node, ast.Dict):
        elements = node.keys
    yield from (e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str))


def _is_listed(path: str, exceptions: FileException) -> bool:
    return any(fnmatch(path, pattern) for pattern in exceptions)
