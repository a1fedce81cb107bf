#!/bin/sh
# The whole job on the embedded sample, as a user would type it. Usage: docs/demo.sh [path of the aspectra command]
set -e
aspectra=${1:-aspectra}
say() { printf '\n\033[1m$ aspectra %s\033[0m\n' "$*"; "$aspectra" "$@"; }

rm -rf demo
say sample demo
say fit demo/reviews.csv --run demo/run --n-topics 24
say topics demo/run
say map demo/run --dev demo/dev.jsonl
say label demo/run demo/reviews.csv --id-column review_id -o demo/labelled.csv
head -n 5 demo/labelled.csv | cut -c 1-200
say report demo/run demo/labelled.csv --gold demo/test.jsonl -o demo/report.html
say evaluate demo/run demo/test.jsonl
