#!/bin/sh
# A module in plain sh: it tells the date, and what this machine is. No program is needed beside date, uname and awk.
#
# awk reads the request, because a shell cannot read JSON: it finds the op and the id of the outermost object, and
# says "?" of what is no object or has no op. The rest is a case for each operation.

describe='"name":"machine","version":"1.0.0","kind":"tool","capabilities":["exec.spawn"]'
describe="$describe"',"inputs":{"type":"object","properties":{"op":{"enum":["date","uname","on_event"]}}}'
describe="$describe"',"outputs":{"type":"string"}'

# Of a request on stdin: the op, then the id as it was written, or "-" where there is none.
words() {
    LC_ALL=C awk '
    # Where the string ends that begins at a place; 0 if it never does.
    function string_end(text, at,   c) {
        for (at++; at <= length(text); at++) {
            c = substr(text, at, 1)
            if (c == "\\") at++
            else if (c == "\"") return at
        }
        return 0
    }
    # Finds op, method and id of an object; whether it is one.
    function read_object(text,   at, c, end, depth, word, key, is_value) {
        op = method = ""; id = "-"
        if (text !~ /^\{.*\}$/) return 0
        for (at = 1; at <= length(text); at++) {
            c = substr(text, at, 1)
            if (c == "\"") {
                end = string_end(text, at)
                if (!end) return 0
                word = substr(text, at + 1, end - at - 1)
                at = end
                if (depth != 1) continue
                if (!is_value) key = word
                else if (key == "op") op = word
                else if (key == "method") method = word
                else if (key == "id") id = "\"" word "\""
            }
            else if (c == "{" || c == "[") depth++
            else if (c == "}" || c == "]") depth--
            else if (depth != 1) continue
            else if (c == ":") is_value = 1
            else if (c == ",") { is_value = 0; key = "" }
            else if (is_value && key == "id" && match(substr(text, at, 40), /^-?[0-9][0-9.eE+-]*/)) {
                id = substr(text, at, RLENGTH)
                at += RLENGTH - 1
            }
        }
        if (op == "") op = method
        return depth == 0 && op ~ /^[A-Za-z0-9_.:-]+$/
    }
    {
        gsub(/^[ \t\r]+|[ \t\r]+$/, "")
        known = read_object($0)
        print (known ? op : "?") " " id
    }'
}

# A text as JSON: what it is made of here has no control characters but the line break.
quoted() {
    printf '"%s"' "$(printf '%s' "$1" | sed 's/[\\"]/\\&/g' | tr -d '\000-\037')"
}

say() { # the fields of the answer, the id
    if [ "$2" = - ]; then printf '{%s}\n' "$1"; else printf '{%s,"id":%s}\n' "$1" "$2"; fi
}

fail() { # the code, the message, the id
    say '"ok":false,"error":{"code":"'"$1"'","message":"'"$2"'"}' "$3"
}

# awk gets one line at a time: left alone with stdin, some wait until they have read more.
while IFS= read -r line; do
    [ -n "$line" ] || continue
    found=$(printf '%s\n' "$line" | words)
    id=${found#* }
    case ${found%% *} in
    health) say '"status":"ok"' "$id" ;;
    describe) say "$describe" "$id" ;;
    date) say '"ok":true,"result":'"$(quoted "$(date -u +%Y-%m-%dT%H:%M:%SZ)")" "$id" ;;
    uname) say '"ok":true,"result":'"$(quoted "$(uname -sr)")" "$id" ;;
    on_event) say '"ok":true,"result":{"accepted":true}' "$id" ;;
    "?") fail bad_request "a request is an object with op and args" "$id" ;;
    *) fail unsupported_op "there are date, uname and on_event" "$id" ;;
    esac
done
