#!/usr/bin/env python3
"""Write src/chart/template/funcs/blowfish_tables.c: Blowfish's initial tables are the fraction of pi in binary.

usage: hack/blowfish-tables.py >src/chart/template/funcs/blowfish_tables.c
"""
WORDS = 18 + 4 * 256
BITS = WORDS * 32
GUARD = 64


def arctan_inverse(n, unit):
    total = term = unit // n
    k, sign = 3, -1
    while term:
        term //= n * n
        total += sign * (term // k)
        k, sign = k + 2, -sign
    return total


unit = 1 << (BITS + GUARD)
pi = 4 * (4 * arctan_inverse(5, unit) - arctan_inverse(239, unit))
fraction = (pi - 3 * unit) >> GUARD
words = [fraction >> (BITS - 32 * (i + 1)) & 0xFFFFFFFF for i in range(WORDS)]

print("/* Made by hack/blowfish-tables.py: the binary digits of pi; do not edit. */")
print("/* clang-format off */")
print('#include "chart/template/funcs/bcrypt.h"\n')
print("const uint32_t sw_blowfish_tables[SW_BLOWFISH_WORDS] = {")
for i in range(0, WORDS, 8):
    print("    " + " ".join("0x%08x," % w for w in words[i:i + 8]))
print("};")
