#!/bin/sh
# embed.sh NAME FILE... : print a C source that holds the files as `const struct sw_embedded NAME[]`. A file is
# called by what follows "/./" in its path, else by its last part.
set -eu
name=$1
shift
printf '#include "base/base.h"\n\nextern const struct sw_embedded %s[];\n' "$name"
printf 'const struct sw_embedded %s[] = {\n' "$name"
for f in "$@"; do
    [ -f "$f" ] || continue
    case $f in */./*) of=${f##*/./} ;; *) of=${f##*/} ;; esac
    printf '    { "%s",\n' "$of"
    # one C string a line; octal for what is not plain, so that no escape swallows the next letter
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/?/\\?/g' -e 's/	/\\t/g' -e 's/^/      "/' -e 's/$/\\n"/' "$f"
    [ -s "$f" ] || printf '      ""\n'
    printf '      , %d },\n' "$(sed -n '$=' "$f" >/dev/null; sed 's/$//' "$f" | wc -c)"
done
printf '    { 0 },\n};\n'
