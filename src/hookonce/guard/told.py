r"""Secrets that are known by what stands before them: headers, URLs, assignments, flags, key blocks.

`~` is as in `published`; `WORD` stands for one word as a shell reads it, with its quotation marks, and for the value of
a field in JSON or YAML. A telling has the group `s` for the secret, and may have `n` for the name that announces it.
"""

from typing import NamedTuple


class ContextRule(NamedTuple):
    """A contextual rule; the judge decides which names and values are secrets."""

    kind: str
    hint: str
    pattern: str
    judge: str = "given"


SHELL_WORD = r"""(?:\\"[^"\\\n]*\\"|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s"'`;&|,)}>\]\\]|\\[^\s"']|\\?["'][^\s"'&]+)+"""
_SECRET_NAME = (
    r"(?:passw(?:or)?d|passphrase|passcode|pass|pwd|pw|secrets?|token|key|apikey|pat|credentials?|authorization|cookie)"
    r"(?:[_.-]?(?:[0-9]+|prod|production|dev|development|staging|test|live|value|base(?:64)?|hex|old|new|default|secondary"
    r"|plain|text|string|plaintext))?"
)
_BLANK = r"(?:\s|\\[nrtf])"  # a blank, also as JSON writes it
_AUTH_SCHEME = r"(?:bearer|basic|token|digest|negotiate|apikey|bot|key|splunk|ssws|genie-?key)"

CONTEXT_RULES: tuple[ContextRule, ...] = (
    ContextRule(
        "private-key",
        "PRIVATE KEY",
        r"-----BEGIN [0-9A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?P<s>(?:\s|\\[nr])*(?:[A-Za-z-]+: [^\n\\]*(?:\n|\\n)+)*"
        r"[0-9A-Za-z+/=]{16,}(?:[0-9A-Za-z+/=]|\s|\\[nr])*)",
    ),
    ContextRule("url-password", r"://[^\s/@]*:[^\s/]*@", r"""://[^\s/:@"']*:(?P<s>[^\s/"'<>]+)@[\w\[.%$-]""", "word"),
    ContextRule(
        "authorization",
        "(?i)authorization",
        rf"""(?i)authorization\\?["']?\s*[:=]>?\s*\\?["']?{_AUTH_SCHEME}\s+(?P<s>[^\s"'\\,;]+)""",
        "word",
    ),
    ContextRule("bearer", rf"(?i)(?:bearer|basic){_BLANK}", r"(?i)\b(?:bearer|basic)\s+(?P<s>[\w.~+/-]{16,}=*)", "random"),
    ContextRule("cookie", "(?i)cookie:", r"""(?i)cookie:\s*(?P<s>[\w.%-]+=[^"'\r\n]{4,})"""),
    ContextRule(
        "assignment",
        rf"""(?i){_SECRET_NAME}(?:[\\"'\]]|{_BLANK})*[:=,]""",
        rf"""(?im)^\s*(?:export\s+|set\s+|-\s+)?(?P<n>[\w.-]*{_SECRET_NAME})(?P<e>=)(?P<s>[^\s"'`]+)\s*$""",
        "named",
    ),
    ContextRule(
        "assignment",
        rf"""(?i){_SECRET_NAME}(?:[\\"'\]]|{_BLANK})*[:=,]""",
        rf"""(?i)(?P<n>[\w.-]*{_SECRET_NAME})(?:\\?["']\]?)?(?P<e>\s*(?::=|=>|=|:)\s*)(?P<s>{SHELL_WORD})""",
        "named",
    ),
    ContextRule(
        "flag",
        rf'(?i)-[\w.-]*{_SECRET_NAME}[\s=\\"]',
        rf"""(?i)(?:^|[\s"'(=])--?(?P<n>[a-z][\w.-]*?{_SECRET_NAME}|{_SECRET_NAME})(?P<e>\s+)(?P<s>{SHELL_WORD})""",
        "flag",
    ),
    ContextRule(
        "login",
        r"""(?:-u|--user|--proxy-user)[\s="'\\]*[^\s:]+:""",
        r"""(?:^|[\s"'])(?:-u|--user|--proxy-user)[=\s]*["']?[\w.@-]+:(?P<s>[^\s"'`]+)""",
        "login",
    ),
    ContextRule(
        "login",
        r"""(?:-u|--user|--proxy-user)[\s="'\\]*[^\s:]+:""",
        r"""(?:^|[\s"'])(?:-u|--user|--proxy-user)[=\s]*["'][\w.@-]+:(?P<s>[^"'\n]+)["']""",
        "login",
    ),
    ContextRule(
        "program-password",
        rf"(?:mysql\w*|mariadb[\w-]*|sshpass|redis-cli|-pass(?:in|out)|login){_BLANK}",
        rf"(?:\b(?:mysql\w*|mariadb[\w-]*)\s(?:[^;|&\n]*\s)?-p|\bsshpass\s+-p\s*|\bredis-cli\s(?:[^;|&\n]*\s)?-a\s+"
        rf"|\b(?:docker|podman|helm|nerdctl)\s[^;|&\n]*\blogin\s(?:[^;|&\n]*\s)?-p\s+|-pass(?:in|out)\s+pass:)(?P<s>{SHELL_WORD})",
        "word",
    ),
    ContextRule(
        "setting",
        rf"(?i)(?:set|setx|ENV){_BLANK}+[\w.-]*{_SECRET_NAME}{_BLANK}",
        rf"(?im)(?:\b(?:set|setx)|^\s*ENV)\s+(?P<n>[\w.-]*{_SECRET_NAME})(?P<e>\s+)(?P<s>{SHELL_WORD})",
        "flag",
    ),
    ContextRule("netrc", rf"(?i){_BLANK}password{_BLANK}", rf"(?i)\blogin\s+\S+\s+password\s+(?P<s>{SHELL_WORD})", "word"),
)
