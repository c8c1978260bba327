/* spec.debug: values and manifests of a resource in the log. What looks like a secret is left out.
 */
#include "operator/controller/debug/debug.h"
#include "data/json/redact.h"
#include "operator/controller/core.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_secret_key(const char *key)
{
    static const char *const names[] = { "password",   "passwd", "token",   "secret",
                                         "credential", "apikey", "api_key", "private" };
    for (size_t i = 0; i < SW_COUNT(names); i++)
        if (strcasestr(key, names[i]))
            return true;
    return false;
}

/* Replace strings under keys that name secrets, at any depth. */
static void redact(struct json_object *doc)
{
    if (json_object_is_type(doc, json_type_array))
        for (size_t i = 0; i < sw_json_len(doc); i++)
            redact(sw_json_at(doc, i));
    if (!json_object_is_type(doc, json_type_object))
        return;
    json_object_object_foreach(doc, key, value)
    {
        if (is_secret_key(key) && json_object_is_type(value, json_type_string))
            (void)json_object_set_string(value, "(left out)");
        else if (json_object_is_type(value, json_type_string))
            sw_redact_urls(value);
        else
            redact(value);
    }
}

struct json_object *debug_redacted(struct json_object *doc)
{
    struct json_object *copy = sw_json_copy(doc);
    if (sw_streq(sw_obj_kind(copy), "Secret")) {
        (void)sw_json_del(copy, "data", NULL);
        (void)sw_json_del(copy, "stringData", NULL);
    }
    redact(copy);
    return copy;
}

static void log_document(struct resource *r, const char *what, const char *state,
                         struct json_object *doc)
{
    if (!sw_json_bool(r->doc, false, "spec", "debug", NULL))
        return;
    SW_AUTO_JSON *shown = debug_redacted(doc);
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(shown, SW_JSON_SORTED, &len);
    sw_log(SW_LOG_INFO, what, "resource", r->name, "state", state, "document", text, NULL);
}

const struct capability capability_debug = {
    .name = "debug",
    .summary = "spec.debug: values and manifests in the log",
    .document_made = log_document,
};
