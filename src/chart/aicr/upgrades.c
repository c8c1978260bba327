#include "chart/aicr/upgrades.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "chart/aicr/aicr.h"
#include "chart/aicr/documents.h"
#include "data/data.h"
#include "data/text/semver.h"
#include "data/yaml/yaml.h"

/* ---- ranges ------------------------------------------------------------------------------------
 */

/* One of ">=1.2.3 <2.0.0". */
struct bound {
    char op[3]; /* ">=", "<=", ">", "<", "=" */
    struct sw_semver version;
};

static int compare(const struct sw_semver *a, const struct sw_semver *b)
{
    return sw_semver_compare(a, b);
}

/* Read the bound at @*at, and move behind it. @return 1, or 0: there is none any more | SW_INVALID
 */
static int next_bound(const char **at, struct bound *out, struct sw_err *err)
{
    *at += strspn(*at, " ,");
    if (!**at)
        return 0;
    size_t len = strspn(*at, "<>=");
    if (len > 2)
        return sw_err_set(err, SW_INVALID, "'%s' is no range of versions", *at);
    (void)snprintf(out->op, sizeof out->op, "%.*s", (int)len, len ? *at : "");
    if (!len)
        (void)snprintf(out->op, sizeof out->op, "=");
    *at += len + strspn(*at + len, " ");
    len = strcspn(*at, " ,");
    const int rc = sw_semver_parse(*at, len, &out->version, err);
    *at += len;
    return rc < 0 ? rc : 1;
}

static int check_range(const char *range, struct sw_err *err)
{
    struct bound b;
    int rc, n = 0;
    while ((rc = next_bound(&range, &b, err)) > 0)
        n++;
    if (rc == 0 && !n)
        return sw_err_set(err, SW_INVALID, "there is no range of versions");
    return rc;
}

static bool holds(const struct bound *b, const struct sw_semver *v)
{
    const int order = compare(v, &b->version);
    return sw_streq(b->op, ">=")   ? order >= 0
           : sw_streq(b->op, "<=") ? order <= 0
           : sw_streq(b->op, ">")  ? order > 0
           : sw_streq(b->op, "<")  ? order < 0
                                   : order == 0;
}

static bool covers(const char *range, const struct sw_semver *v)
{
    struct bound b;
    while (next_bound(&range, &b, NULL) > 0)
        if (!holds(&b, v))
            return false;
    return true;
}

/* Does @v keep the bounds of @range whose operator begins with @side or '='? Those below it are its
 * floor, those above it its ceiling. @any: there is one. */
static bool keeps(const char *range, char side, const struct sw_semver *v, bool *any)
{
    struct bound b;
    bool all = true;
    *any = false;
    while (next_bound(&range, &b, NULL) > 0) {
        if (b.op[0] != side && b.op[0] != '=')
            continue;
        struct bound half = b;
        if (b.op[0] == '=')
            (void)snprintf(half.op, sizeof half.op, "%c=", side);
        all = all && holds(&half, v);
        *any = true;
    }
    return all;
}

/* ---- records -----------------------------------------------------------------------------------
 */

static int check_assessment(const char *file, const char *where, const char *assessment,
                            struct sw_err *err)
{
    if (sw_streq(assessment, "safe") || sw_streq(assessment, "manual") ||
        sw_streq(assessment, "blocked"))
        return 0;
    return sw_err_set(err, SW_INVALID, "%s: %s: verdict: '%s' is none of safe, manual, blocked",
                      file, where, assessment);
}

static int check_transition(const char *file, struct json_object *t, struct sw_err *err)
{
    static const char *const known[] = { "from",       "to",
                                         "verdict",    "verifiedBy",
                                         "summary",    "precondition",
                                         "reversible", "reversibleNotes",
                                         "steps",      "stepsByDeployer",
                                         "hooks",      "affectedResources",
                                         "references", NULL };
    static const char *const ranges[] = { "from", "to" };
    const char *verdict = sw_json_str(t, "", "verdict", NULL);
    int rc = sw_aicr_known(file, "transitions", t, known, err);
    for (size_t i = 0; i < SW_COUNT(ranges) && rc == 0; i++) {
        rc = check_range(sw_json_str(t, "", ranges[i], NULL), err);
        if (rc < 0)
            rc = sw_err_wrap(err, rc, "%s: transitions: %s", file, ranges[i]);
    }
    return rc == 0 ? check_assessment(file, "transitions", verdict, err) : rc;
}

/* Which component the record's own takes the place of, and what that asks for. */
static int check_replaces(const char *file, struct json_object *replaces, struct sw_err *err)
{
    static const char *const known[] = { "component", "verdict",         "verifiedBy",
                                         "summary",   "stepsByDeployer", NULL };
    int rc = sw_aicr_known(file, "replaces", replaces, known, err);
    if (rc == 0 && !*sw_json_str(replaces, "", "component", NULL))
        rc = sw_err_set(err, SW_INVALID, "%s: replaces: component: none is named", file);
    if (rc == 0)
        rc = check_assessment(file, "replaces", sw_json_str(replaces, "", "verdict", NULL), err);
    return rc;
}

