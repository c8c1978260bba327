#include "operator/manifests/module_versions.h"

#include <json-c/json.h>
#include <string.h>

#include "data/data.h"
#include "data/text/semver.h"

enum { MAX_ENTRIES = 64, MAX_ENTRY_LEN = 1024 }; /* a version, or an image */

/* "$.a.b" and "{.a.b}" are ".a.b". */
static int find_values(const char *path, struct json_object *doc, struct sw_json_list *out,
                       struct sw_err *err)
{
    SW_AUTO(sw_jsonpath) *compiled = NULL;
    int rc = sw_jsonpath_compile(*path == '$' ? path + 1 : path, &compiled, err);
    return rc < 0 ? rc : sw_jsonpath_find(compiled, doc, out, err);
}

/* Does the object satisfy spec.watch[].selector? */
static int selects(struct json_object *watch, struct json_object *object, bool *out,
                   struct sw_err *err)
{
    struct json_object *selector = sw_json_get(watch, "selector");
    *out = true;
    for (size_t i = 0; i < sw_json_len(selector); i++) {
        struct json_object *s = sw_json_at(selector, i);
        struct sw_json_list found = { 0 };
        int rc = find_values(sw_json_str(s, "", "path", NULL), object, &found, err);
        if (rc < 0)
            return rc;
        bool has = false;
        for (size_t k = 0; k < found.n_values; k++)
            has |= sw_streq(json_object_get_string(found.values[k]),
                            sw_json_str(s, "", "value", NULL));
        sw_json_list_done(&found);
        *out &= has != sw_json_bool(s, false, "exclude", NULL);
    }
    return 0;
}

static void add_entry(struct json_object *entries, const char *entry)
{
    if (*entry && strlen(entry) <= MAX_ENTRY_LEN && !sw_json_has_text(entries, entry) &&
        sw_json_len(entries) < MAX_ENTRIES)
        (void)json_object_array_add(entries, json_object_new_string(entry));
}

int sw_module_collect(struct json_object *watch, struct json_object *object,
                      struct json_object *entries, struct sw_err *err)
{
    struct sw_json_list found = { 0 };
    bool selected;
    int rc = selects(watch, object, &selected, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "spec.watch: selector");
    if (!selected)
        return 0;
    rc = find_values(sw_json_str(watch, "", "path", NULL), object, &found, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "spec.watch: path");
    for (size_t i = 0; i < found.n_values; i++)
        add_entry(entries, sw_json_str(found.values[i], "", NULL));
    sw_json_list_done(&found);
    return 0;
}

void sw_module_add(struct json_object *entries, struct json_object *more)
{
    for (size_t i = 0; i < sw_json_len(more); i++)
        add_entry(entries, sw_json_str(sw_json_at(more, i), "", NULL));
}

bool sw_module_is_version(const char *entry)
{
    struct sw_semver v;
    return *entry >= '0' && *entry <= '9' && sw_semver_parse(entry, strlen(entry), &v, NULL) == 0;
}
