/* sprig's random values. */
#include <stdlib.h>

#include "base/openssl.h"
#include "chart/template/funcs/funcs.h"
#include "chart/template/funcs/random.h"
#include "chart/template/lang/exec.h"
#include "chart/template/value/value_text.h"
#include "data/text/unicode.h"

/* ---- numbers ---- */

uint64_t sw_random_u64(struct exec *x)
{
    uint64_t u = 0;
    if (x->opts.seed) { /* splitmix64 */
        u = x->random += 0x9E3779B97F4A7C15;
        u = (u ^ u >> 30) * 0xBF58476D1CE4E5B9;
        u = (u ^ u >> 27) * 0x94D049BB133111EB;
        return u ^ u >> 31;
    }
    if (RAND_bytes((unsigned char *)&u, sizeof u) != 1)
        abort(); /* no randomness: nothing made with it would be safe */
    return u;
}

uint64_t sw_random_below(struct exec *x, uint64_t n)
{
    uint64_t u, unfair = -n % n; /* 2^64 mod n */
    do
        u = sw_random_u64(x);
    while (u < unfair);
    return u % n;
}

void sw_random_bytes(struct exec *x, unsigned char *out, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint64_t u = sw_random_u64(x);
        for (size_t k = 0; k < 8 && i < n; k++, i++)
            out[i] = (unsigned char)(u >> 8 * k);
    }
}

/* ---- the functions ---- */

static const char *const alphabets[] = {
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "0123456789",
    (" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
     "abcdefghijklmnopqrstuvwxyz{|}~"),
};

enum { ALPHANUM, ALPHA, NUMERIC, ASCII };

static int fn_rand_text(struct call *c)
{
    const char *alphabet = alphabets[c->func->variant];
    int64_t n = c->args[0].as.i;
    size_t len = strlen(alphabet);
    int rc = sw_call_check_size(c, (double)n);
    if (rc == 0)
        rc = sw_call_charge(c, n > 0 ? (uint64_t)n : 0);
    if (rc < 0)
        return rc;
    for (int64_t i = 0; i < n; i++)
        sw_text_char(c->text, alphabet[sw_random_below(c->x, len)]);
    return sw_return_text(c);
}

static int fn_rand_bytes(struct call *c)
{
    int64_t n = c->args[0].as.i;
    if (n < 0)
        return sw_call_fail(c, "runtime error: makeslice: len out of range");
    int rc = sw_call_check_size(c, (double)n * 2);
    if (rc == 0)
        rc = sw_call_charge(c, (uint64_t)n);
    if (rc == 0)
        rc = sw_call_room(c, (size_t)n + 1);
    if (rc < 0)
        return rc;
    unsigned char *bytes = sw_arena_alloc(c->arena, (size_t)n + 1);
    sw_random_bytes(c->x, bytes, (size_t)n);
    sw_text_base64(c->text, (const char *)bytes, (size_t)n);
    return sw_return_text(c);
}

static int fn_rand_int(struct call *c)
{
    int64_t min = c->args[0].as.i, max = c->args[1].as.i, span;
    if (__builtin_sub_overflow(max, min, &span) || span <= 0)
        return sw_call_fail(c, "invalid argument to Intn");
    return sw_return(c, sw_value_int(min + (int64_t)sw_random_below(c->x, (uint64_t)span)));
}

static int fn_uuidv4(struct call *c)
{
    unsigned char u[16];
    sw_random_bytes(c->x, u, sizeof u);
    u[6] = (unsigned char)((u[6] & 0x0F) | 0x40);
    u[8] = (unsigned char)((u[8] & 0x3F) | 0x80);
    for (size_t i = 0; i < sizeof u; i++)
        sw_text_printf(c->text, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", u[i]);
    return sw_return_text(c);
}

static int fn_shuffle(struct call *c)
{
    struct sw_value s = c->args[0];
    size_t n = 0;
    int rc = sw_call_charge(c, s.len);
    if (rc == 0)
        rc = sw_call_room(c, ((size_t)s.len + 1) * sizeof(uint32_t));
    if (rc < 0)
        return rc;
    uint32_t *runes = sw_arena_alloc(c->arena, ((size_t)s.len + 1) * sizeof *runes);
    for (size_t i = 0; i < s.len; n++)
        i += sw_rune_decode(s.as.s + i, s.len - i, &runes[n]);
    for (size_t i = n; i > 1; i--) {
        size_t other = sw_random_below(c->x, i);
        uint32_t swap = runes[i - 1];
        runes[i - 1] = runes[other];
        runes[other] = swap;
    }
    for (size_t i = 0; i < n; i++)
        sw_text_rune(c->text, runes[i]);
    return sw_return_text(c);
}

const struct func sw_funcs_random[] = {
    { "randAlphaNum", fn_rand_text, "i", "so many random letters and digits", ALPHANUM, 0 },
    { "randAlpha", fn_rand_text, "i", "so many random letters", ALPHA, 0 },
    { "randNumeric", fn_rand_text, "i", "so many random digits", NUMERIC, 0 },
    { "randAscii", fn_rand_text, "i", "so many random printable characters", ASCII, 0 },
    { "randBytes", fn_rand_bytes, "i", "so many random bytes, in base64", 0, 0 },
    { "randInt", fn_rand_int, "ii", "a random number from one to below another", 0, 0 },
    { "uuidv4", fn_uuidv4, "", "a random UUID", 0, 0 },
    { "shuffle", fn_shuffle, "s", "the characters in random order", 0, 0 },
    { 0 },
};
