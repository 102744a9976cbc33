"""hookonce cost: token cost by day, agent, model, project or session."""

from argparse import ArgumentParser, Namespace

from hookonce.cli._ui import filters
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.layout import Column, Shape
from hookonce.cli._ui.local_time import add_utc_option, day_zone_name
from hookonce.cli._ui.messages import print_result, warn
from hookonce.cli._ui.tables import max_list_rows, print_table, print_words
from hookonce.inspect.stats import COST_GROUPINGS, CostReport, build_cost_report, load_price_lookup
from hookonce.inspect.store_access import open_store
from hookonce.store.usage import prices

_MICROS_PER_DOLLAR = 1_000_000
_ESTIMATE_NOTE = (
    "Costs are estimates from list prices. Surcharges for very long requests are included only where the agent reports "
    "the tokens of each request."
)
_NAME_SHAPES: dict[str, Shape] = {"project": "path", "session": "name"}
_EXAMPLES = """examples:
  hookonce cost --since 3d
  hookonce cost --by model --json
  hookonce cost --by session --since 1d

Set the price of a model in ~/.config/hookonce/prices.toml, in dollars per million tokens;
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
    parser.add_argument("--by", choices=COST_GROUPINGS, default="day", help="default: day")
    filters.add_filter_options(parser, "agent", "since", "until")
    add_utc_option(parser)
    add_flag(parser, "--json", "print JSON; costs are in millionths of a dollar")


def run(options: Namespace) -> None:
    """Show what tokens were worth, as far as agents and their transcripts tell them."""
    with open_store(warn) as connection:
        span = filters.build_span(options, connection)
        zone = day_zone_name(is_local=span.is_local)
        costs = build_cost_report(connection, span, options.by, load_price_lookup(), zone)
    print_result(options, costs, _print_cost)


def _print_cost(costs: CostReport) -> None:
    if not costs.rows:
        print(filters.no_records_message("no agent has reported tokens in that time"))
        return
    visible_rows, cells = costs.rows[-max_list_rows() :] if costs.by == "day" else costs.rows[: max_list_rows()], []
    for row in (*visible_rows, costs.total):
        tokens = (row.input_tokens, row.cache_read_tokens, row.cache_write_tokens, row.output_tokens)
        price = "unpriced" if row.micro_dollars is None else f"${row.micro_dollars / _MICROS_PER_DOLLAR:,.4f}"
        agent_cell = [row.agent or ""] if costs.by == "session" else []
        unpriced_cell = [", ".join(row.unpriced)] if costs.total.unpriced else []
        cells.append((row.name, *agent_cell, *(f"{count:,}" for count in tokens), price, *unpriced_cell))
    title = Column(
        f"day ({costs.zone})" if costs.by == "day" else costs.by, shape=_NAME_SHAPES.get(costs.by, "line"), min_chars=13
    )
    agent = [Column("agent", worth=4, shape="line", min_chars=11)] if costs.by == "session" else []
    counts = [
        Column("input", right=True),
        Column("cache read", worth=2, right=True),
        Column("cache write", worth=1, right=True),
        Column("output", right=True),
        Column("cost", right=True),
    ]
    unpriced_column = [Column("not in the cost", worth=3)] if costs.total.unpriced else []
    print_table([title, *agent, *counts, *unpriced_column], cells)
    if hidden_count := len(costs.rows) - len(visible_rows):
        print(f"and {hidden_count:,} more (--json lists all)")
    if costs.total.unpriced:
        print_words("not in the cost: models without a known price, or without a count of output tokens")
        print_words(f"Next: add the price to {prices.prices_file()}; hookonce cost --help shows how")
    if note := filters.days_note(costs.utc_days):
        print_words(note)
    print_words(_ESTIMATE_NOTE)
