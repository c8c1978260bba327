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
    sw_text_base64(c->text, c->args[0].as.s, c->args[0].len);
    return sw_return_text(c);
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
    sw_text_printf(c->text, "illegal base64 data at input byte %zu", len);
    return sw_return_text(c);
}

/* ---- base32 ---- */

static int fn_b32enc(struct call *c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    static const int used[] = { 0, 2, 4, 5, 7, 8 }; /* digits of so many bytes */
    const unsigned char *s = (const unsigned char *)c->args[0].as.s;
    size_t len = c->args[0].len;
    for (size_t i = 0; i < len; i += 5) {
        uint64_t bits = 0;
        size_t n = len - i < 5 ? len - i : 5;
        for (size_t k = 0; k < 5; k++)
            bits = bits << 8 | (k < n ? s[i + k] : 0);
        for (int k = 0; k < 8; k++)
            sw_text_char(c->text, k < used[n] ? digits[bits >> (35 - 5 * k) & 31] : '=');
    }
    return sw_return_text(c);
}

/* Eight digits, or those before padding. @return where the text is wrong, or -1 */
static long read_octet(const char *s, size_t len, size_t *at, uint64_t *bits, size_t *n)
{
    *bits = 0;
    for (*n = 0; *n < 8; ++*n) {
        if (*at == len)
            return (long)(*at - *n);
        char ch = s[(*at)++];
        if (ch == '=' && *n >= 2 && len - *at < 8) {
            size_t first = *at, left = len - first;
            *at = len;
            if (left + *n < 7)
                return (long)len;
            for (size_t k = 0; k < 7 - *n; k++) {
                if (k < left && s[first + k] != '=')
                    return (long)(first + k) - 1;
            }
            return *n == 3 || *n == 6 ? (long)first - 1 : -1;
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
    size_t at = 0, len = 0;
    int rc = sw_call_room(c, (size_t)c->args[0].len + 1);
    if (rc < 0)
        return rc;
    char *s = sw_arena_alloc(c->arena, c->args[0].len + 1);
    for (size_t i = 0; i < c->args[0].len; i++) {
        if (c->args[0].as.s[i] != '\n' && c->args[0].as.s[i] != '\r')
            s[len++] = c->args[0].as.s[i];
    }
    struct text *t = c->text;
    while (at < len) {
        uint64_t bits;
        size_t n;
        long bad = read_octet(s, len, &at, &bits, &n);
        if (bad >= 0) {
            t->len = c->mark;
            sw_text_printf(t, "illegal base32 data at input byte %ld", bad);
            break;
        }
        for (size_t i = 0; i < n * 5 / 8; i++)
            sw_text_char(t, (char)(bits >> (32 - 8 * i)));
    }
    return sw_return_text(c);
}

/* ---- checksums ---- */

/* The variant is the length of the sum in bytes. */
static int fn_sha(struct call *c)
{
    struct sw_value v = c->args[0];
    unsigned char sum[SHA512_DIGEST_LENGTH];
    SHA_CTX sha1;
    SHA512_CTX sha512;
    switch (c->func->variant) {
    case SHA_DIGEST_LENGTH:
        (void)SHA1_Init(&sha1); /* these cannot fail */
        (void)SHA1_Update(&sha1, v.as.s, v.len);
        (void)SHA1_Final(sum, &sha1);
        break;
    case SHA512_DIGEST_LENGTH:
        (void)SHA512_Init(&sha512);
        (void)SHA512_Update(&sha512, v.as.s, v.len);
        (void)SHA512_Final(sum, &sha512);
        break;
    default:
        sw_sha256(v.as.s, v.len, sum);
    }
    for (size_t i = 0; i < c->func->variant; i++) {
        sw_text_char(c->text, "0123456789abcdef"[sum[i] >> 4]);
        sw_text_char(c->text, "0123456789abcdef"[sum[i] & 15]);
    }
    return sw_return_text(c);
}

static int fn_adler32(struct call *c)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < c->args[0].len; i++) {
        a = (a + (unsigned char)c->args[0].as.s[i]) % 65521;
        b = (b + a) % 65521;
    }
    sw_text_printf(c->text, "%u", b << 16 | a);
    return sw_return_text(c);
}

const struct func sw_funcs_encoding[] = {
    { "b64enc", fn_b64enc, "s", "in base64", 0, 0 },
    { "b64dec", fn_b64dec, "s", "out of base64; what is wrong where it is none", 0, 0 },
    { "b32enc", fn_b32enc, "s", "in base32", 0, 0 },
    { "b32dec", fn_b32dec, "s", "out of base32; what is wrong where it is none", 0, 0 },
    { "sha1sum", fn_sha, "s", "the SHA-1 checksum in hex", SHA_DIGEST_LENGTH, 0 },
    { "sha256sum", fn_sha, "s", "the SHA-256 checksum in hex", SW_SHA256_LEN, 0 },
    { "sha512sum", fn_sha, "s", "the SHA-512 checksum in hex", SHA512_DIGEST_LENGTH, 0 },
    { "adler32sum", fn_adler32, "s", "the Adler-32 checksum, decimal", 0, 0 },
    { 0 },
};
