# hack/measure-code.py on a small tree: each of its counters, with what it must and must not count.
. test/tap.sh
tree=$tap_dir/tree
measure() { python3 hack/measure-code.py "$tree" "$@"; }
figure() { # PATH VALUE: one figure of the JSON document
    local got
    got=$(measure -o json | python3 -c 'import functools, json, sys
print(functools.reduce(lambda d, k: d[k], sys.argv[1].split("."), json.load(sys.stdin)))' "$1")
    [ "$got" = "$2" ] || { echo "$1 is $got, not $2"; return 1; }
}
lists() { # WHAT LINE...: exactly these
    local what=$1
    shift
    diff <(printf '%s\n' "$@") <(measure --list "$what")
}

mkdir -p "$tree/src/low" "$tree/src/high/inner" "$tree/test"
cat >"$tree/src/low/low.h" <<'C'
#pragma once
/** A type with a comment. */
struct low {
    int a; /* a member's comment is not the type's */
};
struct bare {
    int a; /* nor here */
};
struct low; /* no declaration of its own */
/** Has one. */
int low_one(int a);
int low_two(int a); /* beside it */

int low_three(int a);
extern const int low_limit;
C
cat >"$tree/src/low/in.h" <<'C'
#pragma once
/** Of the module alone. */
int low_hidden(void);
C
cat >"$tree/src/low/low.c" <<'C'
#include "low/low.h"
#include "low/in.h"
/* low_three() in a comment is no use, "low_three" in a string neither */
const int low_limit = 3;
const char *const low_text = "low_three(";

static int helper(int a)
{
    return a + low_hidden();
}

static int twice(int a)
{
    return a; /* { not a brace */
}

static int row(int a);
static int (*const table[])(int) = { row };

static int row(int a)
{
    return '{' + a;
}

int low_one(int a)
{
    return helper(a) + twice(a) + twice(a) + table[0](a);
}
#ifdef SOME
int low_two(int a)
{
#else
int low_two(int b)
{
    int a = b;
#endif
    return a;
}

int low_three(int a)
{
    return a;
}
C
cat >"$tree/src/low/hidden.c" <<'C'
#include "low/in.h"
#include "low/low.h"
int low_hidden(void)
{
    return low_two(1);
}
C
cat >"$tree/src/high/inner/kind.h" <<'C'
#pragma once
int kind(void);
int kind_more(void);
C
printf '#include "high/inner/kind.h"\n#include "low/low.h"\nint kind(void)\n{\n    return kind_more() + low_one(1);\n}\n' >"$tree/src/high/inner/kind.c"
printf '#include "high/inner/kind.h"\n#include "low/in.h"\nint kind_more(void)\n{\n    return low_hidden() + kind();\n}\n' >"$tree/src/high/inner/kind_more.c"
printf 'int nobody(int (*fn)(int))\n{\n    return fn(1);\n}\n' >"$tree/src/high/inner/nobody.c"
printf '#include "low/low.h"\nint main(void)\n{\n    return low_three(1);\n}\n' >"$tree/test/low_test.c"

t "code is what is neither blank nor comment" figure districts.high.code 19
t "districts are the folders below src, tests are none" figure files 8
t "folders are counted each" figure folders.high/inner.files 4
t "a function runs from its head to its brace" figure functions.longest 6
t "all functions are found, in both branches of an #if once" figure functions.count 10
t "called in one place: not from a table, not twice" lists once src/low/low.c:7:\ helper
t "an external function that only a test uses" lists tests-only src/low/low.c:40:\ low_three
t "an external function that nothing uses" lists unused src/high/inner/nobody.c:1:\ nobody
t "declarations without a comment" lists uncommented "src/high/inner/kind.h:2: kind" \
    "src/high/inner/kind.h:3: kind_more" "src/low/low.h:6: bare" "src/low/low.h:14: low_three" "src/low/low.h:15: low_limit"
t "a circle of calls between two files; a family is none" figure circles.files 2
t "the circle is named" grep -q 'src/low/hidden.c -> src/low/low: calls low_two' <(measure --list circles)
t "an include past the public header" lists past "src/high/inner/kind_more.c:2: low/in.h"
t "the share of such includes" figure past.of 2
printf 'low | low.h in.h | | below\nhigh/inner | kind.h | | above\n' >"$tree/src/modules.txt"
t "public headers are read from the table of modules" figure past.count 0
t "the table is printed" grep -q '^lines of a function *4 / 4 / 6 ' <(measure)
t "a tree without sources is an error" bash -c '! python3 hack/measure-code.py charts 2>/dev/null'
plan
