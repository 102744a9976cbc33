"""hookonce keys: this machine's public key, and trusted keys of other machines."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from hookonce.base.files import read_regular_file
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.consent import require_consent
from hookonce.cli._ui.messages import print_json, print_result
from hookonce.errors import HookonceError, UsageError
from hookonce.store.integrity import keys, trusted_keys
from hookonce.store.integrity.keys import SigningKeyInfo
from hookonce.store.integrity.trusted_keys import TrustedKey

_MAX_KEY_FILE_BYTES = 4096
_EXAMPLES = """examples:
  hookonce keys show                      # on the machine that signs
  hookonce keys add laptop ed25519:MCow…  # on the one that checks; a file with the key does as well
  hookonce keys list --json
  hookonce keys remove laptop"""


class KeyListing(Struct, frozen=True, kw_only=True):
    """The keys of this machine, and those of others that it trusts."""

    own: list[SigningKeyInfo]
    others: list[TrustedKey]


def configure(parser: ArgumentParser) -> None:
    """The verbs of `keys`."""
    parser.epilog = _EXAMPLES
    verb_help = """list: the keys of this machine and the trusted ones; show: this machine's public key, for others;
        add NAME KEY: trust the key of another machine, so that check and events import name the signer;
        remove NAME: end that trust"""
    parser.add_argument("verb", choices=VERBS, help=verb_help)
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="with add: a name, and a key or a file with the key; - is stdin"
    )
    add_flag(parser, "--json", "print JSON")


def run(options: Namespace) -> None:
    """Do what the verb says."""
    VERBS[options.verb](options)


def _run_list(options: Namespace) -> None:
    _expect_words(options, "")
    listing = KeyListing(own=keys.list_signing_keys(), others=trusted_keys.load_trusted_keys())
    print_result(options, listing, _print_listing)


def _print_listing(listing: KeyListing) -> None:
    for own_key in listing.own:
        state = "signs" if own_key.signs else "retired"
        print(f"this machine  {own_key.name}  since {own_key.since}  {state}")
    for key in listing.others:
        print(f"{key.name}  {key.fingerprint[:16]}  trusted since {key.since}")
    if not listing.own:
        print("this machine has no key yet; hookonce keys show creates one")


def _run_show(options: Namespace) -> None:
    """Print the public key that signs now, on stdout alone, so that it can be handed on."""
    _expect_words(options, "")
    name, private_key = keys.load_signing_key()
    public_key = private_key.public_key()
    text = keys.public_key_text(public_key)
    if options.json:
        print_json({"name": name, "key": text, "fingerprint": keys.fingerprint(public_key)})
    else:
        print(text)


def _run_add(options: Namespace) -> None:
    name, key_word = _expect_words(options, "NAME KEY")
    key = trusted_keys.build_trusted_key(name, _read_key(key_word))
    details = f"its fingerprint is {key.fingerprint}; compare it with hookonce keys show --json on the other machine"
    require_consent("keys add", f"trust everything that the key {name} has signed\n{details}")
    trusted_keys.add_trusted_key(key)
    print_result(options, key, lambda _: print(f"{name} is trusted: {key.fingerprint}"))


def _read_key(key_word: str) -> str:
    """The text of a key: as it was typed, on stdin, or in a file."""
    if key_word == "-":
        return sys.stdin.read(_MAX_KEY_FILE_BYTES)
    if ":" in key_word and not Path(key_word).exists():
        return key_word
    try:
        return read_regular_file(Path(key_word), _MAX_KEY_FILE_BYTES).decode()
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise HookonceError(f"{key_word} is neither a key nor a file with a key: {reason}") from None


def _run_remove(options: Namespace) -> None:
    (name,) = _expect_words(options, "NAME")
    key = trusted_keys.find_trusted_key(name)
    require_consent("keys remove", f"end the trust in what the key {name} has signed\nfingerprint {key.fingerprint}")
    trusted_keys.remove_trusted_key(name)
    print_result(options, key, lambda _: print(f"{name} is no longer trusted"))


def _expect_words(options: Namespace, pattern: str) -> list[str]:
    words: list[str] = options.words
    if len(words) != len(pattern.split()):
        raise UsageError(f"expected hookonce keys {options.verb} {pattern}".rstrip())
    return words


VERBS: dict[str, Callable[[Namespace], None]] = {
    "list": _run_list,
    "show": _run_show,
    "add": _run_add,
    "remove": _run_remove,
}
