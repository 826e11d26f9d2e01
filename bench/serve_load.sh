#!/usr/bin/env bash
# bench/serve_load.sh BUILD [SECONDS] [CONNECTIONS]: starts BUILD/kb serve over the shipped skills and
# runs BUILD/bench/serve_load against it. Build both first: cmake --preset release -DKB_BENCH=ON.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
temp=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null; rm -rf "$temp"' EXIT
"$build/kb" --quiet index --kb-dir "$temp/kb" skills
export KB_SERVE_TOKEN=load-test-token
"$build/kb" --quiet serve --kb-dir "$temp/kb" --port 0 >"$temp/url" &
server=$!
for _ in $(seq 100); do [[ -s $temp/url ]] && break; sleep 0.1; done
port=$(sed -E 's|.*:([0-9]+)/|\1|' "$temp/url")
status=0
"$build/bench/serve_load" "$port" "$server" "${2:-30}" "${3:-32}" || status=$?
start=$(date +%s%N)
kill -TERM "$server"
ended=0
wait "$server" || ended=$?
server=
echo "stopped in $((($(date +%s%N) - start) / 1000000)) ms with exit code $ended"
exit $((status + ended))
