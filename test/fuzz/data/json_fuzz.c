/* Any bytes as JSON: they are read or refused; what was read is what json-c reads, and is written
 * and reads back equal. */
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"

/* json-c takes integers beyond 64 bits for the largest there is. */
static bool has_large_number(const char *text)
{
    for (size_t n; *text; text += n ? n : 1) {
        n = strspn(text, "0123456789");
        if (n > 18)
            return true;
    }
    return false;
}

static void compare(const char *bytes, size_t len, struct json_object *doc)
{
    SW_AUTO_CHARS *text = sw_strndup(bytes, len);
    struct json_tokener *tok = json_tokener_new_ex(600);
    json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    SW_AUTO_JSON *want = json_tokener_parse_ex(tok, text, (int)len + 1);
    if (json_tokener_get_error(tok) != json_tokener_success)
        abort();
    if (!has_large_number(text) && !sw_json_equal(doc, want))
        abort();
    json_tokener_free(tok);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned styles[] = { SW_JSON_PLAIN, SW_JSON_SORTED | SW_JSON_HTML,
                                       SW_JSON_PRETTY };
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    const struct sw_json_opts opts = { .file = "fuzz", .refuse_duplicate = size % 2 };
    if (sw_json_parse((const char *)data, size, &opts, &doc, &err) < 0)
        return 0;
    compare((const char *)data, size, doc);
    for (size_t i = 0; i < SW_COUNT(styles); i++) {
        size_t len;
        SW_AUTO_CHARS *text = sw_json_text(doc, styles[i], &len);
        SW_AUTO_JSON *again = NULL;
        if (strlen(text) != len || sw_json_parse(text, len, NULL, &again, &err) < 0 ||
            !sw_json_equal(doc, again))
            abort();
    }
    return 0;
}
