/* Nobody gives away what he does not have. A rule is taken apart into the smallest ones, of one
 * verb and one resource each, and each has to be covered by a rule that the user has. Source:
 * pkg/registry/rbac/escalation_check.go, component-helpers auth/rbac/validation Covers(), and
 * pkg/registry/rbac/validation CompactRules(). */
#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/authorization/rules.h"
#include "emulator/store/document.h"
#include "emulator/store/status.h"
#include "emulator/store/store.h"

/* A smallest rule. */
struct right {
    const char *verb, *group, *resource, *name, *path; /* name, path: NULL for none */
    bool held;
};

struct rights {
    struct right *list;
    size_t n, cap;
};

static void add_right(struct rights *r, struct right one)
{
    SW_GROW(r->list, r->n, r->cap);
    r->list[r->n++] = one;
}

#define EACH(i, list) (size_t i = 0; i < sw_json_len(list); i++)

static const char *at(json_object *list, size_t i)
{
    return json_object_get_string(sw_json_at(list, i));
}

static void take_apart(json_object *rule, struct rights *out)
{
    json_object *verbs = sw_json_get(rule, "verbs"), *groups = sw_json_get(rule, "apiGroups");
    json_object *resources = sw_json_get(rule, "resources");
    json_object *names = sw_json_get(rule, "resourceNames");
    json_object *paths = sw_json_get(rule, "nonResourceURLs");
    for
        EACH(g, groups)
        for
            EACH(r, resources)
            for
                EACH(v, verbs)
                {
                for
                    EACH(n, names)
                add_right(out, (struct right){ at(verbs, v), at(groups, g), at(resources, r),
                                               at(names, n), NULL, false });
                if (!sw_json_len(names))
                    add_right(out, (struct right){ at(verbs, v), at(groups, g), at(resources, r),
                                                   NULL, NULL, false });
                }
    for
        EACH(p, paths)
        for
            EACH(v, verbs)
        add_right(out, (struct right){ at(verbs, v), NULL, NULL, NULL, at(paths, p), false });
}

static bool holds_name(json_object *names, const char *name)
{
    if (!sw_json_len(names))
        return true;
    for
        EACH(i, names)
    if (sw_streq(at(names, i), name))
        return true;
    return false;
}

static bool covers(json_object *rule, const struct right *one)
{
    if (!rule_holds(sw_json_get(rule, "verbs"), one->verb))
        return false;
    if (one->path)
        return rule_holds_path(sw_json_get(rule, "nonResourceURLs"), one->path);
    const char *slash = strchr(one->resource, '/');
    SW_AUTO_CHARS *resource = slash ? sw_strndup(one->resource, (size_t)(slash - one->resource))
                                    : sw_strdup(one->resource);
    return rule_holds(sw_json_get(rule, "apiGroups"), one->group) &&
           rule_holds_resource(sw_json_get(rule, "resources"), resource,
                               slash ? slash + 1 : NULL) &&
           holds_name(sw_json_get(rule, "resourceNames"), one->name);
}

static bool on_own_rule(json_object *rule, const struct rule_source *from SW_UNUSED, void *arg)
{
    struct rights *r = arg;
    for (size_t i = 0; i < r->n; i++)
        r->list[i].held = r->list[i].held || covers(rule, &r->list[i]);
    return true;
}

/* ---- what is missing, in words -----------------------------------------------------------------
 */

static bool is_alike(const struct right *a, const struct right *b)
{
    return sw_streq(a->group, b->group) && sw_streq(a->resource, b->resource) &&
           sw_streq(a->name, b->name) && sw_streq(a->path, b->path);
}

/* Rules that differ in the verb alone are one; @at: the first of them. Those of paths are not. */
static char *describe(const struct rights *r, size_t first)
{
    struct printbuf *out = printbuf_new();
    const struct right *a = &r->list[first];
    if (a->path)
        sprintbuf(out, "{NonResourceURLs:[\"%s\"], Verbs:[\"%s\"]}", a->path, a->verb);
    else
        sprintbuf(out, "{APIGroups:[\"%s\"], Resources:[\"%s\"]", a->group, a->resource);
    if (a->name)
        sprintbuf(out, ", ResourceNames:[\"%s\"]", a->name);
    for (size_t i = first; !a->path && i < r->n; i++)
        if (!r->list[i].held && is_alike(a, &r->list[i]))
            sprintbuf(out, "%s\"%s\"", i == first ? ", Verbs:[" : " ", r->list[i].verb);
    if (!a->path)
        sprintbuf(out, "]}");
    char *told = sw_strndup(out->buf, (size_t)out->bpos);
    printbuf_free(out);
    return told;
}

