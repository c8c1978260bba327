/* Keyrings as people have them: bytes, or ASCII armour. */
#include "chart/fetch/keyring.h"

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

#define BEGIN "-----BEGIN PGP PUBLIC KEY BLOCK-----\n"
#define END "-----END PGP PUBLIC KEY BLOCK-----\n"

static void unpacks(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *want; /* want NULL: broken */
    } rows[] = {
        { "bytes stay", "\x99\x01keys", "\x99\x01keys" },
        { "a block", BEGIN "\naGVsbG8=\n=njUN\n" END, "hello" },
        { "headers and other line ends",
          "-----BEGIN PGP PUBLIC KEY BLOCK-----\r\nVersion: x\r\nComment: y\r\n\r\naGVs\r\nbG8=\r\n"
          "=njUN\r\n-----END PGP PUBLIC KEY BLOCK-----\r\n",
          "hello" },
        { "two blocks, and words around them",
          "keys:\n" BEGIN "\naGVs\n=njUN\n" END "and\n" BEGIN "\nbG8=\n" END, "hello" },
        { "no end", BEGIN "\naGVsbG8=\n", NULL },
        { "nothing in it", BEGIN "\n" END, NULL },
        { "no base64", BEGIN "\na*b\n" END, NULL },
        { "only its beginning", BEGIN, NULL },
        { "nothing", "", "" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        size_t len = 99;
        SW_AUTO_CHARS *got = sw_keyring_unpack(rows[i].text, strlen(rows[i].text), &len);
        if (!got != !rows[i].want)
            fail_msg("%s", rows[i].name);
        if (got && (len != strlen(rows[i].want) || memcmp(got, rows[i].want, len) != 0))
            fail_msg("%s: %.*s", rows[i].name, (int)len, got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(unpacks) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
