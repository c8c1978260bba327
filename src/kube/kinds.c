/* kinds: the kinds that the server serves. Rows are never removed, so that pointers to them stay
 * valid: those that are not served any more are marked. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/json/table.h"
#include "data/text/nearest.h"
#include "kube/internal.h"

#define CORE(name, names)                                                                          \
    .version = "v1", .api_version = "v1", .group = "", .kind = name, .plural = names
const struct sw_kind sw_kind_pod = { CORE("Pod", "pods"), .namespaced = true };
const struct sw_kind sw_kind_node = { CORE("Node", "nodes") };
const struct sw_kind sw_kind_event = { CORE("Event", "events"), .namespaced = true };
#undef CORE

/** A group version. */
struct version_row {
    const char *api_version;
    bool served;
    bool known;    /* its kinds were discovered once */
    bool doubtful; /* the last discovery request for them had no answer */
};

struct sw_kube_kinds {
    struct sw_arena *arena; /* rows and their texts */
    struct version_row *versions;
    size_t n_versions, cap_versions;
    struct sw_kind **rows; /* in the order of discovery */
    size_t n_rows, cap_rows;
    struct lh_table *by_name;      /* "apps/v1/Deployment" -> struct sw_kind */
    bool core_known, groups_known; /* which versions there are, of core and of all groups */
};

struct sw_kube_kinds *kube_kinds_new(void)
{
    struct sw_kube_kinds *kinds = sw_zalloc(1, sizeof *kinds);
    kinds->arena = sw_arena_new();
    kinds->by_name = lh_kchar_table_new(64, NULL);
    return kinds;
}

void kube_kinds_free(struct sw_kube_kinds *kinds)
{
    if (!kinds)
        return;
    lh_table_free(kinds->by_name);
    free(kinds->versions);
    free(kinds->rows);
    sw_arena_free(kinds->arena);
    free(kinds);
}

/* ---- group versions -----------------------------------------------------------------------------
 */

static const char *group_end(const char *api_version)
{
    const char *slash = strchr(api_version, '/');
    return slash ? slash : api_version; /* core has no group */
}

static bool in_group(const char *api_version, const char *group)
{
    size_t len = (size_t)(group_end(api_version) - api_version);
    return strlen(group) == len && strncmp(api_version, group, len) == 0;
}

static struct version_row *find_version(const struct sw_kube_kinds *kinds, const char *api_version)
{
    for (size_t i = 0; i < kinds->n_versions; i++)
        if (sw_streq(kinds->versions[i].api_version, api_version))
            return &kinds->versions[i];
    return NULL;
}

static void mark_version(struct sw_kube_kinds *kinds, const char *api_version, bool served)
{
    if (!api_version || !api_version[0])
        return; /* a list with something else in it */
    struct version_row *row = find_version(kinds, api_version);
    if (row)
        row->served = served;
    if (row || !served)
        return;
    SW_GROW(kinds->versions, kinds->n_versions, kinds->cap_versions);
    kinds->versions[kinds->n_versions++] = (struct version_row){
        .api_version = sw_arena_strdup(kinds->arena, api_version), .served = true
    };
}

/** Mark all kinds of a version as not served; learning marks the served ones again. */
static void unserve(struct sw_kube_kinds *kinds, const char *api_version)
{
    for (size_t i = 0; i < kinds->n_rows; i++)
        if (sw_streq(kinds->rows[i]->api_version, api_version))
            kinds->rows[i]->served = false;
}

void kube_kinds_set_answered(struct sw_kube_kinds *kinds, const char *api_version, bool answered)
{
    struct version_row *row = find_version(kinds, api_version);
    if (!row)
        return;
    row->known |= answered;
    row->doubtful = !answered;
}

uint64_t kube_kinds_signature(const struct sw_kube_kinds *kinds)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < kinds->n_versions; i++)
        if (kinds->versions[i].served)
            sum += (uint64_t)(uintptr_t)kinds->versions[i].api_version * 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < kinds->n_rows; i++) {
        const struct sw_kind *row = kinds->rows[i];
        uint64_t is = (uint64_t)(uintptr_t)row * 3 + (uint64_t)(uintptr_t)row->plural * 5 +
                      row->verbs * 4u + row->namespaced * 2u + row->has_status;
        if (row->served)
            sum += is * 0xbf58476d1ce4e5b9u;
    }
    return sum;
}

