/* Any text as a time of an object: what is read is the same time when it is written and read. */
#include <assert.h>

#include "base/base.h"
#include "data/text/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_AUTO_CHARS *text = sw_strndup((const char *)data, size);
    int64_t ms = 0, again = 0;
    SW_ERR(err);
    if (sw_time_parse(text, &ms, &err) < 0)
        return 0;
    const int64_t year_0 = -62167219200000, year_10000 = 253402300800000;
    char written[21];
    if (ms < year_0 || ms >= year_10000) /* by its offset */
        return 0;
    assert(sw_time_parse(sw_time_rfc3339(ms, written), &again, &err) == 0);
    assert(ms - again >= 0 && ms - again < 1000);
    return 0;
}
