#include "chart/template/funcs/bcrypt.h"

#include <stdio.h>
#include <string.h>

struct blowfish {
    uint32_t p[18];
    uint32_t s[4][256];
};

static uint32_t mix(const struct blowfish *b, uint32_t x)
{
    return ((b->s[0][x >> 24] + b->s[1][x >> 16 & 255]) ^ b->s[2][x >> 8 & 255]) + b->s[3][x & 255];
}

static void encrypt(const struct blowfish *b, uint32_t *left, uint32_t *right)
{
    uint32_t l = *left, r = *right;
    for (int i = 0; i < 16; i += 2) {
        l ^= b->p[i];
        r ^= mix(b, l);
        r ^= b->p[i + 1];
        l ^= mix(b, r);
    }
    *left = r ^ b->p[17];
    *right = l ^ b->p[16];
}

/* The next 32 bits of a text that repeats without end. */
static uint32_t next_word(const unsigned char *s, size_t len, size_t *at)
{
    uint32_t w = 0;
    for (int i = 0; i < 4; i++) {
        w = w << 8 | s[*at];
        *at = (*at + 1) % len;
    }
    return w;
}

/* Work the key, and the salt where there is one, into all tables. */
static void expand(struct blowfish *b, const unsigned char *key, size_t key_len,
                   const unsigned char *salt)
{
    uint32_t l = 0, r = 0, *words = b->p;
    size_t at = 0;
    for (int i = 0; i < 18; i++)
        b->p[i] ^= next_word(key, key_len, &at);
    at = 0;
    for (int i = 0; i < SW_BLOWFISH_WORDS; i += 2) {
        if (salt) {
            l ^= next_word(salt, 16, &at);
            r ^= next_word(salt, 16, &at);
        }
        encrypt(b, &l, &r);
        if (i == 18)
            words = &b->s[0][0] - 18;
        words[i] = l;
        words[i + 1] = r;
    }
}

/* bcrypt's own base64. */
static char *put_base64(char *out, const unsigned char *s, size_t len)
{
    static const char digits[] = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    uint32_t bits = 0;
    int have = 0;
    for (size_t i = 0; i < len; i++) {
        bits = bits << 8 | s[i];
        for (have += 8; have >= 6; have -= 6)
            *out++ = digits[bits >> (have - 6) & 63];
    }
    if (have > 0)
        *out++ = digits[bits << (6 - have) & 63];
    *out = '\0';
    return out;
}

void sw_bcrypt(const char *password, size_t len, unsigned cost, const unsigned char salt[static 16],
               char out[static SW_BCRYPT_LEN + 1])
{
    enum { LONGEST = 72, DIGEST = 23 };
    struct blowfish b;
    unsigned char key[LONGEST + 1] = { 0 }, digest[24];
    uint32_t text[6];
    size_t key_len = len < LONGEST ? len + 1 : LONGEST; /* the final NUL counts */
    memcpy(key, password, len < LONGEST ? len : LONGEST);
    memcpy(b.p, sw_blowfish_tables, sizeof b.p);
    memcpy(b.s, sw_blowfish_tables + 18, sizeof b.s);
    expand(&b, key, key_len, salt);
    for (uint64_t i = 0; i < 1ull << cost; i++) {
        expand(&b, key, key_len, NULL);
        expand(&b, salt, 16, NULL);
    }
    for (int i = 0; i < 6; i++) {
        size_t at = (size_t)i * 4;
        text[i] = next_word((const unsigned char *)"OrpheanBeholderScryDoubt", 24, &at);
    }
    for (int i = 0; i < 64; i++) {
        for (int k = 0; k < 6; k += 2)
            encrypt(&b, &text[k], &text[k + 1]);
    }
    for (int i = 0; i < 24; i++)
        digest[i] = (unsigned char)(text[i / 4] >> (24 - 8 * (i % 4)));
    char *p = out + snprintf(out, 8, "$2a$%02u$", cost);
    put_base64(put_base64(p, salt, 16), digest, DIGEST);
}
