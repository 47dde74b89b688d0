#!/usr/bin/env bash
# Renders one image and saves it. Needs curl 7.76 or newer.
#
#   DARKROOM_API=http://127.0.0.1:8787/api/public/v1 DARKROOM_KEY=dk_live_… \
#     examples/generate.sh "a quiet lake at dawn" lake.png
set -euo pipefail

api=${DARKROOM_API:-http://127.0.0.1:8787/api/public/v1}
key=${DARKROOM_KEY:-}
prompt=${1:-a quiet lake at dawn}
file=${2:-image.png}

answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# Sends a request, and leaves the answer in the file $answer. curl repeats the request after 429, 500, 502,
# 503 and 504, and waits as long as Retry-After says. An error is printed as the service sent it.
call() {
  local path=$1
  shift
  curl --silent --show-error --fail-with-body --retry 4 --retry-connrefused --max-time 35 --output "$answer" \
    --header "Authorization: Bearer $key" "$@" "$api$path" || { cat "$answer" >&2; exit 1; }
}

# The text of a field of the answer. A program should use a real JSON parser, such as jq.
field() {
  grep -o "\"$1\":\"[^\"]*\"" "$answer" | head -n 1 | cut -d '"' -f 4
}

# A prompt on one line needs only these two escapes in JSON.
escaped=$(printf '%s' "$prompt" | sed 's/\\/\\\\/g; s/"/\\"/g')

# The key makes every repetition of this request return the same creation.
call /images/generate \
  --header "Idempotency-Key: example-$(date +%s)-$$-$RANDOM" \
  --header 'Content-Type: application/json' \
  --data "{\"model\":\"sandbox-standard\",\"prompt\":\"$escaped\"}"
id=$(field id)
echo "accepted   $id"

for ((polls = 0; polls < 300; polls += 1)); do
  call "/creations/$id"
  status=$(field status)
  [[ $status == completed || $status == failed ]] && break
  sleep 2
done

if [[ $status != completed ]]; then
  echo "The creation $id is $status. $(field error_code): $(field error)" >&2
  exit 1
fi
# The address of an image needs no key.
curl --silent --show-error --fail --output "$file" "$(field url)"
echo "completed  $file"
