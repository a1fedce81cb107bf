#!/bin/sh
# The whole job on the embedded sample, as a user would type it. Usage: docs/demo.sh [path of the aspectra command]
set -e
aspectra=${1:-aspectra}
say() { printf '\033[1m$ aspectra %s\033[0m\n' "$*"; "$aspectra" "$@"; }

rm -rf demo
say sample demo
say fit demo/reviews.csv --run demo/run --n-topics 24
say map demo/run --dev demo/dev.jsonl --quiet
say label demo/run demo/reviews.csv --id-column review_id -o demo/labelled.csv
say report demo/run demo/labelled.csv --gold demo/test.jsonl -o demo/report.html 2> demo/said.txt

found=$(grep -e ' when it goes wrong' -e ' soured: ' demo/said.txt | head -n 2 | paste -s -d ' ' -)
right=$("$aspectra" evaluate demo/run demo/test.jsonl --json --quiet | sed -n 's/^ "f1_micro": 0\.\([0-9][0-9]\).*/\1/p')
printf '\nFound:  %s\n' "$found"
printf 'Right:  %s of 100 labels, of segments that nothing was learnt from.\n' "$right"
printf 'Labels: demo/labelled.csv, one row per segment.\n'
printf 'Report: demo/report.html, to open in a browser.\n'
printf 'Your own reviews: aspectra fit reviews.csv --run runs/mine, then: aspectra map runs/mine\n'
