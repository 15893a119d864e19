#!/bin/sh
# Runs a load test in CI, keeps its report, comments on the change, and ends with the verdict.
#
#     sh load-test.sh COMMAND…        sh load-test.sh run chat.js --fail-on-errors
#
# LOAD_TEST_NAME       what the comment is about; a second run under this name replaces its comment. load test
# LOAD_TEST_REPORTS    the folder for load.html, load.json, comparison.md and comment.md. load-test
# LOAD_TEST_BASELINE   the load.json of an earlier run to compare with; it may be absent
# LOAD_TEST_COMMENT    true: comment on the pull request (GitHub) or merge request (GitLab). true
# LOAD_TEST_TOKEN      a token that may comment
#
# Exit codes: that of the load test if it is not 0, otherwise 3 if it is worse than the baseline. An inconclusive comparison is
# a notice. Needs curl and jq.
set -u

name=${LOAD_TEST_NAME:-load test}
reports=${LOAD_TEST_REPORTS:-load-test}
baseline=${LOAD_TEST_BASELINE:-}
load=$reports/load.json
comment=$reports/comment.md

if [ $# -eq 0 ]; then
  echo "error: no command of plimsoll; expected for example: load-test.sh run chat.js --fail-on-errors" >&2
  exit 2
fi
mkdir -p "$reports" || exit
rm -f "$load" "$reports/comparison.md"

code=0
plimsoll "$@" --report "$reports/load.html" --report "$load" || code=$?

# Appends the comparison with the baseline, and fails if the new result is worse.
compare() {
  if [ ! -s "$baseline" ]; then
    echo "There is no baseline yet: \`$baseline\` is missing."
    return 0
  fi
  verdict=0
  plimsoll report "$baseline" "$load" --md >"$reports/comparison.md" || verdict=$?
  cat "$reports/comparison.md"
  case $verdict in
    0 | 5) return 0 ;;
    4) echo "notice: the comparison with $baseline is inconclusive" >&2 ;;
    *) return "$verdict" ;;
  esac
}

{
  echo "<!-- plimsoll: $name -->"
  echo "## $name"
  echo
  if [ -s "$load" ]; then
    plimsoll report "$load" --md
  else
    echo "No result: \`plimsoll $1\` ended with the exit code $code."
  fi
} >"$comment"
if [ -s "$load" ] && [ -n "$baseline" ]; then
  echo >>"$comment"
  compared=0
  compare >>"$comment" || compared=$?
  [ "$code" -ne 0 ] || code=$compared
fi
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$comment" >>"$GITHUB_STEP_SUMMARY"

# One call of the forge's API. The token is no argument, because other users see those.
call() {
  printf 'header = "%s"\n' "$authorization" |
    curl --config - --silent --show-error --fail --max-time 30 --retry 2 --header 'Content-Type: application/json' "$@"
}

# The address of the comment that an earlier run under this name left, if there is one.
earlier() {
  list=$(call "$comments?per_page=100") || return
  printf '%s' "$list" |
    jq -r --arg mark "<!-- plimsoll: $name -->" 'map(select(.body | startswith($mark))) | .[0] | .url // .id // empty'
}

# Posts the comment, or replaces the earlier one.
post() {
  before=$(earlier) || return
  case $before in
    '') set -- --request POST "$comments" ;;
    http*) set -- --request PATCH "$before" ;;
    *) set -- --request PUT "$comments/$before" ;;
  esac
  jq -Rs '{ body: . }' "$comment" >"$comment.json" && call --data @"$comment.json" "$@" >/dev/null
}

# GitHub and GitLab say in the environment which change they test.
if [ -n "${GITHUB_EVENT_PATH:-}" ]; then
  number=$(jq -r '.pull_request.number // empty' "$GITHUB_EVENT_PATH")
  comments=${number:+$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues/$number/comments}
  authorization="Authorization: Bearer ${LOAD_TEST_TOKEN:-}"
else
  comments=${CI_MERGE_REQUEST_IID:+$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes}
  authorization="PRIVATE-TOKEN: ${LOAD_TEST_TOKEN:-}"
fi
if [ "${LOAD_TEST_COMMENT:-true}" = true ] && [ -n "$comments" ] && [ -n "${LOAD_TEST_TOKEN:-}" ]; then
  # A change from a fork has no token that may comment; the result counts all the same.
  post || echo "warning: the comment could not be written; the result is in $comment" >&2
fi
exit "$code"
