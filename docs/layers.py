"""Parts of ARCHITECTURE.md and CONTRIBUTING.md: the picture and the list of layers, from the import contract."""

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "hookonce"
CONTRACT = "layers"
BEGIN, END = "<!-- layers: made by `make docs` from pyproject.toml; do not edit -->", "<!-- end of layers -->"
PICTURE_COLUMNS = 76
LIST_COLUMNS = 100


def layers() -> list[list[str]]:
    """The packages of each layer, the highest first; those that are not built yet are left out."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    lines = next(contract["layers"] for contract in settings["contracts"] if contract["id"] == CONTRACT)
    names = [[name.strip(" ()") for name in line.split("|")] for line in lines]
    return [present for line in names if (present := [name for name in line if _source(name) is not None])]


def pages() -> dict[str, str]:
    """Both pages with their generated part renewed."""
    parts = {"ARCHITECTURE.md": picture(), "CONTRIBUTING.md": order()}
    return {name: _renew((ROOT / name).read_text(encoding="utf-8"), part) for name, part in parts.items()}


def picture() -> str:
    """The layers as boxes above each other, then what each package is."""
    wide = PICTURE_COLUMNS
    lines = ["```text", f"┌{'─' * wide}┐"]
    for number, names in enumerate(layers()):
        lines += [f"├{'─' * wide}┤"] if number else []
        lines += [f"│ {'   '.join(names).center(wide - 2)} │"]
    lines += [f"└{'─' * wide}┘", "```", "", "| package | what it is |", "|---|---|"]
    return "\n".join([*lines, *(f"| `{name}` | {_summary(name)} |" for names in layers() for name in names)])


def order() -> str:
    """The layers as one line, the lowest first."""
    groups = [names[0] if len(names) == 1 else f"{{ {' | '.join(names)} }}" for names in reversed(layers())]
    lines = [""]
    for group in groups:
        word = group if group == groups[-1] else f"{group} <"
        if lines[-1] and len(lines[-1]) + len(word) >= LIST_COLUMNS:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(["```text", *lines, "```"])


def _source(name: str) -> Path | None:
    candidates = (PACKAGE / f"{name}.py", PACKAGE / name / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


def _summary(name: str) -> str:
    """The first sentence of the module's docstring."""
    file = _source(name)
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) if file is not None else None
    return re.split(r"(?<=\.)\s|\n\n", text or "", maxsplit=1)[0].rstrip(".").replace("|", "\\|").replace("\n", " ")


def _renew(page: str, part: str) -> str:
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    if not after:
        raise SystemExit(f"the page has no place for the layers: {BEGIN}")
    return f"{before}{BEGIN}\n\n{part}\n\n{END}{after}"
