"""hookonce cost."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli import _filters
from hookonce.cli._nothing import nothing_at_all
from hookonce.cli._table import most, show, table
from hookonce.cli._warn import warn
from hookonce.journeys.cost import WAYS, Cost, Line, cost, listed
from hookonce.journeys.looking import looking
from hookonce.store import prices
from hookonce.texts import dump

_MILLION = 1_000_000
_EXAMPLES = """examples:
  hookonce cost --since 3d
  hookonce cost --by model --json

A model without a price of its own gets one in ~/.config/hookonce/prices.toml, in dollars per million tokens;
input and output are needed, the others cost as much as input unless they are named:

  ["my-model"]
  input = 1.25
  output = 10
  cache_read = 0.125
  cache_write = 1.25
  cache_write_hour = 2
  window = 400000    # tokens of context"""


def configure(parser: ArgumentParser) -> None:
    """The options of `cost`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("--by", choices=WAYS, default="day", help="default: day")
    _filters.configure(parser, "agent", "since", "until")
    parser.add_argument("--json", action="store_true", help="one JSON object; a millionth of a dollar is 1")


def run(options: Namespace) -> int:
    """Show what tokens were worth, as far as agents and their transcripts tell them."""
    with looking(warn) as connection:
        found = cost(connection, _filters.span(options, connection), options.by, listed())
    if options.json:
        sys.stdout.buffer.write(dump(found) + b"\n")
    else:
        _show(found)
    return 0


def _show(found: Cost) -> None:
    if not found.rows:
        print(nothing_at_all("no agent has told of tokens in that time"))
        return
    made = table(found.by, "input", "cache read", "cache write", "output", "cost", "not in the cost")
    for column in made.columns[1:6]:
        column.justify = "right"
    shown = found.rows[-most() :] if found.by == "day" else found.rows[: most()]
    for row in (*shown, found.total):
        made.add_row(*_cells(row))
    show(made)
    if more := len(found.rows) - len(shown):
        print(f"and {more:,} more (--json lists all)")
    if found.total.unpriced:
        print("not in the cost: models without a price, or whose output nobody tells")
        print(f"Next: {prices.file()} gives a model a price, hookonce cost --help shows how")
    print("what is told of a whole turn at once has the price of ordinary requests; very long ones may cost more")


def _cells(row: Line) -> list[str]:
    tokens = (row.input_tokens, row.cache_read_tokens, row.cache_write_tokens, row.output_tokens)
    price = "unpriced" if row.micro_dollars is None else f"${row.micro_dollars / _MILLION:,.4f}"
    return [row.name, *(f"{count:,}" for count in tokens), price, ", ".join(row.unpriced)]