static void unserve_missing(struct sw_kube_kinds *kinds)
{
    for (size_t i = 0; i < kinds->n_versions; i++)
        if (!kinds->versions[i].served)
            unserve(kinds, kinds->versions[i].api_version);
}

const char *kube_kinds_version_at(const struct sw_kube_kinds *kinds, size_t at)
{
    for (size_t i = 0; i < kinds->n_versions; i++)
        if (kinds->versions[i].served && at-- == 0)
            return kinds->versions[i].api_version;
    return NULL;
}

/* ---- kinds --------------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    enum sw_kind_verb verb;
} verb_names[] = {
    { "get", SW_CAN_GET },       { "list", SW_CAN_LIST },
    { "watch", SW_CAN_WATCH },   { "create", SW_CAN_CREATE },
    { "update", SW_CAN_UPDATE }, { "patch", SW_CAN_PATCH },
    { "delete", SW_CAN_DELETE }, { "deletecollection", SW_CAN_DELETECOLLECTION },
};

/** The row of a kind, a new one if there is none. */
static struct sw_kind *kind_row(struct sw_kube_kinds *kinds, const char *api_version,
                                const char *kind)
{
    SW_AUTO_CHARS *name = sw_printf("%s/%s", api_version, kind);
    struct sw_kind *row = sw_table_find(kinds->by_name, name);
    if (row)
        return row;
    row = sw_arena_alloc(kinds->arena, sizeof *row);
    const char *end = group_end(api_version);
    row->group = sw_arena_strndup(kinds->arena, api_version, (size_t)(end - api_version));
    row->version = sw_arena_strdup(kinds->arena, *end == '/' ? end + 1 : end);
    row->api_version = sw_arena_strdup(kinds->arena, api_version);
    row->kind = sw_arena_strdup(kinds->arena, kind);
    (void)lh_table_insert(kinds->by_name, sw_arena_strdup(kinds->arena, name), row);
    SW_GROW(kinds->rows, kinds->n_rows, kinds->cap_rows);
    return kinds->rows[kinds->n_rows++] = row;
}

/** A resource, in either form of discovery. */
struct resource {
    const char *kind, *plural;
    bool namespaced, has_status;
    struct json_object *verbs;
};

static void learn_resource(struct sw_kube_kinds *kinds, const char *api_version,
                           const struct resource *r)
{
    if (!r->kind[0] || !r->plural[0])
        return;
    struct sw_kind *row = kind_row(kinds, api_version, r->kind);
    if (row->served)
        return; /* two resources of one kind: the first one is the kind's */
    if (!sw_streq(row->plural, r->plural))
        row->plural = sw_arena_strdup(kinds->arena, r->plural);
    row->namespaced = r->namespaced;
    row->has_status = r->has_status;
    row->verbs = 0;
    for (size_t i = 0; i < sw_json_len(r->verbs); i++) {
        const char *name = json_object_get_string(sw_json_at(r->verbs, i));
        for (size_t v = 0; v < SW_COUNT(verb_names); v++)
            if (sw_streq(name, verb_names[v].name))
                row->verbs |= verb_names[v].verb;
    }
    row->served = true;
}

int kube_kinds_learn_version(struct sw_kube_kinds *kinds, const char *api_version,
                             struct json_object *doc, struct sw_err *err)
{
    struct json_object *list = sw_json_get(doc, "resources");
    if (doc && !json_object_is_type(list, json_type_array) &&
        !sw_streq(sw_obj_kind(doc), "APIResourceList"))
        return sw_err_set(err, SW_INVALID, "%s: discovery answers no APIResourceList", api_version);
    mark_version(kinds, api_version, doc != NULL);
    kube_kinds_set_answered(kinds, api_version, true);
    unserve(kinds, api_version);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *item = sw_json_at(list, i);
        struct resource r = { .kind = sw_json_str(item, "", "kind", NULL),
                              .plural = sw_json_str(item, "", "name", NULL),
                              .namespaced = sw_json_bool(item, false, "namespaced", NULL),
                              .verbs = sw_json_get(item, "verbs") };
        if (strchr(r.plural, '/'))
            continue; /* a subresource */
        SW_AUTO_CHARS *status = sw_printf("%s/status", r.plural);
        r.has_status = sw_json_find_by(list, "name", status) != NULL;
        learn_resource(kinds, api_version, &r);
    }
    return 0;
}

