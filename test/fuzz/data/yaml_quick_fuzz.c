/* What the quick reader takes is what libyaml takes, event by event, with places and texts; what it
 * does not take costs nothing but time. */
#include <stdlib.h>
#include <string.h>

#include "data/yaml/yaml_quick.h"
#include "data/yaml/yaml_source.h"

static bool is_same(const struct sw_yaml_event *a, const struct sw_yaml_event *b)
{
    if (a->type != b->type)
        return false;
    if (a->type == YAML_SCALAR_EVENT &&
        (a->len != b->len || memcmp(a->text, b->text, a->len) != 0 || a->text[a->len] != '\0' ||
         a->plain != b->plain || a->tag != b->tag))
        return false;
    bool is_placed = a->type == YAML_SCALAR_EVENT || a->type == YAML_MAPPING_START_EVENT ||
                     a->type == YAML_SEQUENCE_START_EVENT;
    return !is_placed ||
           (a->place.line == b->place.line && a->place.column == b->place.column && !b->anchor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_ERR(err);
    struct sw_yaml_event *events, slow;
    struct sw_yaml_source source;
    size_t n;
    char *bytes;
    if (!sw_yaml_quick((const char *)data, size, 1, &events, &n, &bytes))
        return 0;
    sw_yaml_source_init_slow(&source, (const char *)data, size, "fuzz", 1, &err);
    if (source.bytes || sw_yaml_source_next(&source, &slow) < 0)
        abort(); /* what has to be mended is not ordinary */
    for (size_t i = 0; i < n; i++)
        if (sw_yaml_source_next(&source, &slow) < 0 || !is_same(&events[i], &slow))
            abort();
    if (slow.type != YAML_STREAM_END_EVENT)
        abort();
    sw_yaml_source_done(&source);
    free(events);
    free(bytes);
    return 0;
}
