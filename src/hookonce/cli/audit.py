"""hookonce audit."""

import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing

from hookonce.cli._progress import tell
from hookonce.cli._warn import warn
from hookonce.cli._words import counted
from hookonce.cli.consent import agreed, needs_a_person
from hookonce.errors import HookonceError, UsageError
from hookonce.journeys.looking import looking
from hookonce.store import aside, checkpoint, condition, database, keys, reader, spool
from hookonce.store.audit import Audit, Flaw, verify
from hookonce.store.writer import Writer
from hookonce.texts import dump

_EXAMPLES = """examples:
  hookonce audit verify
  hookonce audit verify --json
  hookonce audit checkpoint
  hookonce audit set-aside
  hookonce audit keys --rotate"""


def configure(parser: ArgumentParser) -> None:
    """The verbs of `audit`."""
    parser.epilog = f"{needs_a_person('audit keys --rotate')}\n{needs_a_person('audit set-aside')}\n\n{_EXAMPLES}"
    told = """verify: look at every record; checkpoint: sign the record as it is now; keys: list the keys that sign;
        set-aside: keep the files of a damaged record, and begin a new one with what can be read of it"""
    parser.add_argument("verb", choices=VERBS, help=told)
    parser.add_argument("--rotate", action="store_true", help="with keys: begin to sign with a new key")
    parser.add_argument("--json", action="store_true", help="tell it as JSON")


def run(options: Namespace) -> int:
    """Do what the verb says."""
    if options.rotate and options.verb != "keys":
        raise UsageError("only keys are rotated. Next: hookonce audit keys --rotate")
    return VERBS[options.verb](options)


def _verify(options: Namespace) -> int:
    """Say which records are not what was written, and of the others how well that is known."""
    with looking(warn):
        pass  # what others have left is part of it
    with closing(reader.opened()) as connection:
        found = verify(connection, tell=_progress)
    if sys.stderr.isatty():
        tell("")
    _warn_of_losses()
    if options.json:
        sys.stdout.buffer.write(dump(found) + b"\n")
    else:
        _show(found)
    return 0 if found.ok else 1


def _warn_of_losses() -> None:
    """What is in no row cannot be looked at, and is missing all the same."""
    if (shut := condition.unwritable()) is not None:
        warn(f"{shut}: what agents tell now is in no record")
    if lost := spool.lost():
        warn(f"{counted(lost, 'record')} could not be written, and {'is' if lost == 1 else 'are'} in no row")


def _progress(done: int, everything: int) -> None:
    if sys.stderr.isatty():
        tell(f"{done:,} of {counted(everything, 'record')} …")


def _show(found: Audit) -> None:
    for flaw in found.flaws:
        print(f"{_place(flaw)}: {flaw.what}")
    if found.more:
        print(f"and {counted(found.more, 'more flaw')}")
    for one in found.ranges:
        print(f"records {one.first:,} to {one.last:,}: {one.state}")
    for note in found.notes:
        warn(note)
    gone = "".join(
        f", {count:,} {what}" for count, what in ((found.removed, "removed"), (found.erased, "erased")) if count
    )
    said = "nothing was changed" if found.ok else counted(len(found.flaws) + found.more, "flaw")
    print(f"{counted(found.rows, 'record')}{gone}: {said}")


def _place(flaw: Flaw) -> str:
    return "record" if not flaw.seq else f"record {flaw.seq:,}" + (f" ({flaw.id})" if flaw.id else "")


def _checkpoint(options: Namespace) -> int:
    """Sign the record as it is now."""
    with looking(warn):
        pass  # as above
    with Writer() as writer:
        made = checkpoint.sign(writer.connection)
        reached = checkpoint.signed(writer.connection)
    if options.json:
        sys.stdout.buffer.write(dump({"signed": reached, "new": made is not None}) + b"\n")
    elif made is None:
        print(f"nothing to do: all {counted(reached, 'record')} are signed already" if reached else "nothing to sign")
    else:
        print(f"records up to {made.seq:,} are signed with the key {made.key}")
    return 0


def _keys(options: Namespace) -> int:
    """List the keys that sign or have signed; a person may begin a new one."""
    if options.rotate:
        known = keys.signing()[0]
        agreed("audit keys --rotate", f"sign with a new key from now on; nobody can sign with {known} any more")
        keys.rotate()
    known_keys = keys.signers()
    if options.json:
        sys.stdout.buffer.write(dump(known_keys) + b"\n")
        return 0
    for one in known_keys:
        print(f"{one.name}  since {one.since}  {'signs' if one.signs else 'signs no more'}")
    if not known_keys:
        print("there is no key yet; the first checkpoint makes one")
    return 0


def _set_aside(options: Namespace) -> int:
    """Begin a new record in the place of a damaged one, with what can be read of it; its files are kept."""
    place = database.file()
    if not place.exists():
        raise HookonceError("nothing was ever kept here")
    why = _wrong()
    if why is None:
        raise HookonceError("nothing is wrong with the record (hookonce audit verify), so it stays where it is")
    agreed(
        "audit set-aside",
        f"{why}\nput {place} aside, keep its files, and begin a new record with what is proven to be what was written\n"
        "what retention has removed, and the sums of it, stay in the old one alone",
    )
    made = aside.put_aside(why, _progress)
    if options.json:
        sys.stdout.buffer.write(dump(made) + b"\n")
    else:
        _tell_aside(made)
    return 0


def _wrong() -> str | None:
    """Why a record should be put aside; None if it should not."""
    wrong = aside.damage()
    if wrong:
        return f"the record was damaged: {wrong}"
    with closing(reader.opened()) as connection:
        found = verify(connection, tell=_progress)
    if found.ok:
        return None
    first = found.flaws[0]
    more = len(found.flaws) + found.more - 1
    told = f"{_place(first)}: {first.what}" + (f", and {counted(more, 'more flaw')}" if more else "")
    return f"the record is not what was written: {told}"


def _tell_aside(made: aside.Aside) -> None:
    print(f"{made.taken:,} of {counted(made.rows, 'record')} taken over; the old files are in {made.folder}")
    for one in made.left:
        rows = f"record {one.first:,}" if one.first == one.last else f"records {one.first:,} to {one.last:,}"
        print(f"left there: {rows}: {one.why}")
    if made.more:
        print(f"left there: {counted(made.more, 'more record')}")


VERBS = {"verify": _verify, "checkpoint": _checkpoint, "keys": _keys, "set-aside": _set_aside}
