/* Any bytes as a span of time: what is accepted is in bounds, and its text is the same span. */
#include <stdlib.h>

#include "data/text/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_AUTO_CHARS *text = sw_strndup((const char *)data, size);
    SW_ERR(err);
    int64_t ms, again;
    if (sw_span_parse(text, &ms, &err) < 0)
        return 0;
    SW_AUTO_CHARS *shown = sw_span_text(ms);
    if (ms < 0 || sw_span_parse(shown, &again, &err) < 0 || again != ms)
        abort();
    return 0;
}
