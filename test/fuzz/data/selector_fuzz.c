/* Any bytes as a label selector and a field selector: what is accepted prints as the same one. */
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/selector/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_AUTO_CHARS *text = sw_strndup((const char *)data, size);
    SW_ERR(err);
    SW_AUTO_JSON *labels = json_object_new_object();
    (void)json_object_object_add(labels, "a", json_object_new_string("1"));
    struct sw_selector s = { 0 }, again = { 0 };
    if (sw_selector_parse(text, &s, &err) == 0) {
        SW_AUTO_CHARS *printed = sw_selector_text(&s);
        if (sw_selector_parse(printed, &again, &err) < 0 ||
            sw_selector_matches(&s, labels) != sw_selector_matches(&again, labels))
            abort();
        SW_AUTO_CHARS *twice = sw_selector_text(&again);
        if (strcmp(printed, twice) != 0)
            abort();
        sw_selector_done(&again);
        sw_selector_done(&s);
    }
    if (sw_field_selector_parse(text, &s, &err) == 0) {
        (void)sw_field_selector_matches(&s, labels);
        sw_selector_done(&s);
    }
    return 0;
}
