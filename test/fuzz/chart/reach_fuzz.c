/* Ranges of addresses, the list of what may be reached, and places that are asked for. */
#include <assert.h>
#include <string.h>

#include "chart/fetch/reach/reach.h"

static void check_range(const char *text)
{
    struct sw_range range, again;
    if (!sw_range_parse(text, &range))
        return;
    SW_AUTO_CHARS *written = sw_range_text(&range);
    assert(range.n_bits <= 128 && sw_range_parse(written, &again));
    assert(again.n_bits == range.n_bits && sw_range_has(&again, &range.base));
}

/* No form of a name is loopback's, whatever the list says, unless the list allows something. */
static void check_list(const char *list, const char *place)
{
    SW_AUTO(sw_reach) *reach = NULL;
    SW_ERR(err);
    if (sw_reach_new(list, &reach, &err) < 0)
        return;
    SW_AUTO_CHARS *written = sw_reach_place(place);
    (void)sw_reach_has_host(reach, written, 443);
    if (list[strcspn(list, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ*:")] ==
        '\0')
        assert(!sw_reach_has_address(reach, &in6addr_loopback, 443));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_AUTO_CHARS *text = sw_strndup((const char *)data, size);
    char *line = strchr(text, '\n');
    if (line)
        *line++ = '\0';
    check_range(text);
    check_list(text, line ? line : "");
    return 0;
}
