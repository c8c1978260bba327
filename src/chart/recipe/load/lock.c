#include "chart/recipe/load/lock.h"

#include <stdlib.h>
#include <string.h>

#include "chart/recipe/load/pins.h"
#include "data/json/hash.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/yaml/yaml.h"

/* ---- the digest --------------------------------------------------------------------------------
 */

/* The fields of a dependency as Go writes them, in this order; empty ones are left out, save for
 * two. */
static const struct {
    const char *name;
    bool always;
} fields[] = {
    { "name", true },  { "version", false }, { "repository", true },     { "condition", false },
    { "tags", false }, { "enabled", false }, { "import-values", false }, { "alias", false },
};

static bool is_empty(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_string:
        return json_object_get_string_len(value) == 0;
    case json_type_boolean:
        return !json_object_get_boolean(value);
    case json_type_array:
        return json_object_array_length(value) == 0;
    default:
        return !value;
    }
}

/* Maps inside (import-values) have their keys sorted, the dependency itself has not. */
static struct json_object *sorted(struct json_object *value)
{
    struct json_object *out = NULL;
    SW_AUTO_CHARS *text = sw_json_text(value, SW_JSON_SORTED, NULL);
    SW_ERR(err);
    return sw_json_parse(text, strlen(text), NULL, &out, &err) < 0 ? NULL : out;
}

static struct json_object *list_as_go(struct json_object *deps)
{
    struct json_object *out = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(deps); i++) {
        struct json_object *dep = json_object_new_object();
        for (size_t f = 0; f < SW_COUNT(fields); f++) {
            struct json_object *value = sw_json_get(sw_json_at(deps, i), fields[f].name);
            if (!is_empty(value))
                (void)json_object_object_add(dep, fields[f].name, sorted(value));
            else if (fields[f].always)
                (void)json_object_object_add(dep, fields[f].name, json_object_new_string(""));
        }
        (void)json_object_array_add(out, dep);
    }
    return out;
}

static char *digest_of(struct json_object *doc)
{
    char hex[SW_SHA256_HEX];
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_HTML, &len);
    return sw_printf("sha256:%s", sw_sha256_hex(text, len, hex));
}

char *sw_lock_digest_of(struct json_object *asked, struct json_object *locked)
{
    SW_AUTO_JSON *both = json_object_new_array();
    (void)json_object_array_add(both, list_as_go(asked));
    (void)json_object_array_add(both, list_as_go(locked));
    return digest_of(both);
}

/* Helm 3 hashes both lists, that of Chart.yaml and that of the lock. Helm 2 hashed the former. */
static bool is_in_sync(const struct sw_chart *chart, struct json_object *lock)
{
    const char *digest = sw_json_str(lock, "", "digest", NULL);
    struct json_object *asked = sw_json_get(chart->meta, "dependencies");
    SW_AUTO_CHARS *now = sw_lock_digest_of(asked, sw_json_get(lock, "dependencies"));
    if (sw_streq(now, digest))
        return true;
    if (!sw_streq(sw_json_str(chart->meta, "", "apiVersion", NULL), "v1"))
        return false;
    SW_AUTO_JSON *old = json_object_new_object();
    (void)json_object_object_add(old, "dependencies", list_as_go(asked));
    SW_AUTO_CHARS *helm2 = digest_of(old);
    return sw_streq(helm2, digest);
}

/* ---- the file ----------------------------------------------------------------------------------
 */