/** One version of aggregated discovery (apidiscovery.k8s.io). */
static void learn_aggregated_version(struct sw_kube_kinds *kinds, const char *group,
                                     struct json_object *version)
{
    const char *name = sw_json_str(version, "", "version", NULL);
    SW_AUTO_CHARS *api_version = sw_printf("%s%s%s", group, group[0] ? "/" : "", name);
    struct json_object *list = sw_json_get(version, "resources");
    bool answered = sw_json_len(list) ||
                    !sw_streq(sw_json_str(version, "", "freshness", NULL), "Stale");
    mark_version(kinds, api_version, true);
    kube_kinds_set_answered(kinds, api_version, answered);
    if (!answered)
        return; /* its server does not answer: its kinds stay as they were */
    unserve(kinds, api_version);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *item = sw_json_at(list, i);
        struct json_object *subs = sw_json_get(item, "subresources");
        learn_resource(
            kinds, api_version,
            &(struct resource){
                .kind = sw_json_str(item, "", "responseKind", "kind", NULL),
                .plural = sw_json_str(item, "", "resource", NULL),
                .namespaced = sw_streq(sw_json_str(item, "", "scope", NULL), "Namespaced"),
                .has_status = sw_json_find_by(subs, "subresource", "status") != NULL,
                .verbs = sw_json_get(item, "verbs") });
    }
}

static void mark_group(struct sw_kube_kinds *kinds, struct json_object *group)
{
    struct json_object *versions = sw_json_get(group, "versions");
    for (size_t v = 0; v < sw_json_len(versions); v++)
        mark_version(kinds, sw_json_str(sw_json_at(versions, v), "", "groupVersion", NULL), true);
}

int kube_kinds_learn_groups(struct sw_kube_kinds *kinds, bool core, struct json_object *doc,
                            bool *with_kinds, struct sw_err *err)
{
    struct json_object *groups = sw_json_get(doc, "groups");
    struct json_object *versions = sw_json_get(doc, "versions");
    *with_kinds = sw_streq(sw_obj_kind(doc), "APIGroupDiscoveryList");
    if (!*with_kinds && !groups && !versions)
        return sw_err_set(err, SW_INVALID, "discovery answers no list of groups");
    *(core ? &kinds->core_known : &kinds->groups_known) = true;
    for (size_t i = 0; i < kinds->n_versions; i++)
        if (core == !strchr(kinds->versions[i].api_version, '/'))
            kinds->versions[i].served = false;
    struct json_object *items = *with_kinds ? sw_json_get(doc, "items") : NULL;
    for (size_t i = 0; i < sw_json_len(items); i++) {
        struct json_object *group = sw_json_at(items, i),
                           *of_group = sw_json_get(group, "versions");
        for (size_t v = 0; v < sw_json_len(of_group); v++)
            learn_aggregated_version(kinds, sw_obj_name(group), sw_json_at(of_group, v));
    }
    for (size_t i = 0; core && i < sw_json_len(versions); i++)
        mark_version(kinds, json_object_get_string(sw_json_at(versions, i)), true);
    for (size_t i = 0; !core && i < sw_json_len(groups); i++)
        mark_group(kinds, sw_json_at(groups, i));
    unserve_missing(kinds);
    return 0;
}

void kube_kinds_learn_group(struct sw_kube_kinds *kinds, const char *group, struct json_object *doc)
{
    for (size_t i = 0; i < kinds->n_versions; i++)
        if (in_group(kinds->versions[i].api_version, group))
            kinds->versions[i].served = false;
    mark_group(kinds, doc);
    unserve_missing(kinds);
}

/* "; did you mean 'Deployment'?", "; 'apps/v1' has it", or "": what may be meant by @kind of
 * @api_version. The caller's. */
