/* SHA-256 for short texts. OpenSSL hashes several times as fast, but loading it takes 1.5 ms:
 * longer than to render a recipe that only needs the checksum of a ConfigMap. */
#include "data/json/hash.h"

#include <string.h>

#include "base/base.h"
#include "base/openssl.h"

enum { BLOCK = 64, SHORT_BYTES = 64 << 10 };

/* FIPS 180-4, 4.2.2: of the cube roots of the first primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

/* FIPS 180-4, 5.3.3: of the square roots of the first primes. */
static const uint32_t initial[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

static uint32_t rotate(uint32_t x, unsigned bits)
{
    return x >> bits | x << (32 - bits);
}

/* FIPS 180-4, 6.2.2. */
static void add_block(uint32_t state[static 8], const unsigned char *block)
{
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++, block += 4)
        w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
               block[3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t big1 = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
        uint32_t big0 = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t t = s[7] + big1 + choice + round_constants[i] + w[i];
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t;
        s[0] = t + big0 + majority;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

static void put_bytes(unsigned char *to, uint64_t v, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (unsigned char)(v >> (8 * (n - 1 - i)));
}

static void sha256_short(const unsigned char *bytes, size_t len, uint8_t out[static SW_SHA256_LEN])
{
    uint32_t state[8];
    memcpy(state, initial, sizeof state);
    size_t at = 0;
    for (; len - at >= BLOCK; at += BLOCK)
        add_block(state, bytes + at);
    /* 5.1.1: the padding is a one bit, zeros, and the length in bits */
    unsigned char last[2 * BLOCK] = { 0 };
    size_t rest = len - at, n = rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
    if (rest > 0)
        memcpy(last, bytes + at, rest);
    last[rest] = 0x80;
    put_bytes(last + n - 8, (uint64_t)len * 8, 8);
    for (size_t i = 0; i < n; i += BLOCK)
        add_block(state, last + i);
    for (size_t i = 0; i < 8; i++)
        put_bytes(out + 4 * i, state[i], 4);
}

void sw_sha256(const void *bytes, size_t len_bytes, uint8_t out[static SW_SHA256_LEN])
{
    if (len_bytes <= SHORT_BYTES) {
        sha256_short(bytes, len_bytes, out);
        return;
    }
    /* not the EVP functions: they first read OpenSSL's configuration and initialise its providers
     */
    SHA256_CTX ctx;
    (void)SHA256_Init(&ctx); /* these cannot fail */
    (void)SHA256_Update(&ctx, bytes, len_bytes);
    (void)SHA256_Final(out, &ctx);
}
