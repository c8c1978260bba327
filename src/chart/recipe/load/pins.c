#include "chart/recipe/load/pins.h"

#include <stdlib.h>
#include <string.h>

#include "chart/recipe/load/chart.h"
#include "chart/recipe/load/lock.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/semver.h"
#include "data/yaml/yaml.h"

/* ---- what was taken ----------------------------------------------------------------------------
 */

static bool is_exact(const char *version)
{
    struct sw_semver v;
    return sw_semver_parse(version, strlen(version), &v, NULL) == 0;
}

/* The version of @sub for @dep, borrowed; NULL: it stands for a range of them. */
static const char *version_of(const struct sw_chart *sub, const struct sw_dependency *dep)
{
    return !sub->any_version ? sub->version : is_exact(dep->version) ? dep->version : NULL;
}

static size_t index_of(const struct sw_recipe *recipe, const struct sw_chart *chart)
{
    size_t i = 0;
    while (i < recipe->n_charts && recipe->charts[i] != chart)
        i++;
    return i;
}

/* What the lock of @chart says of its dependency @i. */
static void add_locked_of(const struct sw_recipe *recipe, const struct sw_chart *chart,
                          const struct sw_lock *lock, size_t i, struct sw_pin *pin)
{
    const struct sw_dependency *dep = &chart->deps[i];
    const char *version = sw_lock_entry(lock, chart, i),
               *digest = sw_lock_digest(lock, dep, *version ? version : dep->version),
               *known = pin->version ? sw_lock_digest(lock, dep, pin->version) : NULL;
    pin->is_stale = lock->is_stale || !digest;
    pin->locked = sw_arena_strdup(recipe->arena, version);
    pin->locked_digest = sw_arena_strdup(recipe->arena, digest ? digest : "");
    pin->known_digest = sw_arena_strdup(recipe->arena, known ? known : "");
}

struct sw_pin *sw_recipe_pins(const struct sw_recipe *recipe, size_t *n)
{
    struct sw_pin *pins = NULL;
    size_t cap = 0;
    *n = 0;
    for (size_t i = 0; i < recipe->n_charts; i++) {
        const struct sw_chart *chart = recipe->charts[i];
        struct sw_lock lock = { 0 };
        SW_ERR(err); /* a lock that cannot be read locks none */
        if (chart->n_deps && sw_lock_read(&lock, chart, true, &err) < 0)
            sw_lock_done(&lock);
        for (size_t k = 0; k < chart->n_deps; k++) {
            const struct sw_dependency *dep = &chart->deps[k];
            const struct sw_chart *sub = sw_chart_of_dependency(chart, dep);
            bool is_here = chart == recipe->root || chart->dir;
            if (!is_here || !sub || !sub->base)
                continue;
            SW_GROW(pins, *n, cap);
            pins[(*n)++] = (struct sw_pin){
                .in = chart->origin,
                .name = dep->name,
                .key = *dep->alias ? dep->alias : dep->name,
                .repository = dep->repository,
                .asked = sw_json_str(dep->doc, "", "version", NULL),
                .version = version_of(sub, dep),
                .digest = sub->digest ? sub->digest : "",
                .app = sw_json_str(sub->meta, "", "appVersion", NULL),
                .chart = index_of(recipe, sub),
                .is_own = chart == recipe->root,
                .stands_for = sub->any_version,
            };
            add_locked_of(recipe, chart, &lock, k, &pins[*n - 1]);
        }
        sw_lock_done(&lock);
    }
    return pins;
}

/* ---- the files ---------------------------------------------------------------------------------
 */

static int add_locked(const struct sw_chart *chart, size_t i, struct json_object *deps,
                      struct sw_err *err)
{
    const struct sw_dependency *dep = &chart->deps[i];
    const struct sw_chart *sub = sw_chart_of_dependency(chart, dep);
    const char *version = sub ? version_of(sub, dep) : NULL;
    if (!version)
        return sw_err_set(
            err, SW_INVALID,
            "%s/Chart.yaml: dependencies[%zu] '%s': %s is at hand for '%s', a range of "
            "versions; name one",
            chart->origin, i, dep->name, sub ? sub->origin : "nothing", dep->version);
    struct json_object *entry = json_object_new_object();
    sw_json_set_str(entry, dep->name, "name", NULL);
    sw_json_set_str(entry, dep->repository, "repository", NULL);
    sw_json_set_str(entry, version, "version", NULL);
    (void)json_object_array_add(deps, entry);
    return 0;
}

