"""hookonce stats and hookonce cost."""

import pytest

from hookonce.model import Usage
from hookonce.store.entry import build_entry
from hookonce.store.writer import Writer
from tests.cli.command import run
from tests.cli.recorded_home import FIRST, SECOND, problems, remember, stored


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home in which something has happened."""
    return remember(tmp_path, monkeypatch)


def stats(home, *words, **more):
    ran = run("stats", "--json", *words, HOME=str(home), **more)
    assert (0, "") == (ran.code, ran.err)
    (told,) = ran.documents()
    assert [] == problems("stats", told)
    return told


def cost(home, *words, **more):
    ran = run("cost", "--json", *words, HOME=str(home), **more)
    assert (0, "") == (ran.code, ran.err)
    (told,) = ran.documents()
    assert [] == problems("cost", told)
    return told


def table(rows):
    return {row["name"]: row["events"] for row in rows}


def test_everything_is_counted_by_what_it_is(home):
    told = stats(home)

    assert 11 == told["events"]
    assert {"codex": 9, "opencode": 2} == table(told["agents"])
    assert {"shell": 3, "file_write": 2} == table(told["tools"])
    assert {"none": 10, "deny": 1} == table(told["decisions"])
    assert {"2026-11-14": 2, "2026-11-15": 9} == table(told["days"])
    assert 3 == table(told["types"])["before_tool_execute"]


def test_what_hooks_cost_is_told(home):
    (hook,) = stats(home)["hooks"]

    assert {
        "hook": "guard",
        "runs": 2,
        "refusals": 1,
        "failures": 0,
        "tokens": 14,
        "mean_ms": 7.5,
    }.items() <= hook.items()
    assert 3 <= hook["p50_ms"] <= 3.75
    assert 12 <= hook["p95_ms"] <= 15


def test_a_time_or_an_agent_can_be_asked_for(home):
    assert 2 == stats(home, "--until", "2026-11-15")["events"]
    only = stats(home, "--agent", "opencode")
    assert (2, None) == (only["events"], only["hooks"])


def test_the_tables_say_the_same(home):
    ran = run("stats", HOME=str(home))

    assert (0, "") == (ran.code, ran.err)
    rows = [line.split()[:2] for line in ran.out.splitlines()]
    assert all(row in rows for row in (["codex", "9"], ["deny", "1"], ["2026-11-15", "9"], ["guard", "2"]))
    assert "not counted per agent" in run("stats", "--agent", "codex", HOME=str(home)).out
    assert "no event matches" in run("stats", "--agent", "cline", HOME=str(home)).out


def test_summaries_that_are_wrong_are_made_again(home):
    right = stats(home)
    with Writer() as writer:
        writer.connection.execute("DELETE FROM daily_counts")
        writer.connection.execute("UPDATE hook_runs SET runs = 100")
    assert right != stats(home)

    assert (0, "11 events counted again\n", "") == run("stats", "--rebuild", HOME=str(home))
    assert right == stats(home)
    assert [{"counted": 11}] == run("stats", "--rebuild", "--json", HOME=str(home)).documents()
    assert 64 == run("stats", "--rebuild", "--agent", "codex", HOME=str(home)).code


# What tokens were worth. A session's end repeats what its turns have told, and is not counted beside them.


def test_tokens_have_the_price_of_their_model_and_unknown_ones_none(home):
    told = cost(home, "--by", "model")
    rows = {row["name"]: row for row in told["rows"]}

    assert 1_000_000 == rows["gpt-5"]["input_tokens"]
    assert 100_000 == rows["gpt-5"]["output_tokens"]
    assert rows["gpt-5"]["micro_dollars"] > 0
    assert (None, ["strange"]) == (rows["strange"]["micro_dollars"], rows["strange"]["unpriced"])
    assert rows["gpt-5"]["micro_dollars"] == told["total"]["micro_dollars"]
    assert ["strange"] == told["total"]["unpriced"]


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("day", ["2026-11-14", "2026-11-15"]),
        ("agent", ["codex", "opencode"]),
        ("model", ["gpt-5", "strange"]),
        ("project", ["/w", "/v"]),
        ("session", [FIRST, SECOND]),
    ],
)
def test_each_way_to_divide_it_comes_to_the_same(home, by, names):
    told = cost(home, "--by", by)

    assert names == [row["name"] for row in told["rows"]]
    assert cost(home)["total"] == told["total"]


def test_a_session_that_was_erased_is_in_the_sum_of_none(home):
    """
    By session as by day: what no session has any more is the unknown one's.
    """
    whole = cost(home)["total"]
    with Writer() as writer:
        writer.connection.execute("DELETE FROM token_usage WHERE session = ?", (SECOND,))
    told = cost(home, "--by", "session")

    assert {FIRST: "codex", "unknown": "opencode"} == {row["name"]: row["agent"] for row in told["rows"]}
    assert whole == told["total"]
    assert [FIRST] == [row["name"] for row in cost(home, "--by", "session", "--agent", "codex")["rows"]]
    assert [] == cost(home, "--by", "session", "--until", "2026-11-14")["rows"]


def test_a_price_of_ones_own_counts(home):
    file = home / ".config/hookonce/prices.toml"
    file.parent.mkdir(parents=True)
    file.write_text('["strange"]\ninput = 200000\noutput = 0\n')

    (row,) = cost(home, "--agent", "opencode")["rows"]
    assert (1_000_000, []) == (row["micro_dollars"], row["unpriced"])


def test_the_table_says_what_is_not_in_it(home):
    out = run("cost", HOME=str(home)).out

    assert "unpriced" in out
    assert "not in the cost: models without a known price" in out
    assert (0, "no agent has reported tokens in that time\n", "") == run("cost", "--agent", "cline", HOME=str(home))


# Days and times are those of whoever asks.

KOLKATA, BERLIN = "IST-5:30", "CET-1CEST,M3.5.0,M10.5.0/3"


def store_events(*moments):
    """Record something at these times."""
    with Writer() as writer:
        writer.append(
            [
                build_entry(
                    stored(
                        60 + n,
                        "agent_stop",
                        time=time,
                        model="gpt-5",
                        session=f"late{n}",
                        usage=Usage(input_tokens=10**n, output_tokens=1),
                    )
                )
                for n, time in enumerate(moments)
            ]
        )


def test_days_are_those_of_the_reader(home):
    """
    With a name in the title and in JSON; a day has 23 or 25 hours where the clock is set, and may begin at half past.
    """
    store_events(
        "2026-03-28T23:00:00Z",
        "2026-03-29T21:59:00Z",
        "2026-03-29T22:00:00Z",
        "2026-10-25T22:59:00Z",
        "2026-10-25T23:00:00Z",
        "2026-03-29T18:29:00Z",
    )
    berlin, kolkata = stats(home, TZ=BERLIN), stats(home, TZ=KOLKATA)
    days = {"2026-03-29": 3, "2026-03-30": 1, "2026-10-25": 1, "2026-10-26": 1, "2026-11-14": 2, "2026-11-15": 9}

    assert days == table(berlin["days"])
    assert {"2026-03-29": 2, "2026-03-30": 2, "2026-10-26": 2, "2026-11-14": 2, "2026-11-15": 9} == table(
        kolkata["days"]
    )
    assert table(stats(home, "--utc", TZ=KOLKATA)["days"]) == table(stats(home)["days"]) != table(kolkata["days"])
    assert ["IST", "UTC", "Asia/Kolkata"] == [
        kolkata["zone"],
        stats(home, "--utc", TZ=KOLKATA)["zone"],
        stats(home, TZ="Asia/Kolkata")["zone"],
    ]
    assert {"2026-03-29": 100_011, "2026-03-30": 100} == {
        row["name"]: row["input_tokens"] for row in cost(home, "--until", "2026-04-01", TZ=BERLIN)["rows"]
    }
    titles = [run(name, HOME=str(home), TZ="Asia/Kolkata").out for name in ("stats", "cost")]
    assert all("day (Asia/Kolkata)" in title for title in titles)
    assert "day (UTC)" in run("cost", "--utc", HOME=str(home), TZ=KOLKATA).out


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("words", "zone", "count"),
    [
        (["--since", "2026-03-29"], BERLIN, 2),
        (["--since", "2026-03-29T00:00:01"], BERLIN, 1),
        (["--since", "2026-03-29", "--until", "2026-03-29T23:59:30"], BERLIN, 1),
        (["--since", "2026-03-29"], "UTC", 1),
        (["--since", "2026-03-29", "--utc"], BERLIN, 1),
        (["--since", "2026-03-28T23:00:00Z"], BERLIN, 2),
        (["--since", "2026-03-29T05:00:00+05:30"], BERLIN, 1),
        (["--since", "2026-03-29T04:30:00"], KOLKATA, 2),
    ],
    ids=str,
)
def test_a_time_without_a_zone_is_that_of_the_reader(home, words, zone, count):
    store_events("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z")
    found = run("events", "--json", "--until", "2026-04-01", *words, HOME=str(home), TZ=zone)

    assert (0, count) == (found.code, len(found.documents()))


def test_a_zone_between_the_quarters_is_told(home):
    ran = run("stats", "--json", HOME=str(home), TZ="XXX-5:07")

    assert "UTC" == ran.documents()[0]["zone"]
    assert "days of UTC are shown instead" in ran.err
