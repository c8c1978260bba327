#include "chart/fetch/index.h"

#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/semver.h"
#include "data/yaml/yaml.h"

enum { INDEX_MAX = 64 << 20, SHOWN = 5 };

int sw_index_parse(const char *name, const char *text, size_t len, struct json_object **out,
                   struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    struct sw_yaml_opts opts = { .file = name, .max_bytes = INDEX_MAX, .allow_duplicate = true };
    int rc = sw_yaml_parse(text, len, &opts, &doc, err);
    if (rc < 0)
        return rc;
    struct json_object *entries = sw_json_get(doc, "entries");
    if (!json_object_is_type(doc, json_type_object))
        return sw_err_set(err, SW_INVALID, "%s: not the index of a chart repository", name);
    if (!*sw_json_str(doc, "", "apiVersion", NULL))
        return sw_err_set(err, SW_INVALID, "%s: no apiVersion: not the index of a chart repository",
                          name);
    if (entries && !json_object_is_type(entries, json_type_object))
        return sw_err_set(err, SW_INVALID, "%s: entries: expected a map", name);
    *out = SW_TAKE(doc);
    return 0;
}

/* ---- versions ----------------------------------------------------------------------------------
 */

int sw_version_choose(const char *const *versions, size_t n, const char *want)
{
    want = sw_text_or(want, "*");
    for (size_t i = 0; i < n; i++)
        if (sw_streq(versions[i], want))
            return (int)i;
    SW_AUTO(sw_semver_range) *range = NULL;
    if (sw_semver_range_parse(want, strlen(want), &range, NULL) < 0)
        return -1;
    int best = -1;
    struct sw_semver v, best_version;
    for (size_t i = 0; i < n; i++)
        if (sw_semver_parse(versions[i], strlen(versions[i]), &v, NULL) == 0 &&
            sw_semver_range_has(range, &v) &&
            (best < 0 || sw_semver_compare(&v, &best_version) > 0)) {
            best = (int)i;
            best_version = v;
        }
    return best;
}

/* ---- entries -----------------------------------------------------------------------------------
 */

static int take_entry(struct json_object *entry, struct sw_index_entry *out, struct sw_err *err)
{
    struct json_object *url = sw_json_at(sw_json_get(entry, "urls"), 0);
    if (!json_object_is_type(url, json_type_string) || !json_object_get_string_len(url))
        return sw_err_set(err, SW_INVALID, "the index has no URL for it");
    struct json_object *digest = sw_json_get(entry, "digest");
    if (digest && !json_object_is_type(digest, json_type_string))
        return sw_err_set(err, SW_INVALID, "its digest is no text (put it in quotes)");
    *out = (struct sw_index_entry){
        .version = sw_json_str(entry, "", "version", NULL),
        .url = json_object_get_string(url),
        .digest = sw_json_str(entry, "", "digest", NULL),
    };
    return 0;
}

int sw_index_find(struct json_object *index, const char *name, const char *version,
                  struct sw_index_entry *out, struct sw_err *err)
{
    struct json_object *entries = sw_json_find(index, "entries", name, NULL);
    size_t n = json_object_is_type(entries, json_type_array) ? sw_json_len(entries) : 0;
    if (n == 0)
        return sw_err_set(err, SW_NOTFOUND, "there is no chart '%s'", name);
    const char **versions = sw_zalloc(n, sizeof *versions);
    for (size_t i = 0; i < n; i++)
        versions[i] = sw_json_str(sw_json_at(entries, i), "", "version", NULL);
    int at = sw_version_choose(versions, n, version), rc;
    if (at >= 0) {
        rc = take_entry(sw_json_at(entries, (size_t)at), out, err);
        if (rc < 0)
            sw_err_wrap(err, rc, "%s %s", name, versions[at]);
    } else {
        SW_AUTO_CHARS *known = NULL; /* "1.2.0, 1.1.0 and 7 more" */
        for (size_t i = 0; i < n && i < SHOWN; i++)
            sw_append(&known, "%s%s", i ? ", " : "", versions[i]);
        if (n > SHOWN)
            sw_append(&known, " and %zu more", n - SHOWN);
        rc = sw_err_set(err, SW_NOTFOUND, "there is no version '%s' of chart '%s' (there are %s)",
                        sw_text_or(version, "*"), name, known);
    }
    free(versions);
    return rc;
}
