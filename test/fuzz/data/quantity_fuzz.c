/* Any bytes as a quantity: the canonical text of what is accepted is the same quantity. */
#include <stdlib.h>
#include <string.h>

#include "data/text/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_AUTO_CHARS *text = sw_strndup((const char *)data, size);
    SW_ERR(err);
    struct sw_quantity q, again;
    char buf[64], twice[64];
    if (sw_quantity_parse(text, &q, &err) < 0)
        return 0;
    (void)sw_quantity_text(&q, buf);
    if (sw_quantity_parse(buf, &again, &err) < 0 || sw_quantity_cmp(&q, &again) != 0 ||
        strcmp(buf, sw_quantity_text(&again, twice)) != 0)
        abort();
    (void)sw_quantity_value(&q);
    (void)sw_quantity_milli(&q);
    return 0;
}
