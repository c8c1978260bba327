/* Hashes and times. */
#include "data/data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/sha.h>

static void hashes_bytes(void **state)
{
    (void)state;
    char hex[SW_SHA256_HEX];
    /* FIPS 180-2, appendix B.1 */
    assert_string_equal(sw_sha256_hex("abc", 3, hex),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/* Every way the last block can end, and both sides of the length from which on OpenSSL does it. */
static void hashes_every_length(void **state)
{
    (void)state;
    static unsigned char bytes[70000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + (i >> 8));
    for (size_t len = 0; len <= sizeof bytes; len += len < 300 ? 1 : 4099) {
        uint8_t got[SW_SHA256_LEN], want[SW_SHA256_LEN];
        sw_sha256(bytes, len, got);
        (void)SHA256(bytes, len, want);
        if (memcmp(got, want, sizeof got) != 0)
            fail_msg("%zu bytes", len);
    }
}

static void equal_documents_have_equal_hashes(void **state)
{
    (void)state;
    static const char one[] = "{\"a\":1,\"b\":[\"x\",null]}",
                      two[] = "{\"b\":[\"x\",null], \"a\":1}";
    SW_ERR(err);
    SW_AUTO_JSON *a = NULL, *b = NULL;
    char ha[SW_SHA256_HEX], hb[SW_SHA256_HEX];
    assert_int_equal(sw_json_parse(one, strlen(one), NULL, &a, &err), 0);
    assert_int_equal(sw_json_parse(two, strlen(two), NULL, &b, &err), 0);
    assert_string_equal(sw_json_sha256(a, ha), sw_json_sha256(b, hb));
    assert_string_equal(ha, sw_sha256_hex(one, strlen(one), hb));
    sw_json_set_str(b, "2", "a", NULL);
    assert_string_not_equal(ha, sw_json_sha256(b, hb));
}

static void reads_times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } rows[] = {
        { "1970-01-01T00:00:00Z", 0 },
        { "2026-01-02T03:04:05Z", 1767323045000 },
        { "2024-02-29T12:00:00.123456Z", 1709208000123 },
        { "2000-03-01T00:00:00+01:30", 951863400000 },
        { "1969-12-31T23:59:59.5Z", -500 },
        { "0000-01-01T00:00:00Z", -62167219200000 },
        { "9999-12-31T23:59:59Z", 253402300799000 },
        { "2016-12-31t23:59:60z", 1483228800000 },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        int64_t ms;
        if (sw_time_parse(rows[i].text, &ms, &err) < 0)
            fail_msg("%s", sw_err_text(&err));
        if (ms != rows[i].ms)
            fail_msg("%s: %lld", rows[i].text, (long long)ms);
    }
}

static void times_go_both_ways(void **state)
{
    (void)state;
    for (int64_t ms = -30000000000000; ms < 4000000000000; ms += 98765432000) {
        char buf[21];
        int64_t back;
        SW_ERR(err);
        assert_int_equal(sw_time_parse(sw_time_rfc3339(ms, buf), &back, &err), 0);
        assert_true(back == ms);
    }
}

static void refuses_what_is_no_time(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "2026-01-02",
        "2026-01-02T03:04:05",
        "2026-13-02T03:04:05Z",
        "2026-02-29T03:04:05Z",
        "2026-01-02 03:04:05Z",
        "2026-1-02T03:04:05Z",
        "2026-01-02T24:00:00Z",
        "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05Zx",
        "2026-01-02T03:04:05+1:00",
    };
    for (size_t i = 0; i < SW_COUNT(texts); i++) {
        SW_ERR(err);
        int64_t ms;
        if (sw_time_parse(texts[i], &ms, &err) != SW_INVALID)
            fail_msg("'%s' was accepted", texts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_bytes),
        cmocka_unit_test(hashes_every_length),
        cmocka_unit_test(equal_documents_have_equal_hashes),
        cmocka_unit_test(reads_times),
        cmocka_unit_test(times_go_both_ways),
        cmocka_unit_test(refuses_what_is_no_time),
    };
    return cmocka_run_group_tests_name("data_text", tests, NULL, NULL);
}
