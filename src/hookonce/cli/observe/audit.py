"""hookonce audit: integrity check of the store, checkpoints, signing keys, quarantine."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from contextlib import closing

from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.consent import require_consent
from hookonce.cli._ui.messages import pluralize, print_json, print_result, show_status, warn
from hookonce.errors import HookonceError, UsageError
from hookonce.inspect.store_access import open_store
from hookonce.store import database, status
from hookonce.store.integrity import checkpoint, keys
from hookonce.store.integrity.audit import Audit, Flaw, verify
from hookonce.store.maintenance.quarantine import QuarantineResult, find_damage, quarantine_database
from hookonce.store.spool import files
from hookonce.store.writer import Writer

_EXAMPLES = """examples:
  hookonce audit verify
  hookonce audit verify --json
  hookonce audit checkpoint
  hookonce audit set-aside
  hookonce audit keys --rotate"""


def configure(parser: ArgumentParser) -> None:
    """The verbs of `audit`."""
    parser.epilog = _EXAMPLES
    verb_help = """verify: check every record; checkpoint: sign the record as it is now;
        keys: list the signing keys;
        set-aside: keep the files of a damaged record, and start a new one with what can be verified"""
    parser.add_argument("verb", choices=VERBS, help=verb_help)
    add_flag(parser, "--rotate", "with keys: sign with a new key from now on")
    add_flag(parser, "--json", "print JSON")


def run(options: Namespace) -> int | None:
    """Do what the verb says."""
    if options.rotate and options.verb != "keys":
        raise UsageError("--rotate works only with keys. Next: hookonce audit keys --rotate")
    return VERBS[options.verb](options)


def _run_verify(options: Namespace) -> int:
    with open_store(warn):
        pass  # what others have left is part of it
    with closing(database.open_reader()) as connection:
        audit = verify(connection, report_progress=_show_audit_progress)
    show_status("")
    if (problem := status.find_write_obstacle()) is not None:
        warn(f"{problem}: new events are not recorded")
    if lost_count := files.lost_record_count():
        verb = "is" if lost_count == 1 else "are"
        warn(f"{pluralize(lost_count, 'record')} could not be written, and {verb} missing")
    print_result(options, audit, _print_audit)
    return 0 if audit.ok else 1


def _show_audit_progress(done_count: int, total: int) -> None:
    show_status(f"{done_count:,} of {pluralize(total, 'record')} …")


def _print_audit(audit: Audit) -> None:
    for flaw in audit.flaws:
        print(f"{_flaw_location(flaw)}: {flaw.what}")
    if audit.more:
        print(f"and {pluralize(audit.more, 'more flaw')}")
    for span in audit.ranges:
        print(f"records {span.first:,} to {span.last:,}: {span.state}")
    for note in audit.notes:
        warn(note)
    removals = {"removed": audit.removed, "erased": audit.erased}
    removal_note = "".join(f", {count:,} {kind}" for kind, count in removals.items() if count)
    verdict = "nothing was changed" if audit.ok else pluralize(len(audit.flaws) + audit.more, "flaw")
    print(f"{pluralize(audit.rows, 'record')}{removal_note}: {verdict}")


def _flaw_location(flaw: Flaw) -> str:
    return "record" if not flaw.seq else f"record {flaw.seq:,}" + (f" ({flaw.id})" if flaw.id else "")


def _run_checkpoint(options: Namespace) -> None:
    with open_store(warn):
        pass  # as above
    with Writer() as writer:
        new_checkpoint = checkpoint.sign_checkpoint(writer.connection)
        signed_count = checkpoint.last_signed_seq(writer.connection)
    if options.json:
        print_json({"signed": signed_count, "new": new_checkpoint is not None})
    elif new_checkpoint is None:
        text = f"nothing to do: all {pluralize(signed_count, 'record')} are signed already"
        print(text if signed_count else "nothing to sign")
    else:
        print(f"all records up to {new_checkpoint.seq:,} are signed with the key {new_checkpoint.key}")


def _run_keys(options: Namespace) -> None:
    """List the keys that sign or have signed; a person may begin a new one."""
    if options.rotate:
        current_key = keys.load_signing_key()[0]
        consequence = f"sign with a new key from now on; {current_key} can no longer sign"
        require_consent("audit keys --rotate", consequence)
        keys.rotate_signing_key()
    print_result(options, keys.list_signing_keys(), _print_keys)


def _print_keys(signers: list[keys.SigningKeyInfo]) -> None:
    for signer in signers:
        print(f"{signer.name}  since {signer.since}  {'signs' if signer.signs else 'retired'}")
    if not signers:
        print("there is no key yet; the first checkpoint makes one")


def _run_set_aside(options: Namespace) -> None:
    """Begin a new record in the place of a damaged one, with what can be read of it; its files are kept."""
    file = database.database_file()
    if not file.exists():
        raise HookonceError("nothing was ever recorded here")
    damage_text = _find_damage()
    if damage_text is None:
        raise HookonceError("the record is not damaged (hookonce audit verify), so nothing was done")
    plan = f"move the files of {file} into a folder of their own, and start a new record with every verified record"
    limits = "totals of records that retention has removed stay in the old files only"
    require_consent("audit set-aside", f"{damage_text}\n{plan}\n{limits}")
    print_result(options, quarantine_database(damage_text, _show_audit_progress), _print_quarantine)


def _find_damage() -> str | None:
    damage_text = find_damage()
    if damage_text:
        return f"the record was damaged: {damage_text}"
    with closing(database.open_reader()) as connection:
        audit = verify(connection, report_progress=_show_audit_progress)
    if audit.ok:
        return None
    first = audit.flaws[0]
    further_flaws = len(audit.flaws) + audit.more - 1
    further_note = f", and {pluralize(further_flaws, 'more flaw')}" if further_flaws else ""
    return f"the record was changed: {_flaw_location(first)}: {first.what}{further_note}"


def _print_quarantine(quarantine: QuarantineResult) -> None:
    count = f"{quarantine.taken:,} of {pluralize(quarantine.rows, 'record')}"
    print(f"{count} copied to the new record; the old files are in {quarantine.folder}")
    for span in quarantine.left:
        rows = f"record {span.first:,}" if span.first == span.last else f"records {span.first:,} to {span.last:,}"
        print(f"not copied: {rows}: {span.why}")
    if quarantine.more:
        print(f"not copied: {pluralize(quarantine.more, 'more record')}")


VERBS: dict[str, Callable[[Namespace], int | None]] = {
    "verify": _run_verify,
    "checkpoint": _run_checkpoint,
    "keys": _run_keys,
    "set-aside": _run_set_aside,
}