int sw_aicr_upgrades_read(const char *file, const char *component, const char *text, size_t len,
                          struct json_object **out, struct sw_err *err)
{
    static const char *const known[] = { "apiVersion", "kind",        "component",
                                         "replaces",   "transitions", NULL };
    SW_AUTO_JSON *doc = NULL;
    int rc = sw_aicr_document(file, text, len, "ComponentUpgrades", &doc, err);
    if (rc == 0)
        rc = sw_aicr_known(file, "the record", doc, known, err);
    if (rc == 0 && !sw_streq(sw_json_str(doc, "", "component", NULL), component))
        rc = sw_err_set(err, SW_INVALID, "%s: component: it is '%s', not '%s'", file,
                        sw_json_str(doc, "", "component", NULL), component);
    struct json_object *list = sw_json_get(doc, "transitions");
    for (size_t i = 0; i < sw_json_len(list) && rc == 0; i++)
        rc = check_transition(file, sw_json_at(list, i), err);
    if (rc == 0 && sw_json_get(doc, "replaces"))
        rc = check_replaces(file, sw_json_get(doc, "replaces"), err);
    if (rc == 0)
        *out = SW_TAKE(doc);
    return rc;
}

/* ---- a step ------------------------------------------------------------------------------------
 */

/* What Helm's users are to do, else what all are. */
static struct json_object *steps_of(struct json_object *transition)
{
    struct json_object *groups = sw_json_get(transition, "stepsByDeployer"),
                       *all = sw_json_get(transition, "steps");
    for (size_t i = 0; i < sw_json_len(groups); i++) {
        struct json_object *deployers = sw_json_get(sw_json_at(groups, i), "deployers");
        if (sw_json_has_text(deployers, "helm"))
            return sw_json_get(sw_json_at(groups, i), "steps");
        if (!sw_json_len(deployers))
            all = sw_json_get(sw_json_at(groups, i), "steps");
    }
    return all;
}

static void take_transition(struct json_object *step, struct json_object *transition,
                            const char *why)
{
    static const char *const copied[] = { "verdict",    "summary",         "precondition",
                                          "reversible", "reversibleNotes", "verifiedBy" };
    for (size_t i = 0; i < SW_COUNT(copied); i++)
        if (sw_json_get(transition, copied[i]))
            sw_json_set(step, sw_json_copy(sw_json_get(transition, copied[i])), copied[i], NULL);
    sw_json_set_str(step, why, "why", NULL);
    if (sw_json_len(steps_of(transition)))
        sw_json_set(step, sw_json_copy(steps_of(transition)), "steps", NULL);
}

static void decide(struct json_object *step, const char *verdict, const char *why)
{
    sw_json_set_str(step, verdict, "verdict", NULL);
    sw_json_set_str(step, why, "why", NULL);
}

/* Does the step begin below what the transition arrives at, and reach it? */
static bool is_crossed(struct json_object *transition, const struct sw_semver *from,
                       const struct sw_semver *to)
{
    const char *range = sw_json_str(transition, "", "to", NULL);
    bool has_floor;
    return keeps(range, '>', to, &has_floor) && has_floor && !keeps(range, '>', from, &has_floor);
}

/* The transitions that the step crosses: the one that counts alone into @*one, NULL where several
 * do. @return how many there are; of those that are not safe, where there are such */
static size_t crossed_by(struct json_object *record, const struct sw_semver *from,
                         const struct sw_semver *to, struct json_object **one,
                         struct json_object **blocked)
{
    struct json_object *list = sw_json_get(record, "transitions");
    size_t n[2] = { 0 };
    struct json_object *last[2] = { NULL };
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *t = sw_json_at(list, i);
        const char *verdict = sw_json_str(t, "", "verdict", NULL);
        const bool is_safe = sw_streq(verdict, "safe");
        if (!is_crossed(t, from, to))
            continue;
        if (sw_streq(verdict, "blocked") && !*blocked)
            *blocked = t;
        n[is_safe]++;
        last[is_safe] = t;
    }
    const bool only_safe = n[0] == 0;
    *one = n[only_safe] == 1 ? last[only_safe] : NULL;
    return n[only_safe];
}

static void decide_by(struct json_object *step, struct json_object *record,
                      const struct sw_semver *from, const struct sw_semver *to)
{
    struct json_object *one = NULL, *blocked = NULL;
    const size_t n = crossed_by(record, from, to, &one, &blocked);
    const char *arrives = sw_json_str(one ? one : blocked, "", "to", NULL);
    bool any;
    SW_AUTO_CHARS *past = sw_printf("its record speaks of %s, and not of what is past it: go there "
                                    "first",
                                    arrives);
    SW_AUTO_CHARS *stop = sw_printf("its record blocks a step into %s from there", arrives);
    SW_AUTO_CHARS *origin = sw_printf("its record for %s does not speak of a step from there",
                                      arrives);
    if (!n)
        decide(step, "unknown",
               record ? "no transition of its record speaks of this step" : "it has no record");
    else if (one && covers(sw_json_str(one, "", "from", NULL), from) &&
             keeps(arrives, '<', to, &any))
        take_transition(step, one, "its record describes this step");
    else if (blocked)
        decide(step, "blocked", stop);
    else if (n > 1)
        decide(step, "blocked", "it crosses several transitions: go from one to the next");
    else
        decide(step, "blocked", covers(sw_json_str(one, "", "from", NULL), from) ? past : origin);
}