static char *meant(const struct sw_kube_kinds *kinds, const char *api_version, const char *kind)
{
    const char **kinds_there = sw_zalloc(kinds->n_rows + 1, sizeof *kinds_there),
               **having = sw_zalloc(kinds->n_rows + 1, sizeof *having); /* versions with @kind */
    size_t n_kinds = 0, n_having = 0;
    for (size_t i = 0; i < kinds->n_rows; i++) {
        const struct sw_kind *row = kinds->rows[i];
        if (row->served && sw_streq(row->api_version, api_version))
            kinds_there[n_kinds++] = row->kind;
        if (row->served && sw_streq(row->kind, kind))
            having[n_having++] = row->api_version;
    }
    const char *near_kind = sw_text_nearest_only(kind, kinds_there),
               *near_version = sw_text_nearest_only(api_version, having);
    char *text = near_kind || near_version
                     ? sw_printf("; did you mean '%s'?", near_kind ? near_kind : near_version)
                 : n_having ? sw_printf("; '%s' has it", having[0])
                            : sw_strdup("");
    free(kinds_there);
    free(having);
    return text;
}

void kube_kinds_explain(const struct sw_kube_kinds *kinds, const char *api_version,
                        const char *kind, struct sw_err *err)
{
    SW_AUTO_CHARS *group = sw_strndup(api_version, (size_t)(group_end(api_version) - api_version));
    SW_AUTO_CHARS *others = sw_strdup("");
    for (size_t i = 0; i < kinds->n_versions; i++) {
        const struct version_row *v = &kinds->versions[i];
        if (v->served && in_group(v->api_version, group))
            sw_append(&others, "%s%s", others[0] ? ", " : "", v->api_version);
    }
    SW_AUTO_CHARS *instead = meant(kinds, api_version, kind);
    const struct version_row *row = find_version(kinds, api_version);
    if (row && row->served)
        (void)sw_err_set(err, SW_NOTFOUND, "kind '%s' is not in '%s' as this cluster serves it%s",
                         kind, api_version, instead);
    else if (others[0])
        (void)sw_err_set(err, SW_NOTFOUND,
                         "kind '%s' of '%s': this cluster does not serve that version (but %s)",
                         kind, api_version, others);
    else if (group[0])
        (void)sw_err_set(err, SW_NOTFOUND,
                         "kind '%s' of '%s': API group '%s' is not served by this cluster%s", kind,
                         api_version, group, instead);
    else
        (void)sw_err_set(err, SW_NOTFOUND, "kind '%s': '%s' is no version of the core API", kind,
                         api_version);
}

/* ---- queries ------------------------------------------------------------------------------------
 */

const struct sw_kind *sw_kube_kind_find(const struct sw_kube *k, const char *api_version,
                                        const char *kind)
{
    SW_AUTO_CHARS *name = sw_printf("%s/%s", api_version, kind);
    const struct sw_kind *row = sw_table_find(k->kinds->by_name, name);
    return row && row->served ? row : NULL;
}

bool sw_kube_serves(const struct sw_kube *k, const char *name)
{
    for (size_t i = 0; i < k->kinds->n_versions; i++) {
        const struct version_row *v = &k->kinds->versions[i];
        if (v->served && (sw_streq(v->api_version, name) || in_group(v->api_version, name)))
            return true;
    }
    return false;
}

bool sw_kube_groups_known(const struct sw_kube *k)
{
    return k->kinds->core_known && k->kinds->groups_known;
}

bool sw_kube_kinds_known(const struct sw_kube *k, const char *api_version)
{
    const struct version_row *row = find_version(k->kinds, api_version);
    return !row || !row->served || row->known;
}

const char *sw_kube_next_doubtful(const struct sw_kube *k, size_t *at)
{
    while (*at < k->kinds->n_versions) {
        const struct version_row *row = &k->kinds->versions[(*at)++];
        if (row->served && (!row->known || row->doubtful))
            return row->api_version;
    }
    return NULL;
}

void sw_kube_each_api(const struct sw_kube *k, void (*each)(const char *api, void *arg), void *arg)
{
    for (size_t i = 0; i < k->kinds->n_versions; i++)
        if (k->kinds->versions[i].served)
            each(k->kinds->versions[i].api_version, arg);
    for (size_t i = 0; i < k->kinds->n_rows; i++) {
        const struct sw_kind *row = k->kinds->rows[i];
        SW_AUTO_CHARS *api = sw_printf("%s/%s", row->api_version, row->kind);
        if (row->served)
            each(api, arg);
    }
}

void sw_kube_each_kind(const struct sw_kube *k, void (*each)(const struct sw_kind *kind, void *arg),
                       void *arg)
{
    for (size_t i = 0; i < k->kinds->n_rows; i++)
        if (k->kinds->rows[i]->served)
            each(k->kinds->rows[i], arg);
}