int sw_recipe_lock_text(const struct sw_recipe *recipe, int64_t now_s, char **out,
                        struct sw_err *err)
{
    const struct sw_chart *root = recipe->root;
    SW_AUTO_JSON *lock = json_object_new_object();
    struct json_object *deps = sw_json_need_list(lock, "dependencies", NULL);
    for (size_t i = 0; i < root->n_deps; i++) {
        int rc = add_locked(root, i, deps, err);
        if (rc < 0)
            return rc;
    }
    char now[21];
    SW_AUTO_CHARS *digest = sw_lock_digest_of(sw_json_get(root->meta, "dependencies"), deps);
    sw_json_set_str(lock, digest, "digest", NULL);
    sw_json_set_str(lock, sw_time_rfc3339(now_s * 1000, now), "generated", NULL);
    *out = sw_yaml_text(lock, NULL);
    return 0;
}

char *sw_recipe_digests_text(const struct sw_recipe *recipe)
{
    size_t n;
    struct sw_pin *pins = sw_recipe_pins(recipe, &n);
    SW_AUTO_JSON *doc = json_object_new_object();
    struct json_object *charts = sw_json_need_list(doc, "charts", NULL);
    for (size_t i = 0; i < n; i++) {
        const char *digest = *pins[i].digest ? pins[i].digest : pins[i].known_digest;
        if (!pins[i].is_own || !*digest)
            continue;
        struct json_object *entry = json_object_new_object();
        sw_json_set_str(entry, pins[i].name, "name", NULL);
        sw_json_set_str(entry, pins[i].version, "version", NULL);
        sw_json_set_str(entry, pins[i].repository, "repository", NULL);
        sw_json_set_str(entry, digest, "digest", NULL);
        (void)json_object_array_add(charts, entry);
    }
    free(pins);
    if (!sw_json_len(charts))
        return NULL;
    SW_AUTO_CHARS *text = sw_yaml_text(doc, NULL);
    return sw_printf(
        "# Made by slipway vendor: the digests of the archives that Chart.lock names.\n%s", text);
}

/* ---- Chart.yaml --------------------------------------------------------------------------------
 */

/* Replace @old, the value of @key in line @line of @*text, if it is written there. */
static void replace(char **text, int line, const char *key, const char *old, const char *new)
{
    char *at = *text;
    for (int i = 1; i < line && at; i++)
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    char *end = at ? at + strcspn(at, "\n") : NULL;
    char *found = at ? strstr(at, key) : NULL;
    if (!found || found > end)
        return;
    found += strlen(key);
    found += strspn(found, "\"': \t");
    if (strncmp(found, old, strlen(old)) != 0)
        return;
    char *longer = sw_printf("%.*s%s%s", (int)(found - *text), *text, new, found + strlen(old));
    free(*text);
    *text = longer;
}

/* Set @field of the document at @at, and in the text. */
static void set(char **text, struct json_object *at, const char *path, const char *field,
                const char *value)
{
    SW_AUTO_CHARS *old = sw_strdup(sw_json_str(at, "", field, NULL));
    int line = sw_yaml_line(*text, strlen(*text), 0, path);
    sw_json_set_str(at, value, field, NULL);
    if (*old)
        replace(text, line, field, old, value);
}

int sw_chart_text_pinned(const char *file, const char *text, const char *name, const char *version,
                         const char *app, char **out, struct sw_err *err)
{
    const struct sw_yaml_opts opts = { .file = file, .allow_duplicate = true };
    SW_AUTO_CHARS *changed = sw_strdup(text);
    SW_AUTO_JSON *want = NULL;
    SW_AUTO_JSON *got = NULL;
    int rc = sw_yaml_parse(text, strlen(text), &opts, &want, err);
    if (rc < 0)
        return rc;
    struct json_object *deps = sw_json_get(want, "dependencies");
    if (!sw_json_find_by(deps, "name", name))
        return sw_err_set(err, SW_INVALID, "%s: no dependency is called '%s'", file, name);
    for (size_t i = 0; i < sw_json_len(deps); i++) {
        SW_AUTO_CHARS *path = sw_printf("dependencies[%zu].version", i);
        struct json_object *dep = sw_json_at(deps, i);
        if (sw_streq(sw_json_str(dep, "", "name", NULL), name))
            set(&changed, dep, path, "version", version);
    }
    if (app)
        set(&changed, want, "appVersion", "appVersion", app);
    if (sw_yaml_parse(changed, strlen(changed), &opts, &got, err) < 0 || !sw_json_equal(want, got))
        return sw_err_set(
            err, SW_INVALID,
            "%s: '%s' is written in a way that cannot be changed here: set its version "
            "to %s by hand, then slipway vendor lock",
            file, name, version);
    *out = SW_TAKE(changed);
    return 0;
}