struct json_object *sw_aicr_upgrade(struct json_object *record, const char *from, const char *to)
{
    struct json_object *step = json_object_new_object();
    struct sw_semver a, b;
    sw_json_set_str(step, from, "from", NULL);
    sw_json_set_str(step, to, "to", NULL);
    if (sw_semver_parse(from, strlen(from), &a, NULL) < 0 ||
        sw_semver_parse(to, strlen(to), &b, NULL) < 0)
        decide(step, "unversioned", "these versions cannot be compared");
    else if (compare(&b, &a) < 0)
        decide(step, "unknown", "it goes back, of which no record speaks");
    else
        decide_by(step, record, &a, &b);
    return step;
}

const char *sw_aicr_replaces(struct json_object *record)
{
    return sw_json_str(record, NULL, "replaces", "component", NULL);
}

struct json_object *sw_aicr_replacement(struct json_object *record, const char *to)
{
    struct json_object *step = json_object_new_object();
    const char *old = sw_text_or(sw_aicr_replaces(record), "");
    SW_AUTO_CHARS *why = sw_printf("it takes the place of %s", old);
    sw_json_set_str(step, old, "replaces", NULL);
    sw_json_set_str(step, to, "to", NULL);
    take_transition(step, sw_json_get(record, "replaces"), why);
    return step;
}

char *sw_aicr_upgrade_text(struct json_object *step, const char *between, const char *before)
{
    struct json_object *steps = sw_json_get(step, "steps");
    const char *needed = sw_json_str(step, NULL, "precondition", NULL);
    char *out = sw_strdup(sw_json_str(step, sw_json_str(step, "", "why", NULL), "summary", NULL));
    if (needed)
        sw_append(&out, "%s%s: %s", between, before, needed);
    for (size_t i = 0; i < sw_json_len(steps); i++)
        sw_append(&out, "%s%zu. %s", between, i + 1,
                  sw_json_str(sw_json_at(steps, i), "", "description", NULL));
    return out;
}

/* ---- all components ----------------------------------------------------------------------------
 */

int sw_aicr_upgrades_of(const struct sw_aicr_catalog *catalog, const char *component,
                        struct json_object **out, struct sw_err *err)
{
    SW_AUTO_CHARS *usual = sw_printf("components/%s/upgrades.yaml", component);
    const char *file = sw_json_str(sw_aicr_component(catalog, component), usual, "upgrades", "file",
                                   NULL);
    const struct sw_aicr_file *found;
    *out = NULL;
    return sw_aicr_file(catalog, file, &found, NULL) < 0
               ? 0
               : sw_aicr_upgrades_read(file, component, found->bytes, found->len, out, err);
}

/* The step of the component @c, which is not there, in the place of one that is and that the recipe
 * does not have; NULL: there is none. The caller's. */
static struct json_object *replacement_of(struct json_object *components, struct json_object *c,
                                          struct json_object *record, struct json_object *facts)
{
    const char *old = sw_aicr_replaces(record);
    SW_AUTO_CHARS *key = sw_printf("K8s.helm.%s.version", sw_text_or(old, ""));
    if (!old || sw_json_find_by(components, "name", old) ||
        !*sw_json_str(facts, "", "cluster", key, NULL))
        return NULL;
    return sw_aicr_replacement(record, sw_json_str(c, "", "version", NULL));
}

/* "v1.2.3" and "1.2.3" are the same. */
static const char *bare(const char *version)
{
    return version + (*version == 'v');
}

int sw_aicr_upgrades(const struct sw_aicr_catalog *catalog, struct json_object *result,
                     struct json_object *facts, struct json_object **out, struct sw_err *err)
{
    struct json_object *components = sw_json_get(result, "componentRefs");
    SW_AUTO_JSON *list = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(components); i++) {
        struct json_object *c = sw_json_at(components, i);
        const char *name = sw_json_str(c, "", "name", NULL);
        const char *to = sw_json_str(c, "", "version", NULL);
        SW_AUTO_CHARS *key = sw_printf("K8s.helm.%s.version", name);
        const char *from = sw_json_str(facts, "", "cluster", key, NULL);
        SW_AUTO_JSON *record = NULL;
        if (!*to || sw_streq(bare(from), bare(to)) || !sw_aicr_is_enabled(c))
            continue;
        const int rc = sw_aicr_upgrades_of(catalog, name, &record, err);
        if (rc < 0)
            return rc;
        struct json_object *step = *from ? sw_aicr_upgrade(record, from, to)
                                         : replacement_of(components, c, record, facts);
        if (!step)
            continue;
        sw_json_set_str(step, name, "component", NULL);
        (void)json_object_array_add(list, step);
    }
    *out = SW_TAKE(list);
    return 0;
}
