/* sprig's encodings and checksums. The plain functions of OpenSSL, not EVP's, which first read its
 * configuration and set up its providers: slower than the checksum itself. */

#include "base/openssl.h"
#include "chart/template/funcs/encoding.h"
#include "chart/template/funcs/funcs.h"
#include "chart/template/value/value_text.h"
#include "data/json/hash.h"
#include "data/text/base64.h"

/* ---- base64 ---- */

static int fn_b64enc(struct call *c)
{
    size_t mark;
    struct text *t = sw_call_text(c, &mark);
    sw_text_base64(t, c->args[0].as.s, c->args[0].len);
    return sw_return_text(c, mark);
}

int sw_base64_bytes(struct call *c, struct sw_value s, struct sw_value *out)
{
    size_t len;
    SW_AUTO_CHARS *bytes = sw_base64_decode(s.as.s, s.len, &len);
    if (!bytes)
        return sw_call_fail(c, "illegal base64 data at input byte %zu", len);
    *out = sw_value_str(c->arena, bytes, len);
    return 0;
}

static int fn_b64dec(struct call *c)
{
    size_t len;
    SW_AUTO_CHARS *bytes = sw_base64_decode(c->args[0].as.s, c->args[0].len, &len);
    if (bytes)
        return sw_return_str(c, bytes, len);
    return sw_return(
        c, sw_value_cstr(sw_arena_printf(c->arena, "illegal base64 data at input byte %zu", len)));
}

/* ---- base32 ---- */

static int fn_b32enc(struct call *c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    static const int used[] = { 0, 2, 4, 5, 7, 8 }; /* digits of so many bytes */
    const unsigned char *s = (const unsigned char *)c->args[0].as.s;
    size_t mark, len = c->args[0].len;
    struct text *t = sw_call_text(c, &mark);
    for (size_t i = 0; i < len; i += 5) {
        uint64_t bits = 0;
        size_t n = len - i < 5 ? len - i : 5;
        for (size_t k = 0; k < 5; k++)
            bits = bits << 8 | (k < n ? s[i + k] : 0);
        for (int k = 0; k < 8; k++)
            sw_text_char(t, k < used[n] ? digits[bits >> (35 - 5 * k) & 31] : '=');
    }
    return sw_return_text(c, mark);
}

/* The padding after @n digits, @at just behind its first '='. @return what is wrong, or -1 */
static long check_padding(const char *s, size_t len, size_t at, size_t n)
{
    size_t left = len - at;
    if (left + n < 7)
        return (long)len;
    for (size_t k = 0; k < 7 - n; k++) {
        if (k < left && s[at + k] != '=')
            return (long)(at + k) - 1;
    }
    return n == 1 || n == 3 || n == 6 ? (long)at - 1 : -1;
}

/* Eight digits or what stands before padding. */
static long read_octet(const char *s, size_t len, size_t *at, uint64_t *bits, size_t *n)
{
    *bits = 0;
    for (*n = 0; *n < 8; ++*n) {
        if (*at == len)
            return (long)(*at - *n);
        char ch = s[(*at)++];
        if (ch == '=' && *n >= 2 && len - *at < 8) {
            long bad = check_padding(s, len, *at, *n);
            *at = len;
            return bad;
        }
        int d = ch >= 'A' && ch <= 'Z' ? ch - 'A' : ch >= '2' && ch <= '7' ? ch - '2' + 26 : -1;
        if (d < 0)
            return (long)*at - 1;
        *bits |= (uint64_t)d << (35 - 5 * *n);
    }
    return -1;
}

static int fn_b32dec(struct call *c)
{
    size_t mark, at = 0, len = 0;
    char *s = sw_arena_alloc(c->arena, c->args[0].len + 1);
    for (size_t i = 0; i < c->args[0].len; i++) {
        if (c->args[0].as.s[i] != '\n' && c->args[0].as.s[i] != '\r')
            s[len++] = c->args[0].as.s[i];
    }
    struct text *t = sw_call_text(c, &mark);
    while (at < len) {
        uint64_t bits;
        size_t n;
        long bad = read_octet(s, len, &at, &bits, &n);
        if (bad >= 0) {
            t->len = mark;
            sw_text_printf(t, "illegal base32 data at input byte %ld", bad);
            break;
        }
        for (size_t i = 0; i < n * 5 / 8; i++)
            sw_text_char(t, (char)(bits >> (32 - 8 * i)));
    }
    return sw_return_text(c, mark);
}

/* ---- checksums ---- */

enum { SHA1_SUM, SHA256_SUM, SHA512_SUM };

/* @return the length of the sum */
static size_t sha1(const void *bytes, size_t len, unsigned char *sum)
{
    SHA_CTX ctx;
    (void)SHA1_Init(&ctx); /* these cannot fail */
    (void)SHA1_Update(&ctx, bytes, len);
    (void)SHA1_Final(sum, &ctx);
    return SHA_DIGEST_LENGTH;
}

static size_t sha256(const void *bytes, size_t len, unsigned char *sum)
{
    sw_sha256(bytes, len, sum);
    return SW_SHA256_LEN;
}

static size_t sha512(const void *bytes, size_t len, unsigned char *sum)
{
    SHA512_CTX ctx;
    (void)SHA512_Init(&ctx);
    (void)SHA512_Update(&ctx, bytes, len);
    (void)SHA512_Final(sum, &ctx);
    return SHA512_DIGEST_LENGTH;
}

static int fn_sha(struct call *c)
{
    static size_t (*const sums[])(const void *bytes, size_t len, unsigned char *sum) = {
        [SHA1_SUM] = sha1, [SHA256_SUM] = sha256, [SHA512_SUM] = sha512
    };
    unsigned char sum[SHA512_DIGEST_LENGTH];
    size_t mark, n = sums[c->func->variant](c->args[0].as.s, c->args[0].len, sum);
    struct text *t = sw_call_text(c, &mark);
    for (size_t i = 0; i < n; i++) {
        sw_text_char(t, "0123456789abcdef"[sum[i] >> 4]);
        sw_text_char(t, "0123456789abcdef"[sum[i] & 15]);
    }
    return sw_return_text(c, mark);
}

static int fn_adler32(struct call *c)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < c->args[0].len; i++) {
        a = (a + (unsigned char)c->args[0].as.s[i]) % 65521;
        b = (b + a) % 65521;
    }
    const char *s = sw_arena_printf(c->arena, "%u", b << 16 | a);
    return sw_return(c, sw_value_cstr(s));
}

const struct func sw_funcs_encoding[] = {
    { "b64enc", fn_b64enc, "s", "in base64", 0, 0 },
    { "b64dec", fn_b64dec, "s", "out of base64; what is wrong where it is none", 0, 0 },
    { "b32enc", fn_b32enc, "s", "in base32", 0, 0 },
    { "b32dec", fn_b32dec, "s", "out of base32; what is wrong where it is none", 0, 0 },
    { "sha1sum", fn_sha, "s", "the SHA-1 checksum in hex", SHA1_SUM, 0 },
    { "sha256sum", fn_sha, "s", "the SHA-256 checksum in hex", SHA256_SUM, 0 },
    { "sha512sum", fn_sha, "s", "the SHA-512 checksum in hex", SHA512_SUM, 0 },
    { "adler32sum", fn_adler32, "s", "the Adler-32 checksum, decimal", 0, 0 },
    { 0 },
};
