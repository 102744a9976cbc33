
limit=1048576 # bytes of an answer
tool_time=110 # seconds: Cline's command line goes on without an answer after 120,
editor_time=27 # and its editor's extension after 30
began=$(date +%s)
first= # set when there is an answer to give if nobody cancels

refuse() {
  printf '{"cancel":true,"errorMessage":"hookonce: %s, so this was refused"}\n' "$1"
  exit 0
}

fail() {
  [ -z "$closed" ] || refuse "$1"
}

work=$(mktemp -d 2>/dev/null) || { fail 'there is no place for temporary files'; exit 0; }
trap 'rm -rf "$work"' EXIT
cat >"$work/input"

# Names that begin with a capital are those of the extension. Events that are no tool's are not waited for elsewhere.
if grep -q '"hookName"[[:space:]]*:[[:space:]]*"[A-Z]' "$work/input"; then
  budget=$editor_time
elif [ -n "$waited" ]; then
  budget=$tool_time
else
  budget=86400
fi

# Whether the call is about one of these tools. An input may hold the same key: then a hook may run once too often.
is_about() {
  [ -z "$1" ] || LC_ALL=C grep -q -E "\"toolName\"[[:space:]]*:[[:space:]]*\"($1)\"" "$work/input"
}

# Run a command for so many seconds at most: with all that it starts, where there is the means.
within() {
  seconds=$1
  shift
  if command -v timeout >/dev/null 2>&1; then
    timeout -s KILL "$seconds" env "$@"
    return
  fi
  exec 4<&0 # what is put into the background has no input unless it is given one
  env "$@" <&4 4<&- &
  running=$!
  exec 4<&-
  (sleep "$seconds"; kill -9 "$running") >/dev/null 2>&1 &
  watching=$!
  wait "$running"
  ended=$?
  kill "$watching" 2>/dev/null
  return "$ended"
}

# Whether an answer cancels: the word as a key of the outermost object, whatever strings and inner objects hold.
cancels() {
  LC_ALL=C tr '\n\r\t' '   ' <"$1" | LC_ALL=C sed -e 's/\\./_/g' -e 's/"cancel"/@/g' -e 's/"[^"]*"/s/g' -e 's/^ *//' \
    -e ':inner' -e 's/\(.\){[^{}]*}/\1s/g' -e 't inner' | grep -q '@ *: *true'
}

# run MODE SECONDS TOOLS FOLDER COMMAND [NAME=VALUE ...]
# MODE: wait, async, or what a hook that takes too long comes to: block, warn.
run() {
  mode=$1 longest=$2 tools=$3 folder=$4 command=$5
  shift 5
  is_about "$tools" || return 0
  left=$((budget - $(date +%s) + began))
  [ "$left" -gt 0 ] || { fail 'there was no time left for a hook'; return 0; }
  [ "$longest" -le "$left" ] || longest=$left
  exec 3<"$work/input"
  if [ "$mode" = async ]; then
    (cd "$folder" && within "$longest" "$@" sh -c "$command") <&3 >/dev/null 2>&1 3<&- &
    exec 3<&-
    return 0
  fi
  # Into files: what a hook leaves running must not hold on to the streams that Cline waits for.
  (cd "$folder" && within "$longest" "$@" sh -c "$command") <&3 >"$work/output" 2>"$work/errors" 3<&-
  ended=$?
  exec 3<&-
  head -c 4096 "$work/errors" >&2
  case $mode,$ended in
    block,137) refuse 'a hook took too long' ;;
    warn,137) ;;
    *) hear ;;
  esac
}

# What the last hook said: a cancellation is passed on at once, of other answers the first.
hear() {
  [ "$(wc -c <"$work/output")" -le "$limit" ] || { fail 'a hook said too much'; return 0; }
  if grep -q '^HOOK_CONTROL	' "$work/output"; then
    grep '^HOOK_CONTROL	' "$work/output" | tail -n 1 | cut -f 2- >"$work/answer"
  else
    cp "$work/output" "$work/answer"
  fi
  case $(LC_ALL=C tr -d ' \n\r\t' <"$work/answer") in
    '' | '{}') [ "$ended" = 0 ] || fail "a hook ended with $ended" ;;
    '{'*'}')
      if cancels "$work/answer"; then
        cat "$work/answer"
        exit 0
      fi
      [ -n "$first" ] || { cp "$work/answer" "$work/first"; first=yes; }
      ;;
    *) fail 'a hook gave no valid answer' ;;
  esac
}

