#!/bin/sh
''':'
# hookonce-on: the command that stands in the configuration of coding agents.
# A shell reads up to the closing quotes and starts Python, which reads the rest. Whatever becomes of Python, the
# shell has the last word: the refusal that was made for that case beforehand, else the agent's own "no opinion".
# It needs no other program for that, and says nothing of its own.
{ :; } >&2 || exec 2>/dev/null
{ { :; } <&0; } 2>/dev/null || exec </dev/null
{ { :; } >&1; } 2>/dev/null || exec >/dev/null
here=${0%/*} python='' code='' said='' told=''
{
    read -r python <"$here/interpreter"
    if [ -f "$python" ] && [ -x "$python" ]; then
        "$python" -I -S "$0" "$$" "$@"
        ended=$?
        # Python answers with a hundred more than its exit code; anything else is an accident.
        [ "$ended" -ge 100 ] && [ "$ended" -le 109 ] && exit $((ended - 100))
    fi
    while IFS='|' read -r agent event kept out err; do
        [ "$agent|$event" = "$1|$2" ] && code=$kept said=$out told=$err && break
    done <"$here/failmode.bin"
    # An agent that is still writing must not run into a closed pipe.
    { cat <&4 >/dev/null 3>&- & } 4<&0
} 3>&2 2>/dev/null
case $code in
[0-9]) ;;
*)
    code=0 said='' told=''
    case $1 in amp | cursor | opencode) said='{}\n' ;; esac
    ;;
esac
printf '%b' "$told" >&2 2>/dev/null
printf '%b' "$said" 2>/dev/null
exit "$code"
'''

import os
import sys


def main(caller, words):
    """Find hookonce where the interpreter's file says it is; an exception here leaves the answer to the shell."""
    with open(os.path.join(os.path.dirname(__file__), "interpreter"), encoding="utf-8") as file:
        sys.path[:0] = file.read().splitlines()[2:]
    from hookonce.cold import main as cold

    return cold(words, caller=caller, stderr=3)


os._exit(100 + main(int(sys.argv[1]), sys.argv[2:]))