static bool is_told(const struct rights *r, size_t i)
{
    for (size_t k = 0; !r->list[i].path && k < i; k++)
        if (!r->list[k].held && is_alike(&r->list[k], &r->list[i]))
            return true;
    return false;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One a line, sorted. NULL: nothing is missing. */
static char *missing(const struct rights *r)
{
    struct printbuf *out = printbuf_new();
    char **lines = sw_zalloc(r->n + 1, sizeof *lines);
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        if (!r->list[i].held && !is_told(r, i))
            lines[n++] = describe(r, i);
    qsort(lines, n, sizeof *lines, by_text);
    for (size_t i = 0; i < n; i++) {
        sprintbuf(out, "%s%s", i ? "\n" : "", lines[i]);
        free(lines[i]);
    }
    free(lines);
    char *joined = n ? sw_strndup(out->buf, (size_t)out->bpos) : NULL;
    printbuf_free(out);
    return joined;
}

static char *groups_text(const struct sw_user *user)
{
    struct printbuf *out = printbuf_new();
    for
        EACH(i, user->groups)
    sprintbuf(out, "%s\"%s\"", i ? " " : "", at(user->groups, i));
    char *joined = sw_strndup(out->buf, (size_t)out->bpos);
    printbuf_free(out);
    return joined;
}

static int confirm(struct sw_store *store, const struct sw_user *user,
                   const struct sw_emu_kind *kind, const char *ns, const char *name,
                   json_object *rules, struct sw_status *status)
{
    struct rights r = { 0 };
    for
        EACH(i, rules)
    take_apart(sw_json_at(rules, i), &r);
    rules_visit(store, user, ns, on_own_rule, &r, NULL);
    SW_AUTO_CHARS *lacks = missing(&r);
    SW_AUTO_CHARS *groups = groups_text(user);
    free(r.list);
    if (!lacks)
        return 0;
    return sw_status_forbidden(
        status, kind, name,
        "user \"%s\" (groups=[%s]) is attempting to grant RBAC permissions not currently held:\n%s",
        user->name, groups, lacks);
}

/* ---- writes ------------------------------------------------------------------------------------
 */

static bool may(struct sw_store *store, const struct sw_user *user, const char *verb,
                const char *resource, const char *ns, const char *name)
{
    return sw_rbac_allows(
        store, user,
        &(struct sw_attributes){
            .verb = verb, .group = RBAC_GROUP, .resource = resource, .ns = ns, .name = name },
        NULL);
}

static int check_role(struct sw_store *store, const struct sw_user *user,
                      const struct sw_emu_kind *kind, const char *ns, json_object *doc,
                      json_object *old, struct sw_status *status)
{
    json_object *selectors = sw_json_find(doc, "aggregationRule", NULL);
    const char *name = sw_obj_name(doc);
    if (old && sw_json_equal(sw_json_get(doc, "rules"), sw_json_get(old, "rules")) &&
        sw_json_equal(selectors, sw_json_get(old, "aggregationRule")))
        return 0;
    if (may(store, user, "escalate", kind->plural, ns, name))
        return 0;
    if (selectors) { /* it may come to hold anything */
        SW_AUTO_JSON *all = json_tokener_parse(
            "[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]},"
            "{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"*\"]}]");
        SW_STATUS(inner);
        if (confirm(store, user, kind, ns, name, all, &inner) < 0)
            return sw_status_forbidden(status, kind, name,
                                       "must have cluster-admin privileges to use the "
                                       "aggregationRule");
    }
    return confirm(store, user, kind, ns, name, sw_json_get(doc, "rules"), status);
}

static int check_binding(struct sw_store *store, const struct sw_user *user,
                         const struct sw_emu_kind *kind, const char *ns, json_object *doc,
                         json_object *old, struct sw_status *status)
{
    json_object *ref = sw_json_get(doc, "roleRef");
    const char *name = sw_json_str(ref, "", "name", NULL);
    const bool of_cluster = sw_streq(sw_json_str(ref, "", "kind", NULL), "ClusterRole");
    const char *resource = of_cluster ? "clusterroles" : "roles";
    if (old && sw_json_equal(ref, sw_json_get(old, "roleRef")) &&
        sw_json_equal(sw_json_get(doc, "subjects"), sw_json_get(old, "subjects")))
        return 0;
    if (may(store, user, "bind", resource, ns, name))
        return 0;
    const struct sw_emu_kind *roles = sw_store_kind(store, RBAC_GROUP,
                                                    of_cluster ? "ClusterRole" : "Role");
    if (!sw_store_get(store, roles, of_cluster ? NULL : ns, name))
        return sw_status_not_found(status, roles, name);
    return confirm(store, user, kind, ns, sw_obj_name(doc), rules_of_role(store, ref, ns), status);
}

int sw_rbac_escalates(struct sw_store *store, const struct sw_user *user,
                      const struct sw_emu_kind *kind, const char *ns, json_object *doc,
                      json_object *old, struct sw_status *status)
{
    if (strcmp(kind->group, RBAC_GROUP) != 0 || sw_user_is_in(user, "system:masters"))
        return 0;
    const char *space = kind->namespaced ? ns : "";
    if (sw_ends_with(kind->kind, "Binding"))
        return check_binding(store, user, kind, space, doc, old, status);
    return check_role(store, user, kind, space, doc, old, status);
}
