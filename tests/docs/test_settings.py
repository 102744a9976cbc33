"""The settings that docs/hooks.md explains."""

import re
import tomllib

from hookonce.base import settings
from hookonce.cli.observe.cost import _EXAMPLES
from hookonce.store.usage import prices
from tests.manifest.projects import house, put
from tests.shared import ROOT

PAGE = (ROOT / "docs" / "hooks.md").read_text(encoding="utf-8").partition("## Settings")[2]
EXAMPLE, PRICES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
ROWS = dict(re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", PAGE, re.MULTILINE))


def read():
    """Every setting as the code reads it."""
    current = settings.load().require(*settings.setting_types())
    found = {name: getattr(current, name) for name in (*ROWS, "user", "keep_days", "keep_megabytes")} | {"context_limit": current.context_limit or 10240}
    return {name: value for name, value in found.items() if value is not None}


def test_the_defaults_are_those_of_the_table(monkeypatch, tmp_path):
    """
    Without a file everything is as the table says.
    """
    house(monkeypatch, tmp_path)

    assert read() == tomllib.loads("\n".join(f"{name} = {value}" for name, value in ROWS.items()))


def test_the_example_sets_every_setting(monkeypatch, tmp_path):
    """
    It can be read, as the user's file or as the machine's, and each line of it changes something.
    """
    home = house(monkeypatch, tmp_path)
    before = read()
    for folder in (home / ".config" / "hookonce", tmp_path / "etc"):
        file = put(folder / "config.toml", EXAMPLE)
        assert read() == tomllib.loads(EXAMPLE)
        assert all(before.get(name) != value for name, value in read().items())
        file.unlink()


def test_the_prices_of_the_example_count(monkeypatch, tmp_path):
    """
    On the page, and in what `hookonce cost --help` shows.
    """
    house(monkeypatch, tmp_path)
    put(prices.prices_file(), PRICES)
    found = prices.price_of("vendor/My-Model-2026-01-01")
    (rates,) = found.rates

    assert (1_250_000, 10_000_000, 125_000, 1_250_000, 2_000_000) == (
        rates.input,
        rates.output,
        rates.cache_read,
        rates.cache_write,
        rates.cache_write_hour,
    )
    assert 400_000 == found.window
    shown = "\n".join(line.strip() for line in _EXAMPLES.partition("named:")[2].splitlines())
    assert tomllib.loads(PRICES) == tomllib.loads(shown)
