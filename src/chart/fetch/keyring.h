#pragma once
/* keyring: public keys in ASCII armour turned into the binary form that gpgv reads. */
#include <stddef.h>

/** Public keys in OpenPGP's binary form: blocks in ASCII armour ("-----BEGIN PGP PUBLIC KEY
 * BLOCK-----") are unpacked, one behind the other; text without such a block is copied as it is.
 * The caller's; NULL: a block is broken. Source: RFC 4880, 6.2; the checksum is not looked at,
 * since a damaged key fits no signature. Pinned by test/unit/chart/fetch_keyring_test.c. */
char *sw_keyring_unpack(const char *text, size_t len, size_t *out_len);
