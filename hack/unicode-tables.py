#!/usr/bin/env python3
"""Write src/data/text/unicode_tables.c from the Unicode Character Database.

usage: hack/unicode-tables.py [UCD directory, default /usr/share/unicode] >src/data/text/unicode_tables.c

The version matters: Go's regexp, strings and fmt packages use Unicode 15.0.0.
"""
import re
import sys

UCD = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode"
MAX = 0x110000


def lines(name):
    with open(f"{UCD}/{name}", encoding="utf-8") as f:
        for line in f:
            line = line.split("#")[0].strip()
            if line:
                yield [x.strip() for x in line.split(";")]


def load():
    cat = ["Cn"] * MAX
    upper, lower, title = {}, {}, {}
    first = None
    for f in lines("UnicodeData.txt"):
        cp = int(f[0], 16)
        if f[1].endswith(", First>"):
            first = cp
            continue
        lo = first if f[1].endswith(", Last>") else cp
        for c in range(lo, cp + 1):
            cat[c] = f[2]
        for table, field in ((upper, 12), (lower, 13), (title, 14)):
            if len(f) > field and f[field]:
                table[cp] = int(f[field], 16)
    for c, u in upper.items():  # the title case of a letter is its upper case where none is named
        title.setdefault(c, u)
    script = {}
    for f in lines("Scripts.txt"):
        lo, _, hi = f[0].partition("..")
        script.setdefault(f[1], []).append((int(lo, 16), int(hi or lo, 16)))
    folds = {}
    for f in lines("CaseFolding.txt"):
        if f[1] in "CS":
            folds.setdefault(int(f[2], 16), set()).update((int(f[0], 16), int(f[2], 16)))
    return cat, upper, lower, title, script, folds


def ranges(pred):
    out, start = [], None
    for c in range(MAX + 1):
        inside = c < MAX and pred(c)
        if inside and start is None:
            start = c
        elif not inside and start is not None:
            out.append((start, c - 1))
            start = None
    return out


def merge(rs):
    out = []
    for lo, hi in sorted(rs):
        if out and lo <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(hi, out[-1][1]))
        else:
            out.append((lo, hi))
    return out


def emit(words, per_line=8):
    for i in range(0, len(words), per_line):
        print("    " + " ".join(w + "," for w in words[i:i + per_line]))


def emit_ranges(name, rs):
    print(f"static const struct sw_rune_range {name}[] = {{")
    emit(["{ %#x, %#x }" % r for r in rs], 5)
    print("};")


def alternating(rs):
    """Split into ranges of every rune, and of every second one."""
    plain, second = [], []
    for lo, hi in rs:
        if lo == hi and second and lo == second[-1][1] + 2:
            second[-1] = (second[-1][0], hi)
        elif lo == hi:
            second.append((lo, hi))
        else:
            plain.append((lo, hi))
    plain += [r for r in second if r[0] == r[1]]
    return sorted(plain), [r for r in second if r[0] != r[1]]


def emit_class(name, rs):
    """The tables of a class. @return its initialiser"""
    plain, second = alternating(rs) if name in ("Ll", "Lu") else (rs, [])
    emit_ranges("r_" + name, plain)
    if not second:
        return f'{{ "{name}", r_{name}, SW_COUNT(r_{name}), NULL, 0 }}'
    emit_ranges("a_" + name, second)
    return f'{{ "{name}", r_{name}, SW_COUNT(r_{name}), a_{name}, SW_COUNT(a_{name}) }}'


def emit_mapping(name, table):
    """Runs of neighbours that move by the same distance, every one or every second."""
    runs = []
    for c in sorted(table):
        d = table[c] - c
        if runs and runs[-1][2] == d and c == runs[-1][1] + runs[-1][3] and runs[-1][0] != runs[-1][1]:
            runs[-1][1] = c
        elif runs and runs[-1][2] == d and runs[-1][0] == runs[-1][1] and c - runs[-1][1] in (1, 2):
            runs[-1][3] = c - runs[-1][1]
            runs[-1][1] = c
        else:
            runs.append([c, c, d, 1])
    print(f"const struct sw_rune_shift {name}[] = {{")
    emit(["{ %#x, %#x, %d, %d }" % tuple(r) for r in runs], 4)
    print("};")
    print(f"const size_t {name}_n = SW_COUNT({name});\n")


def main():
    cat, upper, lower, title, script, folds = load()
    print("/* Made by hack/unicode-tables.py from Unicode 15.0.0; do not edit. */")
    print("/* clang-format off */")
    print('#include "base/base.h"')
    print('#include "data/text/unicode.h"\n')
    categories = sorted(set(cat) - {"Cn"})
    rows = {n: emit_class(n, ranges(lambda c, n=n: cat[c] == n)) for n in categories}
    rows.update((n, emit_class(n, merge(script[n]))) for n in sorted(script) if n != "Unknown")
    print("const struct sw_rune_class sw_rune_classes[] = {")
    for row in rows.values():
        print(f"    {row},")
    print("};")
    print("const size_t sw_rune_classes_n = SW_COUNT(sw_rune_classes);")
    print(f"const size_t sw_rune_categories_n = {len(categories)};")
    for n in ("Ll", "Lm", "Lo", "Lt", "Lu", "Nd"):
        print(f"const struct sw_rune_class sw_rune_{n.lower()} = {rows[n]};")
    print()
    emit_mapping("sw_rune_to_upper", upper)
    emit_mapping("sw_rune_to_lower", lower)
    other = {c: title.get(c, c) for c in {*title, *upper} if title.get(c, c) != upper.get(c, c)}
    emit_mapping("sw_rune_to_title", other)
    # orbits of three and more under simple folding, and pairs that upper/lower do not give
    print("const struct sw_rune_orbit sw_rune_orbits[] = {")
    rows = []
    for orbit in folds.values():
        o = sorted(orbit)
        if len(o) == 2 and any(lower.get(a) == b and upper.get(b) == a for a, b in (o, o[::-1])):
            continue
        rows += [(c, o[(i + 1) % len(o)]) for i, c in enumerate(o)]
    # and runes that have another case but fold to none (the dotted and the dotless i)
    folded = {c for orbit in folds.values() for c in orbit}
    rows += [(c, c) for c in set(upper) | set(lower) if c not in folded]
    emit(["{ %#x, %#x }" % r for r in sorted(rows)], 5)
    print("};")
    print("const size_t sw_rune_orbits_n = SW_COUNT(sw_rune_orbits);")


main()
