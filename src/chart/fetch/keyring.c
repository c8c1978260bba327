#include "chart/fetch/keyring.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/text/base64.h"

static const char begin[] = "-----BEGIN PGP PUBLIC KEY BLOCK-----", end_mark[] = "-----END PGP";

static const char *next_line(const char *p, const char *end)
{
    const char *eol = memchr(p, '\n', (size_t)(end - p));
    return eol ? eol + 1 : end;
}

static bool is_blank_line(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    return p == end || *p == '\n';
}

static bool begins(const char *p, const char *end, const char *with)
{
    size_t n = strlen(with);
    return (size_t)(end - p) >= n && memcmp(p, with, n) == 0;
}

/* The bytes of the block at *@p, which moves to its end; NULL: malformed. */
static char *unpack_block(const char **p, const char *end, size_t *len)
{
    const char *from = next_line(*p, end); /* lines "Version: ...", an empty one, base64 */
    while (from < end && !is_blank_line(from, end))
        from = next_line(from, end);
    from = next_line(from, end);
    const char *to = from;
    while (to < end && *to != '=' && !begins(to, end, "-----"))
        to = next_line(to, end);
    const char *last = to;
    while (last < end && !begins(last, end, end_mark))
        last = next_line(last, end);
    *p = last;
    return last < end && to > from ? sw_base64_decode(from, (size_t)(to - from), len) : NULL;
}

char *sw_keyring_unpack(const char *text, size_t len, size_t *out_len)
{
    const char *p = memmem(text, len, begin, sizeof begin - 1), *end = text + len;
    SW_AUTO_CHARS *out = sw_alloc(len + 1); /* base64 is longer than its bytes */
    *out_len = 0;
    if (!p) {
        memcpy(out, text, len);
        *out_len = len;
    }
    for (; p; p = memmem(p, (size_t)(end - p), begin, sizeof begin - 1)) {
        size_t n;
        SW_AUTO_CHARS *bytes = unpack_block(&p, end, &n);
        if (!bytes)
            return NULL;
        memcpy(out + *out_len, bytes, n);
        *out_len += n;
    }
    out[*out_len] = '\0';
    return SW_TAKE(out);
}
