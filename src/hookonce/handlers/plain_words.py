"""Plain words: a command that no shell is needed for, because every shell would run just these words.

Everything that some shell might understand in another way goes to the shell: when in doubt, the shell.
"""

from functools import lru_cache

_NAME_CHARS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-")
_BARE_CHARS = _NAME_CHARS | frozenset("/:@%,=")
_QUOTABLE_CHARS = {
    "'": frozenset(map(chr, range(ord(" "), ord("~") + 1))),
    '"': frozenset(map(chr, range(ord(" "), ord("~") + 1))) - frozenset("$`\\!"),
}
_MAX_COMMAND_CHARS = 1 << 14
# Names that a shell (dash, bash, busybox, ksh, mksh, zsh, yash) does not look for in PATH, or not only.
_SHELL_NAMES = """
    if then else elif fi for while until do done case esac in select function time coproc end foreach repeat nocorrect
    noglob namespace
    alias array autoload bg bind bindkey break builtin bye caller cap cat cd chdir clone command comparguments compcall
    compctl compgen complete compopt continue declare dirs disable disown echo echotc echoti emulate enable enum eval
    exec exit export false fc fg float functions getcap getconf getln getopts global hash hashinfo help hist history
    integer jobs kill let limit local localedef log logout mapfile mkdir mknod nameref newgrp popd print printf pushd
    pushln pwd r read readarray readonly realpath rehash rename return sched set setcap setopt shift shopt sleep source
    stat stop suspend test times trap true ttyctl type typeset ulimit umask unalias unfunction unhash unlimit unset
    unsetopt vared wait whence where which zcompile zformat zftp zle zmodload zparseopts zprof zpty zregexparse zselect
    zsocket zstyle ztcp
"""
_SHELL_NAME_SET = frozenset(_SHELL_NAMES.split())


@lru_cache(maxsize=256)
def plain_words(command: str) -> tuple[str, ...]:
    """Words of a command that needs no shell; none where it may need one."""
    words = _split_words(command) if len(command) <= _MAX_COMMAND_CHARS else []
    return tuple(words) if words and _is_program(words[0]) else ()


def _split_words(command: str) -> list[str]:
    """Words between blanks; none where a character may have a meaning for a shell."""
    words, start, position, command = [""], 0, 0, command.strip(" \t\n")
    while position < len(command):
        char, next_position = command[position], position + 1
        if char in _QUOTABLE_CHARS:
            end = command.find(char, next_position)
            text, next_position = command[next_position:end], end + 1
            if end < 0 or not frozenset(text) <= _QUOTABLE_CHARS[char]:
                return []
            words[-1] += text
        elif char in _BARE_CHARS:
            words[-1] += char
        elif char not in " \t":
            return []
        elif position > start:
            words.append("")
        if char in " \t":
            start = next_position
        position = next_position
    return words


def _is_program(word: str) -> bool:
    """Whether a first word names a program, and nothing that a shell has itself."""
    if "/" in word:
        return "=" not in word
    return word[:1].isalnum() and frozenset(word) <= _NAME_CHARS and word not in _SHELL_NAME_SET
