#!/bin/sh
''':'; set +aefmuvxC; unset -f [ cat cd echo printf read readlink stat tr umask 2>/dev/null
# hookonce-on: the command that stands in the configuration of coding agents.
# A shell reads up to the closing quotes and starts Python, which reads the rest. Whatever becomes of Python, the
# shell has the last word: the refusal that was made for that case beforehand, else the agent's own "no opinion".
# It needs no other program for that, and says nothing of its own. The line above is first,
# because a caller's variables turn options of a bash on, and replace all but its special commands.
{ :; } 9>&2 || exec 2>/dev/null
{ { :; } 9<&0; } 2>/dev/null || exec </dev/null
{ { :; } 9>&1; } 2>/dev/null || exec 1</dev/null # what is written there must fail
[ -d /dev/fd/0 ] && exec </dev/null # Python would not start
PATH=/usr/bin:/bin                  # the caller's would choose what runs here
trap '' PIPE 25                     # nor does a disk quota, which is the number, end a call
client=$0 python='' event='' code='' out_text='' err_text='' here='' types='' inodes='' unread='' last_word=''
case $2 in -*) ;; *) event=$2 ;; esac
{
    [ -h "$client" ] && client=$(readlink -f "$client")
    client_dir=${client%/*}
    read -r python <"$client_dir/interpreter"
    case $python in /*) ;; *) python='' ;; esac
    if [ -f "$python" ] && [ -x "$python" ]; then
        "$python" -I -S "$client" "$$" "$@"
        exit_status=$?
        # Python answers with a hundred more than its exit code; anything else is an accident.
        [ "$exit_status" -ge 100 ] && [ "$exit_status" -le 109 ] && exit $((exit_status - 100))
    fi
    # One mark for each call that nobody has answered, in a file that does not grow for ever.
    marks='' file=$client_dir/unanswered
    [ -f "$file" ] && read -r marks <"$file"
    if [ "$python" ] && [ ! -h "$file" ] && [ ${#marks} -lt 9999 ] && { [ -f "$file" ] || [ ! -e "$file" ]; }; then
        (umask 077 && printf . >>"$file")
    fi
    for word; do
        [ "$last_word $word" = "--on-failure closed" ] && types=" wrapper " # it runs something that must answer
        last_word=$word
    done
    file=$client_dir/failmode.bin
    if [ -e "$file" ] || [ -h "$file" ]; then
        [ -f "$file" ] && { :; } <"$file" || unread=1 file=/dev/null
    fi
    cd -P . && here=$PWD # without it we may be in any project
    while IFS='|' read -r name event_name exit_code out err; do
        case $name in
        /*) # a project with hooks that must be asked at the types of events that stand in its third field
            case $name in *\\*) name=$(printf '%b_' "$name") name=${name%_} ;; esac
            folder=$here
            while [ "$folder" ] && [ "$folder" != "$name" ] && ! [ "$folder" -ef "$name" ]; do folder=${folder%/*}; done
            # Or its folder, by device and inode, is one of those that we are in: it may have been moved.
            [ "$inodes" ] || inodes=" $(while stat -c %d:%i . || stat -f %d:%i . && [ "$PWD" != / ] && cd -P ..; do :; done | tr '\n' ' ')"
            for inode in $event_name; do case $inodes in *" $inode "*) folder=/ ;; esac; done
            { [ "$folder" ] || [ ! "$here" ] || [ "$name" = / ]; } && types="$types $exit_code "
            continue
            ;;
        *:*) # a refusal in such projects
            case $types in *" ${name%%:*} "*) name=${name#*:} ;; *) continue ;; esac
            ;;
        esac
        [ "$name|$event_name" = "$1|$event" ] && code=$exit_code out_text=$out err_text=$err && break
    done <"$file"
    [ "$unread" ] && code=2 err_text='hookonce cannot read what to answer, which may be a refusal; hookonce doctor says more\n'
    # An agent that is still writing must not run into a closed pipe.
    { cat <&4 >/dev/null 3>&- & } 4<&0
} 3>&2 2>/dev/null
case $code in
[0-9]) ;;
*)
    code=0 out_text='' err_text=''
    case $1 in amp | cursor | opencode) out_text='{}\n' ;; amplifier) out_text='{"action":"continue"}\n' ;; esac
    ;;
esac
printf '%b' "$err_text" >&2 2>/dev/null
if ! printf '%b' "$out_text" 2>/dev/null && [ "$code$out_text" != '0{}\n' ]; then
    code=2 # the exit code that says no to most agents; some want a reason too
    echo 'hookonce cannot write its answer, which may be a refusal' >&2 2>/dev/null
fi
exit "$code"
'''

import os
import sys


def main(caller, argv):
    """Find hookonce where the interpreter's file says it is; an exception here leaves the answer to the shell."""
    folder = os.path.dirname(__file__)
    with open(os.path.join(folder, "interpreter"), encoding="utf-8") as file:
        install_lines = file.read().splitlines()
    sys.path[:0] = install_lines[2:]
    from hookonce.client.python.main import main as answer

    return answer(folder, install_lines, caller, argv)


os._exit(100 + main(int(sys.argv[1]), sys.argv[2:]))
