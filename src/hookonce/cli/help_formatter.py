"""Help formatter of the command line and its verbs."""

from argparse import RawDescriptionHelpFormatter

SUMMARY_COLUMN = 14  # where the list of commands says what each is for
_FULL_LINE_CHARS = 80  # a line of a help text that is shorter ends where its writer wanted it to


class HelpFormatter(RawDescriptionHelpFormatter):
    """Help in the width of the terminal: sentences wrap, examples stay whole, so that they can be copied."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from textwrap import wrap  # most commands print no help

        lines: list[str] = []
        for line in _join_paragraphs(text):
            below = " " * SUMMARY_COLUMN if line.startswith(" ") else ""
            is_example = line.lstrip().startswith("hookonce ")
            lines += [line] if is_example or not line else wrap(line, width, subsequent_indent=below)
        return "\n".join(indent + line for line in lines) + "\n"


def _join_paragraphs(text: str) -> list[str]:
    """Lines of a text, with those joined that were broken only because the source line was full."""
    lines: list[str] = []
    for line in text.splitlines():
        if lines and len(lines[-1]) >= _FULL_LINE_CHARS and line and not line.startswith(" "):
            lines[-1] += f" {line}"
        else:
            lines.append(line)
    return lines
