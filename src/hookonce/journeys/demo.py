"""demo: recorded sessions of several agents, decoded as if they ran side by side."""

from collections.abc import Iterator
from importlib.resources import files

from msgspec.json import decode as parse

from hookonce import agents
from hookonce.agents import decode
from hookonce.ids import StreamIds
from hookonce.model import Record


def recorded() -> list[str]:
    """The agents whose sessions are bundled."""
    names = (file.name for file in (files("hookonce") / "recordings").iterdir())
    return sorted(name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl"))


def session(name: str) -> Iterator[Record]:
    """One agent's recorded session as records."""
    ids = StreamIds()
    text = (files("hookonce") / "recordings" / f"{name}.jsonl").read_bytes()
    for line in text.splitlines():
        step = parse(line)
        event = decode(agents.load(name), step["payload"], step["event"], id=ids.next(name, line))
        yield Record(event=event)


def side_by_side(names: list[str]) -> Iterator[Record]:
    """The sessions step by step: first events first, whatever agent they are of."""
    running = [session(name) for name in names]
    while running:
        for one in list(running):
            step = next(one, None)
            if step is None:
                running.remove(one)
            else:
                yield step
