"""Failure texts of hooks in our own words: those are nobody's text, and may be shown where texts are masked."""

import errno
import os

from hookonce.base.regex import lazy_pattern

# Whole sentences of ours; `(.+)` stands for what the system says of itself.
_OWN_SENTENCE = lazy_pattern(
    r"timeout"
    r"|exit code \d{1,3}(?:, but the hook is not blocking)?"
    r"|ended by signal \d{1,3}"
    r"|its watchdog was killed"
    r"|the process that ran it was killed"
    r"|it has ended without an answer"
    r"|its output is not a valid answer"
    r"|the call ended without an answer"
    r"|the command for models ended with exit code \d{1,3}"
    r"|the model's server answered without a message"
    r"|the model's answer is not a decision"
    r"|the server redirects more than once"
    r"|the server redirects to something that is not an address"
    r"|the server hung up without an answer"
    r"|the server's headers have no end"
    r"|the answer was cut off"
    r"|the answer is longer than [\d,]{1,20} bytes"
    r"|the length of the answer is not valid"
    r"|what answers there does not speak HTTP/1\.1"
    r"|the server answered with \d{3}"
    r"|the server redirects \(\d{3}\), which is not followed"
    r"|the answer is [a-z]{1,20}/[a-z0-9.+-]{1,60}, not JSON"
    r"|(?:the connection broke|there is no server [\w.:-]{1,253}"
    r"|[\w.:-]{1,253} (?:cannot be|is not) reached at port \d{1,5}|the line broke): (.+)"
    # those of records that earlier versions wrote
    r"|exit code 2 of a hook that may not block"
    r"|whoever ran it was killed"
    r"|the answer is no answer"
    r"|the call ended without a word"
    r"|the model's answer is no decision"
    r"|the server redirects to what is no address"
    r"|the answer tells no length that could be understood"
)
# Words of ours, before what somebody else has said.
_OWN_PREFIX = lazy_pattern(r"(not started|timeout|oom|unreachable|bad_request|forbidden|internal|unsupported_op)\b")
_SYSTEM_ERRORS = {os.strerror(number) for number in errno.errorcode} | {
    "Name or service not known",
    "Temporary failure in name resolution",
    "No address associated with hostname",
}
ELLIPSIS_SUFFIX = ": …"


def extract_own_text(text: str) -> str | None:
    """As much of a failure as is our own words; None if nothing is."""
    match = _OWN_SENTENCE.fullmatch(text)
    if match is not None and (match[1] is None or match[1] in _SYSTEM_ERRORS):
        return text
    prefix = _OWN_PREFIX.match(text)
    return None if prefix is None else prefix[1] + ELLIPSIS_SUFFIX
