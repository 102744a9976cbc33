r"""Secret patterns: published formats of keys and tokens, and rules for secrets known by their context.

Each has a kind, a hint and a pattern. A hint is a short part of the pattern that survives being quoted in JSON,
so it asks for no boundary and no quotation mark; where it does not match, the pattern is not tried. A pattern is
RE2; its group is the secret, or all of it is. `~` at its start stands for a boundary: where a word begins, or
behind `\n` or `%3D` that somebody has written out.

Contextual rules are headers, URLs, assignments, flags and key blocks. `SHELL_WORD` is one word as a shell reads
it, with its quotation marks, or the value of a field in JSON or YAML. The group `s` is the secret, `n` the name
before it.
"""

from itertools import starmap
from typing import NamedTuple


class SecretRule(NamedTuple):
    """One kind of secret; a judge decides which names and values that a contextual rule finds are secrets."""

    kind: str
    hint: str
    pattern: str
    judge: str | None = None


_FORMAT_ROWS = (
    # clouds
    ("aws-access-key", "A(?:3T|KIA|SIA|BIA|CCA)[0-9A-Z]{6}", r"~((?:A3T[0-9A-Z]|AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16})\b"),
    ("aws-bedrock-key", "ABSK[0-9A-Za-z+/]{12}", "~(ABSK[0-9A-Za-z+/]{100,}={0,2})"),
    ("google-api-key", r"AIza[\w-]{6}", r"AIza[\w-]{35,}"),
    ("google-oauth-token", r"ya29\.[\w-]{6}", r"~(ya29\.[\w.-]{20,})"),
    ("google-refresh-token", r"1//0[\w-]{6}", r"~(1//0[\w-]{38,})"),
    ("google-client-secret", r"GOCSPX-[\w-]{6}", r"GOCSPX-[\w-]{28,}"),
    ("azure-account-key", "(?:Account|SharedAccess)Key=", "(?:Account|SharedAccess)Key=([0-9A-Za-z+/]{40,}={0,2})"),
    ("azure-client-secret", r"Q~[\w~.-]{6}", r"([\w~.]{3}\dQ~[\w~.-]{31,34})"),
    ("azure-sas", r"sig=[\w%+/-]{6}", r"[?&;]sig=([\w%+/-]{40,}=?)"),
    ("digitalocean-token", "do[opr]_v1_[0-9a-f]{6}", "do[opr]_v1_[0-9a-f]{64}"),
    ("alibaba-access-key", "LTAI[0-9A-Za-z]{6}", r"~(LTAI[0-9A-Za-z]{16,24})\b"),
    ("fly-token", r"f(?:o1|m1[ar]|m2)_[\w+/-]{6}", r"~(fo1_[\w-]{43}|fm(?:1[ar]|2)_[0-9A-Za-z+/]{100,}={0,3})"),
    ("heroku-key", r"HRKU-AA[\w-]{6}", r"HRKU-AA[\w-]{58,}"),
    ("cloudflare-ca-key", r"v1\.0-[0-9a-f]{6}", r"~(v1\.0-[0-9a-f]{24}-[0-9a-f]{146})"),
    # code and packages
    ("github-token", "gh[oprsu]_[0-9A-Za-z]{6}", "gh[oprsu]_[0-9A-Za-z]{36,}"),
    ("github-fine-grained-token", "github_pat_[0-9A-Za-z]{6}", r"github_pat_\w{82,}"),
    (
        "gitlab-token",
        r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|oas|ffct|wt)-[\w-]{6}",
        r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|oas|ffct|wt)-[\w-]{20,}(?:\.[0-9a-z.]{2,20})?",
    ),
    ("gitlab-runner-token", r"GR1348941[\w-]{6}", r"GR1348941[\w-]{20,}"),
    ("bitbucket-token", r"ATBB[\w-]{6}", r"~(ATBB[0-9A-Za-z_-]{24,})"),
    ("npm-token", "npm_[0-9A-Za-z]{6}", r"npm_[0-9A-Za-z]{36}"),
    ("pypi-token", r"pypi-AgE[\w-]{6}", r"pypi-AgE[\w-]{50,}"),
    ("rubygems-key", "rubygems_[0-9a-f]{6}", "rubygems_[0-9a-f]{48}"),
    ("nuget-key", "oy2[0-9a-z]{6}", r"~(oy2[0-9a-z]{43})\b"),
    ("clojars-token", "CLOJARS_[0-9a-f]{6}", "CLOJARS_[0-9a-f]{60}"),
    ("docker-token", r"dckr_(?:pat|oat)_[\w-]{6}", r"dckr_(?:pat|oat)_[\w-]{27,}"),
    ("artifactory-key", "AKCp[0-9A-Za-z]{6}|cmVmd[0-9A-Za-z]{6}", r"~(AKCp[0-9A-Za-z]{69}|cmVmd[0-9A-Za-z]{59})\b"),
    ("sourcegraph-token", "sgp_[0-9A-Za-z]{5}", "~(sgp_(?:(?:[0-9A-Fa-f]{16}|local)_)?[0-9A-Fa-f]{40})"),
    ("postman-key", "PMAK-[0-9a-f]{6}", "PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    # models
    ("anthropic-key", r"sk-ant-[\w-]{6}", r"sk-ant-[a-z]{3,8}[0-9]{2}-[\w-]{40,}"),
    ("openai-key", r"sk-(?:proj|svcacct|admin|None)-[\w-]{6}", r"sk-(?:proj|svcacct|admin|None)-[\w-]{40,}"),
    ("openrouter-key", "sk-or-v1-[0-9a-f]{6}", "sk-or-v1-[0-9a-f]{64}"),
    ("model-key", "sk-[0-9A-Za-z]{12}", "~(sk-[0-9A-Za-z]{32,})"),
    ("huggingface-token", "(?:hf|api_org)_[0-9A-Za-z]{6}", "~((?:hf|api_org)_[0-9A-Za-z]{34,})"),
    ("groq-key", "gsk_[0-9A-Za-z]{6}", "~(gsk_[0-9A-Za-z]{40,})"),
    ("perplexity-key", "pplx-[0-9A-Za-z]{6}", "~(pplx-[0-9A-Za-z]{40,})"),
    ("replicate-token", "r8_[0-9A-Za-z]{6}", "~(r8_[0-9A-Za-z]{37,})"),
    ("xai-key", "xai-[0-9A-Za-z]{6}", "~(xai-[0-9A-Za-z]{70,})"),
    # messages
    (
        "slack-token",
        r"xox[abceoprs][.-]|xapp-\d",
        r"~(xox[abceoprs](?:\.xox[bp])?-\d[0-9A-Za-z-]{10,}|xapp-\d-[0-9A-Za-z-]{20,})",
    ),
    ("slack-webhook", r"hooks\.slack\.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w+/-]{20,})"),
    ("discord-token", r"\.[\w-]{6,7}\.[\w-]{12}", r"~([MNO][\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,38})"),
    ("discord-webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/([\w-]{40,})"),
    ("teams-webhook", r"webhook\.office\.com/", r"webhook\.office\.com/webhookb2/([\w@/-]{60,})"),
    ("telegram-token", r":A[\w-]{12}", r"~(?:bot)?(\d{8,10}:A[\w-]{34})"),
    ("twilio-key", "SK[0-9a-f]{6}", r"~(SK[0-9a-f]{32})\b"),
    ("sendgrid-key", r"SG\.[\w-]{6}", r"~(SG\.[\w-]{20,24}\.[\w-]{39,50})"),
    ("mailgun-key", "key-[0-9a-f]{6}", r"~(key-[0-9a-f]{32})\b"),
    ("mailchimp-key", r"-us\d", r"~([0-9a-f]{32}-us\d{1,2})\b"),
    ("brevo-key", "xkeysib-[0-9a-f]{6}", "xkeysib-[0-9a-f]{64}-[0-9A-Za-z]{16}"),
    # money
    ("stripe-key", "[rs]k_(?:live|test|prod)_[0-9A-Za-z]{6}", "[rs]k_(?:live|test|prod)_[0-9A-Za-z]{16,}"),
    ("stripe-webhook-secret", "whsec_[0-9A-Za-z+/]{6}", "~(whsec_[0-9A-Za-z+/]{24,}={0,2})"),
    ("square-token", r"sq0(?:atp|csp|idp)-[\w-]{6}|EAAA[\w-]{6}", r"~(sq0(?:atp|csp)-[\w-]{22,}|EAAA[\w-]{60})\b"),
    ("braintree-token", r"access_token\$production", r"access_token\$production\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    ("shopify-token", "shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{6}", "shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32,}"),
    # running things
    ("databricks-token", "dapi[0-9a-f]{6}", r"~(dapi[0-9a-f]{32}(?:-\d)?)\b"),
    ("doppler-token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.", r"~(dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,})"),
    ("dropbox-token", r"sl\.[\w-]{12}", r"~(sl\.[\w-]{130,})"),
    ("dynatrace-token", r"dt0[a-z]\d\d\.[0-9A-Z]{6}", r"dt0[a-z]\d\d\.[0-9A-Z]{24}\.[0-9A-Z]{64}"),
    (
        "grafana-token",
        "gl(?:sa|c)_[0-9A-Za-z+/]{6}",
        "~(glsa_[0-9A-Za-z]{32}_[0-9A-Fa-f]{8}|glc_[0-9A-Za-z+/]{32,}={0,2})",
    ),
    ("vault-token", r"hv[bsr]\.[\w-]{6}", r"~(hv[bsr]\.[\w-]{24,})"),
    ("terraform-token", r"\.atlasv1\.", r"~([0-9A-Za-z]{14}\.atlasv1\.[\w=-]{60,})"),
    ("linear-key", "lin_(?:api|oauth)_[0-9A-Za-z]{6}", "lin_(?:api|oauth)_[0-9A-Za-z]{40,}"),
    ("new-relic-key", "NR(?:AK|II|JS|RA)-[0-9A-Za-z_-]{6}", r"~(NR(?:AK|II|JS|RA)-[\w-]{19,})"),
    ("notion-token", r"ntn_\d{6}|secret_[0-9A-Za-z]{12}", r"~(ntn_\d{11}[0-9A-Za-z]{35}|secret_[0-9A-Za-z]{43})"),
    ("atlassian-token", r"AT[AC]TT3[\w=-]{6}", r"AT[AC]TT3[\w=-]{60,}"),
    ("airtable-token", r"\.[0-9a-f]{16}", r"~(pat[0-9A-Za-z]{14}\.[0-9a-f]{64})"),
    ("planetscale-token", r"pscale_(?:tkn|pw|oauth)_[\w=.-]{6}", r"pscale_(?:tkn|pw|oauth)_[\w=.-]{32,}"),
    ("pulumi-token", "pul-[0-9a-f]{6}", r"~(pul-[0-9a-f]{40})\b"),
    ("sentry-token", "sntry[su]_[0-9A-Za-z+/]{6}", r"sntry[su]_[\w+/=]{40,}"),
    ("supabase-key", r"sb(?:p|_secret)_[\w-]{6}", r"~(sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,})"),
    ("tailscale-key", "tskey-[0-9A-Za-z]+-[0-9A-Za-z]", "tskey-[a-z]+-[0-9A-Za-z]{8,}(?:-[0-9A-Za-z]{8,})?"),
    ("age-key", "AGE-SECRET-KEY-1", "AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    ("onepassword-token", r"ops_eyJ[\w+/-]{6}", r"ops_eyJ[\w+/-]{100,}={0,3}"),
    ("jwt", r"eyJ[\w-]{6}", r"~(eyJ[\w-]{12,}\.[\w-]{12,}(?:\.[\w-]{8,}){1,3})"),
)
SECRET_FORMATS: tuple[SecretRule, ...] = tuple(starmap(SecretRule, _FORMAT_ROWS))

SHELL_WORD = r"""(?:\\"[^"\\\n]*\\"|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s"'`;&|,)}>\]\\]|\\[^\s"']|\\?["'][^\s"'&]+)+"""
_NAME_PATTERN = (
    r"(?:passw(?:or)?d|passphrase|passcode|pass|pwd|pw|secrets?|token|key|apikey|pat|credentials?|authorization|cookie)"
    r"(?:[_.-]?(?:[0-9]+|prod|production|dev|development|staging|test|live|value|base(?:64)?|hex|old|new|default|secondary"
    r"|plain|text|string|plaintext))?"
)
_BLANK = r"(?:\s|\\[nrtf])"  # a blank, also as JSON writes it
_AUTH_SCHEME = r"(?:bearer|basic|token|digest|negotiate|apikey|bot|key|splunk|ssws|genie-?key)"

CONTEXT_RULES: tuple[SecretRule, ...] = (
    SecretRule(
        "private-key",
        "PRIVATE KEY",
        r"-----BEGIN [0-9A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?P<s>(?:\s|\\[nr])*(?:[A-Za-z-]+: [^\n\\]*(?:\n|\\n)+)*"
        r"[0-9A-Za-z+/=]{16,}(?:[0-9A-Za-z+/=]|\s|\\[nr])*)",
        "nonempty",
    ),
    SecretRule(
        "url-password",
        r"://[^\s/@]*:[^\s/]*@",
        # with quotes only as a shell joins words: x:80","y@z are two texts
        r"""://[^\s/:@"']*:(?P<s>["']?[^\s/"'<>]+(?:["']{1,2}[^\s/"'<>,;:=()\[\]{}]+)*["']?)@[\w\[.%$-]""",
        "word",
    ),
    SecretRule(
        "authorization",
        "(?i)authorization",
        rf"""(?i)authorization\\?["']?\s*[:=]>?\s*\\?["']?{_AUTH_SCHEME}\s+(?P<s>[^\s"'\\,;]+)""",
        "word",
    ),
    SecretRule(
        "bearer", rf"(?i)(?:bearer|basic){_BLANK}", r"(?i)\b(?:bearer|basic)\s+(?P<s>[\w.~+/-]{16,}=*)", "random"
    ),
    SecretRule("cookie", "(?i)cookie:", r"""(?i)cookie:\s*(?P<s>[\w.%-]+=[^"'\r\n]{4,})""", "nonempty"),
    SecretRule(
        "assignment",
        rf"""(?i){_NAME_PATTERN}(?:[\\"'\]]|{_BLANK})*[:=,]""",
        rf"""(?im)^\s*(?:export\s+|set\s+|-\s+)?(?P<n>[\w.-]*{_NAME_PATTERN})(?P<e>=)(?P<s>[^\s"'`]+)\s*$""",
        "assignment",
    ),
    SecretRule(
        "assignment",
        rf"""(?i){_NAME_PATTERN}(?:[\\"'\]]|{_BLANK})*[:=,]""",
        rf"""(?i)(?P<n>[\w.-]*{_NAME_PATTERN})(?:\\?["']\]?)?(?P<e>\s*(?::=|=>|=|:)\s*)(?P<s>{SHELL_WORD})""",
        "assignment",
    ),
    SecretRule(
        "assignment",
        rf"""(?i){_NAME_PATTERN}(?:[\\"'\]]|{_BLANK})*[:=,]""",
        rf"""(?i)(?P<n>[\w.-]*{_NAME_PATTERN})\\*["']?(?P<e>\s*(?:=>|=|:)\s*[{{\[]+\s*(?:\\*["']?[\w$.-]+\\*["']?\s*[:=]\s*)?)(?P<s>{SHELL_WORD})""",
        "assignment",
    ),
    SecretRule(
        "flag",
        rf'(?i)-[\w.-]*{_NAME_PATTERN}[\s=\\"]',
        rf"""(?i)(?:^|[\s"'(=])--?(?P<n>[a-z][\w.-]*?{_NAME_PATTERN}|{_NAME_PATTERN})(?P<e>\s+)(?P<s>{SHELL_WORD})""",
        "flag",
    ),
    SecretRule(
        "login",
        r"""(?:-u|--user|--proxy-user)[\s="'\\]*[^\s:]+:""",
        r"""(?:^|[\s"'])(?:-u|--user|--proxy-user)[=\s]*["']?[\w.@-]+:(?P<s>[^\s"'`]+)""",
        "login",
    ),
    SecretRule(
        "login",
        r"""(?:-u|--user|--proxy-user)[\s="'\\]*[^\s:]+:""",
        r"""(?:^|[\s"'])(?:-u|--user|--proxy-user)[=\s]*["'][\w.@-]+:(?P<s>[^"'\n]+)["']""",
        "login",
    ),
    SecretRule(
        "program-password",
        rf"(?:mysql\w*|mariadb[\w-]*|sshpass|redis-cli|-pass(?:in|out)|login){_BLANK}",
        rf"(?:\b(?:mysql\w*|mariadb[\w-]*)\s(?:[^;|&\n]*\s)?-p|\bsshpass\s+-p\s*|\bredis-cli\s(?:[^;|&\n]*\s)?-a\s+"
        rf"|\b(?:docker|podman|helm|nerdctl)\s[^;|&\n]*\blogin\s(?:[^;|&\n]*\s)?-p\s+|-pass(?:in|out)\s+pass:)(?P<s>{SHELL_WORD})",
        "word",
    ),
    SecretRule(
        "setting",
        rf"(?i)(?:set|setx|ENV){_BLANK}+[\w.-]*{_NAME_PATTERN}{_BLANK}",
        rf"(?im)(?:\b(?:set|setx)|^\s*ENV)\s+(?P<n>[\w.-]*{_NAME_PATTERN})(?P<e>\s+)(?P<s>{SHELL_WORD})",
        "flag",
    ),
    SecretRule(
        "netrc", rf"(?i){_BLANK}password{_BLANK}", rf"(?i)\blogin\s+\S+\s+password\s+(?P<s>{SHELL_WORD})", "word"
    ),
)
