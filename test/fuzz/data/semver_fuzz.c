/* A version and a constraint, two lines: what is read is read again, and compares as itself. */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "data/text/semver.h"

static void check_version(const struct sw_semver *v)
{
    struct sw_semver again;
    SW_ERR(err);
    SW_AUTO_CHARS *text = sw_semver_text(v);
    assert(sw_semver_parse(text, strlen(text), &again, &err) == 0);
    assert(sw_semver_compare(v, &again) == 0 && sw_semver_compare(&again, v) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *line = size ? memchr(data, '\n', size) : NULL;
    const size_t n = line ? (size_t)(line - text) : size;
    struct sw_semver version, zero = { 0 };
    SW_AUTO(sw_semver_range) *range = NULL;
    SW_ERR(err);
    const bool is_version = sw_semver_parse(text, n, &version, &err) == 0;
    if (is_version)
        check_version(&version);
    if (line && sw_semver_range_parse(line + 1, size - n - 1, &range, &err) == 0)
        (void)sw_semver_range_has(range, is_version ? &version : &zero);
    return 0;
}