/* Read @file, which has its entries, each with a name, in a list at @key. */
static int read_list(const struct sw_chart *chart, const struct sw_recipe_file *file,
                     const char *key, struct json_object **out, struct sw_err *err)
{
    SW_AUTO_CHARS *name = sw_printf("%s/%s", chart->origin, file->name);
    SW_AUTO_JSON *doc = NULL;
    int rc = sw_yaml_parse(file->bytes, file->len,
                           &(struct sw_yaml_opts){ .file = name, .allow_duplicate = true }, &doc,
                           err);
    if (rc < 0)
        return rc;
    struct json_object *list = sw_json_get(doc, key);
    if (!json_object_is_type(doc, json_type_object))
        return sw_err_set(err, SW_INVALID, "%s: expected a map", name);
    if (list && !json_object_is_type(list, json_type_array))
        return sw_err_set(err, SW_INVALID, "%s: %s: expected a list", name, key);
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (!*sw_json_str(sw_json_at(list, i), "", "name", NULL))
            return sw_err_set(err, SW_INVALID, "%s: %s[%zu]: expected a map with a name", name, key,
                              i);
    *out = SW_TAKE(doc);
    return 0;
}

int sw_lock_read(struct sw_lock *lock, const struct sw_chart *chart, bool allow_stale,
                 struct sw_err *err)
{
    bool v1 = sw_streq(sw_json_str(chart->meta, "", "apiVersion", NULL), "v1");
    const struct sw_recipe_file *digests = sw_files_find(chart->in, chart->n_in, SW_DIGESTS_FILE),
                                *file = sw_files_find(chart->in, chart->n_in, "Chart.lock");
    if (!file && v1)
        file = sw_files_find(chart->in, chart->n_in, "requirements.lock");
    lock->is_read = true;
    int rc = file ? read_list(chart, file, "dependencies", &lock->doc, err) : 0;
    lock->is_stale = rc == 0 && file && !is_in_sync(chart, lock->doc);
    if (lock->is_stale && !allow_stale)
        rc = sw_err_set(err, SW_INVALID,
                        "%s/%s: its digest is of other dependencies than Chart.yaml has: make it "
                        "again (slipway vendor lock, or helm dependency update)",
                        chart->origin, file->name);
    if (rc == 0 && digests)
        rc = read_list(chart, digests, "charts", &lock->digests, err);
    return rc;
}

void sw_lock_done(struct sw_lock *lock)
{
    (void)json_object_put(lock->doc);
    (void)json_object_put(lock->digests);
    *lock = (struct sw_lock){ 0 };
}

static struct json_object *find_entry(const struct sw_lock *lock, const struct sw_chart *chart,
                                      size_t i)
{
    const char *name = chart->deps[i].name;
    struct json_object *deps = sw_json_get(lock->doc, "dependencies"),
                       *same = sw_json_at(deps, i); /* one name may be there twice */
    return sw_streq(sw_json_str(same, "", "name", NULL), name)
               ? same
               : sw_json_find_by(deps, "name", name);
}

const char *sw_lock_entry(const struct sw_lock *lock, const struct sw_chart *chart, size_t i)
{
    return sw_json_str(find_entry(lock, chart, i), "", "version", NULL);
}

const char *sw_lock_version(const struct sw_lock *lock, const struct sw_chart *chart, size_t i)
{
    const struct sw_dependency *dep = &chart->deps[i];
    struct json_object *entry = find_entry(lock, chart, i);
    const char *version = sw_json_str(entry, dep->version, "version", NULL);
    bool counts = !lock->is_stale ||
                  (sw_streq(sw_json_str(entry, "", "repository", NULL), dep->repository) &&
                   (!*dep->version || sw_version_in_range(dep->version, version)));
    return counts ? version : dep->version;
}

const char *sw_lock_digest(const struct sw_lock *lock, const struct sw_dependency *dep,
                           const char *version)
{
    struct json_object *charts = sw_json_get(lock->digests, "charts");
    const char *digest = "";
    for (size_t i = 0; i < sw_json_len(charts); i++) {
        struct json_object *one = sw_json_at(charts, i);
        if (!sw_streq(sw_json_str(one, "", "name", NULL), dep->name) ||
            !sw_streq(sw_json_str(one, "", "repository", NULL), dep->repository))
            continue;
        if (sw_streq(sw_json_str(one, "", "version", NULL), version))
            return sw_json_str(one, "", "digest", NULL);
        digest = NULL;
    }
    return digest;
}
