"""A module in Python: it counts the words of a text, and remembers which events it was told."""

from hookonce.modules import Fault, Request, module

m = module(name="words", kind="tool", version="1.0.0", capabilities=[])
seen: list[str] = []


@m.op("count")
def count(text: str, longest: int = 3) -> dict[str, int]:
    """How many words there are, and how many of them are longer than that."""
    if longest < 0:
        raise Fault("bad_request", "longest is 0 or more")
    words = text.split()
    return {"words": len(words), "long": sum(len(word) > longest for word in words)}


@m.op("echo")
def echo(args: dict, request: Request) -> dict:
    """What was sent, and by which session."""
    return {"args": args, "session_id": request.session_id}


@m.on_event
def remember(event: dict) -> None:
    """The caller is answered before this runs."""
    seen.append(event["event"])


@m.op("seen")
def list_seen() -> list[str]:
    """The names of the events so far."""
    return seen


if __name__ == "__main__":
    m.run()
