#pragma once
/* bcrypt, which OpenSSL does not have: for sprig's bcrypt and htpasswd. */
#include <stddef.h>
#include <stdint.h>

/** The length of a hash, and of Blowfish's tables: 18 subkeys and 4 substitution boxes. */
enum { SW_BCRYPT_LEN = 60, SW_BLOWFISH_WORDS = 18 + 4 * 256 };

extern const uint32_t sw_blowfish_tables[SW_BLOWFISH_WORDS]; /* blowfish_tables.c */

/** The hash of a password of at most 72 bytes: "$2a$10$", salt, digest, NUL.
 * Source: N. Provos, D. Mazieres, "A Future-Adaptable Password Scheme". */
void sw_bcrypt(const char *password, size_t len, unsigned cost, const unsigned char salt[static 16],
               char out[static SW_BCRYPT_LEN + 1]);
