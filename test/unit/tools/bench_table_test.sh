#!/bin/sh
# The table of `make bench`: figures beside those of peers, and that the document holds what it is made of.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh

figures() {
    cat <<'JSON'
[
{"bench":"machine","cpu":"A CPU","cores":2,"memory_gib":23,"kernel":"6.12","slipway":"0.1.0","kubernetes":null,"date":"2026-11-28"},
{"bench":"webhook","connections":8,"per_s":7944,"cpu_us":65.1,"peak_kib":7016},
{"bench":"render","chart":"/somewhere/gpu-operator","all_us":6900,"render_us":640},
{"bench":"scale-rest","rss_kib":11968,"reads_per_min":0}
]
JSON
}
row() { figures | hack/bench-table.py | grep -F "| $1 |" || { figures | hack/bench-table.py; return 1; }; }
more_is_better() { row '8 connections' | grep -Fx '| 8 connections | 7,944 | DAS: 2,648 | 3 |'; }
less_is_better() { row 'CPU of an admission, 8 connections' | grep -Fx '| CPU of an admission, 8 connections | 65.1 us | DAS: 651 us | 10 |'; }
scaled() { row 'in a process that goes on: load, values, schema, render' | grep -F '| 6.9 ms | Helm 3.7.1: 13.8 ms | 2 |'; }
nothing() { row 'requests a minute' | grep -F '| 0 | SRO, waiting: 520 | none |'; }
left_out() { ! figures | hack/bench-table.py | grep -E 'kube-scheduler|1 connection ' && figures | hack/bench-table.py | grep -F 'The webhook for slices'; }
machine() { [ "$(figures | hack/bench-table.py | head -1)" = 'slipway 0.1.0 on 2 cores of A CPU, 23 GiB, Linux 6.12, no real API server; 2026-11-28.' ]; }
changed() {
    cp docs/benchmarks.md docs/benchmarks.json "$tap_dir/" && sed -i 's/^| 8 connections | /&9/' "$tap_dir/benchmarks.md" &&
        ! hack/bench-table.py --check "$tap_dir/benchmarks.md" 2>"$tap_dir/err" && grep -q 'the table is not that of its figures' "$tap_dir/err" &&
        hack/bench-table.py --write "$tap_dir/benchmarks.md" && cmp docs/benchmarks.md "$tap_dir/benchmarks.md"
}

t 'what is better when it is more, is divided by what the peer has' more_is_better
t 'what is better when it is less, the other way round' less_is_better
t 'a figure is in the unit of its row' scaled
t 'nothing at all is not divided by' nothing
t 'what was not measured has no row' left_out
t 'the machine is told' machine
t 'the document has the table of its figures' hack/bench-table.py --check docs/benchmarks.md
t 'a table that is not that of its figures is refused, and made again' changed
plan
