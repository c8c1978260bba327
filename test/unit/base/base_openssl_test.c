/* OpenSSL is loaded at first use, and not by a program that needs none of it. */
#define SW_OPENSSL_PLAIN
#include "base/openssl.h"

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

static void every_function_is_there(void **state)
{
    (void)state;
    const struct sw_libcrypto *crypto = sw_libcrypto();
    const struct sw_libssl *ssl = sw_libssl();
#define IS_THERE(name) assert_non_null(crypto->name##_);
    SW_LIBCRYPTO_FUNCTIONS(IS_THERE)
#undef IS_THERE
#define IS_THERE(name) assert_non_null(ssl->name##_);
    SW_LIBSSL_FUNCTIONS(IS_THERE)
#undef IS_THERE
    assert_ptr_equal(sw_libcrypto(), crypto);
}

static bool is_in(const char *text, size_t len, const char *word)
{
    return memmem(text, len, word, strlen(word));
}

/* As the dynamic loader lists them. */
static void rendering_loads_none(void **state)
{
    (void)state;
    const char *slipway = SW_SOURCE_DIR "/build/slipway";
    SW_AUTO_CHARS *command = sw_printf("LD_TRACE_LOADED_OBJECTS=1 %s", slipway);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    static char text[16384];
    size_t len = fread(text, 1, sizeof text, f);
    (void)pclose(f);
    assert_true(is_in(text, len, "libc.so"));
    assert_false(is_in(text, len, "libcrypto.so"));
    assert_false(is_in(text, len, "libssl.so"));
    assert_false(is_in(text, len, "libcurl.so"));
    assert_false(is_in(text, len, "libgit2.so"));
    assert_false(is_in(text, len, "libarchive.so"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_there),
        cmocka_unit_test(rendering_loads_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
