r"""Secrets that are known by what stands before them: headers, URLs, assignments, flags, key blocks.

`~` is as in `published`; `WORD` stands for one word as a shell reads it, with its quotation marks, and for the value of
a field in JSON or YAML. A telling has the group `s` for the secret, and may have `n` for the name that announces it.
"""

from typing import NamedTuple


class Telling(NamedTuple):
    """How one way to give a secret is written; the judge says which names and values are meant."""

    kind: str
    hint: str
    pattern: str
    judge: str = "given"


WORD = r"""(?:\\"[^"\\\n]*\\"|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s"'`;&|,)}>\]\\]|\\[^\s"']|\\?["'][^\s"'&]+)+"""
_NAME = (
    r"(?:passw(?:or)?d|passphrase|passcode|pass|pwd|pw|secrets?|token|key|apikey|pat|credentials?|authorization|cookie)"
    r"(?:[_.-]?(?:[0-9]+|prod|production|dev|development|staging|test|live|value|base(?:64)?|hex|old|new|default|secondary"
    r"|plain|text|string|plaintext))?"
)
_GAP = r"(?:\s|\\[nrtf])"  # a blank, also as JSON writes it
_SCHEME = r"(?:bearer|basic|token|digest|negotiate|apikey|bot|key|splunk|ssws|genie-?key)"

TOLD: tuple[Telling, ...] = (
    Telling(
        "private-key",
        "PRIVATE KEY",
        r"-----BEGIN [0-9A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?P<s>(?:\s|\\[nr])*(?:[A-Za-z-]+: [^\n\\]*(?:\n|\\n)+)*"
        r"[0-9A-Za-z+/=]{16,}(?:[0-9A-Za-z+/=]|\s|\\[nr])*)",
    ),
    Telling("url-password", r"://[^\s/@]*:[^\s/]*@", r"""://[^\s/:@"']*:(?P<s>[^\s/"'<>]+)@[\w\[.%$-]""", "word"),
    Telling(
        "authorization",
        "(?i)authorization",
        rf"""(?i)authorization\\?["']?\s*[:=]>?\s*\\?["']?{_SCHEME}\s+(?P<s>[^\s"'\\,;]+)""",
        "word",
    ),
    Telling("bearer", rf"(?i)(?:bearer|basic){_GAP}", r"(?i)\b(?:bearer|basic)\s+(?P<s>[\w.~+/-]{16,}=*)", "random"),
    Telling("cookie", "(?i)cookie:", r"""(?i)cookie:\s*(?P<s>[\w.%-]+=[^"'\r\n]{4,})"""),
    Telling(
        "assignment",
        rf"""(?i){_NAME}(?:[\\"'\]]|{_GAP})*[:=,]""",
        rf"""(?im)^\s*(?:export\s+|set\s+|-\s+)?(?P<n>[\w.-]*{_NAME})(?P<e>=)(?P<s>[^\s"'`]+)\s*$""",
        "named",
    ),
    Telling(
        "assignment",
        rf"""(?i){_NAME}(?:[\\"'\]]|{_GAP})*[:=,]""",
        rf"""(?i)(?P<n>[\w.-]*{_NAME})(?:\\?["']\]?)?(?P<e>\s*(?::=|=>|=|:)\s*)(?P<s>{WORD})""",
        "named",
    ),
    Telling(
        "flag",
        rf'(?i)-[\w.-]*{_NAME}[\s=\\"]',
        rf"""(?i)(?:^|[\s"'(=])--?(?P<n>[a-z][\w.-]*?{_NAME}|{_NAME})(?P<e>\s+)(?P<s>{WORD})""",
        "flag",
    ),
    Telling(
        "login",
        r"""(?:-u|--user|--proxy-user)[\s="'\\]*[^\s:]+:""",
        r"""(?:^|[\s"'])(?:-u|--user|--proxy-user)[=\s]*["']?[\w.@-]+:(?P<s>[^\s"'`]+)""",
        "login",
    ),
    Telling(
        "login",
        r"""(?:-u|--user|--proxy-user)[\s="'\\]*[^\s:]+:""",
        r"""(?:^|[\s"'])(?:-u|--user|--proxy-user)[=\s]*["'][\w.@-]+:(?P<s>[^"'\n]+)["']""",
        "login",
    ),
    Telling(
        "program-password",
        rf"(?:mysql\w*|mariadb[\w-]*|sshpass|redis-cli|-pass(?:in|out)|login){_GAP}",
        rf"(?:\b(?:mysql\w*|mariadb[\w-]*)\s(?:[^;|&\n]*\s)?-p|\bsshpass\s+-p\s*|\bredis-cli\s(?:[^;|&\n]*\s)?-a\s+"
        rf"|\b(?:docker|podman|helm|nerdctl)\s[^;|&\n]*\blogin\s(?:[^;|&\n]*\s)?-p\s+|-pass(?:in|out)\s+pass:)(?P<s>{WORD})",
        "word",
    ),
    Telling(
        "setting",
        rf"(?i)(?:set|setx|ENV){_GAP}+[\w.-]*{_NAME}{_GAP}",
        rf"(?im)(?:\b(?:set|setx)|^\s*ENV)\s+(?P<n>[\w.-]*{_NAME})(?P<e>\s+)(?P<s>{WORD})",
        "flag",
    ),
    Telling("netrc", rf"(?i){_GAP}password{_GAP}", rf"(?i)\blogin\s+\S+\s+password\s+(?P<s>{WORD})", "word"),
)
