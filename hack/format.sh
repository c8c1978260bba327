#!/bin/bash
# format.sh [--check]: format the C sources in place; --check prints the files that are not formatted
# and exits with 1. Versions of clang-format disagree about the same .clang-format, so one is asked
# for: without it, formatting is refused, and the check is skipped with a line and exit 0.
set -eu
cd "$(dirname "$0")/.."
want=14
for tool in ${CLANG_FORMAT:-clang-format-$want clang-format}; do
    here=$("$tool" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p') || here=
    [ "$here" != "$want" ] || break
done
if [ "$here" != "$want" ]; then
    echo "skip  format: clang-format $want is needed (apt-get install clang-format-$want), ${here:-none} is here" >&2
    [ "${1:-}" = --check ]
    exit
fi
sources() { comm -z -23 <(git ls-files -z -co --exclude-standard '*.[ch]' | sort -z) <(git ls-files -z -d | sort -z); }
if [ "${1:-}" = --check ]; then
    bad=$(sources | xargs -0 "$tool" --dry-run 2>&1 | sed -n 's/^\([^:]*\):.*warning:.*/\1/p' | sort | uniq -c)
    [ -z "$bad" ] || { echo "$bad"; exit 1; }
else
    sources | xargs -0 "$tool" -i
fi
