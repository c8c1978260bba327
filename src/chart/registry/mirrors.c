/* The mirrors of registries: containers-registries.conf(5), and OpenShift's
 * policies, which its nodes turn into the same. */
#include "chart/registry/registry.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/template/toml/toml.h"
#include "chart/template/value/value.h"
#include "data/json/json.h"
#include "data/json/path.h"

enum { MAX_CONF_BYTES = 4 << 20 };

/* The references that a mirror is used for. */
enum taken { BY_ANY, BY_DIGEST, BY_TAG };

struct mirror {
    char *location;
    bool insecure;
    enum taken taken;
};

/* One [[registry]]. */
struct rule {
    char *prefix;   /* "quay.io/org", "*.example.com" */
    char *location; /* instead of the prefix; "" : the prefix itself */
    bool insecure, blocked;
    size_t n, cap;
    struct mirror *mirrors;
};

struct sw_mirrors {
    size_t n, cap;
    struct rule *rules;
};

struct sw_mirrors *sw_mirrors_new(void)
{
    return sw_zalloc(1, sizeof(struct sw_mirrors));
}

void sw_mirrors_free(struct sw_mirrors *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++) {
        struct rule *r = &m->rules[i];
        for (size_t k = 0; k < r->n; k++)
            free(r->mirrors[k].location);
        free(r->mirrors);
        free(r->prefix);
        free(r->location);
    }
    free(m->rules);
    free(m);
}

/* ---- rules -------------------------------------------------------------------------------------
 */

static struct rule *need_rule(struct sw_mirrors *m, const char *prefix)
{
    for (size_t i = 0; i < m->n; i++)
        if (sw_streq(m->rules[i].prefix, prefix))
            return &m->rules[i];
    SW_GROW(m->rules, m->n, m->cap);
    m->rules[m->n] = (struct rule){ .prefix = sw_strdup(prefix), .location = sw_strdup("") };
    return &m->rules[m->n++];
}

/* Add a mirror, unless the rule has it: policies repeat mirrors of registries.conf. */
static void add_mirror(struct rule *r, const char *location, bool insecure, enum taken taken)
{
    for (size_t i = 0; i < r->n; i++)
        if (sw_streq(r->mirrors[i].location, location)) {
            if (r->mirrors[i].taken != taken)
                r->mirrors[i].taken = BY_ANY;
            return;
        }
    SW_GROW(r->mirrors, r->n, r->cap);
    r->mirrors[r->n++] =
        (struct mirror){ .location = sw_strdup(location), .insecure = insecure, .taken = taken };
}

/* ---- registries.conf ---------------------------------------------------------------------------
 */

static int read_mirror(struct rule *r, struct json_object *doc, bool digest_only,
                       struct sw_err *err)
{
    static const char *const values[] = { "all", "digest-only", "tag-only" };
    const char *location = sw_json_str(doc, "", "location", NULL);
    const char *from = sw_json_str(doc, digest_only ? values[BY_DIGEST] : values[BY_ANY],
                                   "pull-from-mirror", NULL);
    if (!*location)
        return sw_err_set(err, SW_INVALID, "a mirror of '%s' has no location", r->prefix);
    for (size_t i = 0; i < SW_COUNT(values); i++) {
        if (!sw_streq(from, values[i]))
            continue;
        add_mirror(r, location, sw_json_bool(doc, false, "insecure", NULL), (enum taken)i);
        return 0;
    }
    return sw_err_set(err, SW_INVALID,
                      "pull-from-mirror of '%s' is '%s': expected all, digest-only or tag-only",
                      location, from);
}

static int read_registry(struct sw_mirrors *m, struct json_object *doc, struct sw_err *err)
{
    const char *location = sw_json_str(doc, "", "location", NULL);
    const char *prefix = sw_json_str(doc, location, "prefix", NULL);
    if (!*prefix)
        prefix = location;
    if (!*prefix)
        return sw_err_set(err, SW_INVALID, "a [[registry]] has neither prefix nor location");
    if (strchr(prefix, '*') && (!sw_starts_with(prefix, "*.") || strchr(prefix + 1, '*')))
        return sw_err_set(err, SW_INVALID, "prefix '%s': a wildcard stands only in front, as *.",
                          prefix);
    struct rule *r = need_rule(m, prefix);
    sw_text_set(&r->location, location);
    r->insecure |= sw_json_bool(doc, false, "insecure", NULL);
    r->blocked |= sw_json_bool(doc, false, "blocked", NULL);
    bool digest_only = sw_json_bool(doc, false, "mirror-by-digest-only", NULL);
    struct json_object *mirrors = sw_json_find(doc, "mirror", NULL);
    for (size_t i = 0; i < sw_json_len(mirrors); i++) {
        int rc = read_mirror(r, sw_json_at(mirrors, i), digest_only, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Lists of registries, as texts. */
static void add_lists(struct sw_mirrors *m, struct json_object *insecure,
                      struct json_object *blocked)
{
    for (size_t i = 0; i < sw_json_len(insecure); i++)
        sw_mirrors_add_insecure(m, sw_json_str(sw_json_at(insecure, i), "", NULL));
    for (size_t i = 0; i < sw_json_len(blocked); i++) {
        const char *prefix = sw_json_str(sw_json_at(blocked, i), "", NULL);
        if (*prefix)
            need_rule(m, prefix)->blocked = true;
    }
}

int sw_mirrors_add_conf(struct sw_mirrors *mirrors, const char *file, const char *text,
                        size_t len_bytes, struct sw_err *err)
{
    if (len_bytes > MAX_CONF_BYTES)
        return sw_err_set(err, SW_INVALID, "%s: larger than %d bytes", file, MAX_CONF_BYTES);
    SW_AUTO(sw_mirrors) *read = sw_mirrors_new();
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct sw_value value;
    int rc = sw_value_read_toml(arena, text, len_bytes, &value, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", file);
    SW_AUTO_JSON *doc = sw_value_to_json(value);
    struct json_object *list = sw_json_get(doc, "registry");
    /* version 1, whose search list is not needed: short names are docker.io's */
    add_lists(read, sw_json_find(doc, "registries", "insecure", "registries", NULL),
              sw_json_find(doc, "registries", "block", "registries", NULL));
    for (size_t i = 0; i < sw_json_len(list); i++) {
        rc = read_registry(read, sw_json_at(list, i), err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "%s", file);
    }
    for (size_t i = 0; i < read->n; i++) {
        struct rule *from = &read->rules[i], *to = need_rule(mirrors, from->prefix);
        if (*from->location) {
            sw_text_set(&to->location, from->location);
        }
        to->insecure |= from->insecure;
        to->blocked |= from->blocked;
        for (size_t k = 0; k < from->n; k++)
            add_mirror(to, from->mirrors[k].location, from->mirrors[k].insecure,
                       from->mirrors[k].taken);
    }
    return 0;
}

/* ---- OpenShift's policies ----------------------------------------------------------------------
 */

/* The kinds of policies: their lists, and the references that they are for. */
static const struct {
    const char *kind, *list;
    enum taken taken;
} policies[] = {
    { "ImageContentSourcePolicy", "repositoryDigestMirrors", BY_DIGEST },
    { "ImageDigestMirrorSet", "imageDigestMirrors", BY_DIGEST },
    { "ImageTagMirrorSet", "imageTagMirrors", BY_TAG },
};

static void add_sources(struct sw_mirrors *m, struct json_object *list, enum taken taken)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *entry = sw_json_at(list, i), *mirrors = sw_json_get(entry, "mirrors");
        const char *source = sw_json_str(entry, "", "source", NULL);
        if (!*source)
            continue;
        struct rule *r = need_rule(m, source);
        r->blocked |= sw_streq(sw_json_str(entry, "", "mirrorSourcePolicy", NULL),
                               "NeverContactSource");
        for (size_t k = 0; k < sw_json_len(mirrors); k++) {
            const char *location = sw_json_str(sw_json_at(mirrors, k), "", NULL);
            if (*location)
                add_mirror(r, location, false, taken);
        }
    }
}

void sw_mirrors_add_policy(struct sw_mirrors *mirrors, struct json_object *policy)
{
    const char *kind = sw_obj_kind(policy);
    for (size_t i = 0; i < SW_COUNT(policies); i++)
        if (sw_streq(kind, policies[i].kind))
            add_sources(mirrors, sw_json_find(policy, "spec", policies[i].list, NULL),
                        policies[i].taken);
    struct json_object *sources = sw_json_find(policy, "spec", "registrySources", NULL);
    if (sw_streq(kind, "Image"))
        add_lists(mirrors, sw_json_get(sources, "insecureRegistries"),
                  sw_json_get(sources, "blockedRegistries"));
}

void sw_mirrors_add_insecure(struct sw_mirrors *mirrors, const char *host)
{
    if (*host)
        need_rule(mirrors, host)->insecure = true;
}

/* ---- finding -----------------------------------------------------------------------------------
 */

/* How many bytes of @name the prefix covers, up to the end of a path element; 0: no match. */
static size_t covered(const char *prefix, const char *name)
{
    if (sw_starts_with(prefix, "*.")) {
        size_t host_len = strcspn(name, "/:@"), tail = strlen(prefix) - 1;
        size_t whole = strcspn(name, "/");
        bool ends = host_len > tail && memcmp(name + host_len - tail, prefix + 1, tail) == 0;
        return ends ? whole : 0;
    }
    size_t len = strlen(prefix);
    if (!sw_starts_with(name, prefix))
        return 0;
    return name[len] == '\0' || strchr("/:@", name[len]) ? len : 0;
}

/* The rule with the longest prefix. */
static const struct rule *find_rule(const struct sw_mirrors *m, const char *name, size_t *len)
{
    const struct rule *best = NULL;
    size_t most = 0;
    for (size_t i = 0; m && i < m->n; i++) {
        const struct rule *r = &m->rules[i];
        size_t n = covered(r->prefix, name);
        if (n && (!best || strlen(r->prefix) > most)) {
            best = r;
            most = strlen(r->prefix);
            *len = n;
        }
    }
    return best;
}

/* Whether the registry, or the repository within it, is declared insecure. */
static bool is_insecure(const struct sw_mirrors *m, const char *name)
{
    for (size_t i = 0; m && i < m->n; i++)
        if (m->rules[i].insecure && covered(m->rules[i].prefix, name))
            return true;
    return false;
}

/* The reference with the first @len bytes of its name replaced. @return false: that is none */
static bool add_source(struct sw_pull_sources *out, const struct sw_image_ref *ref,
                       const char *location, size_t len, bool insecure, bool is_mirror)
{
    SW_AUTO_CHARS *text = sw_image_ref_text(ref);
    SW_AUTO_CHARS *moved = sw_printf("%s%s", location, text + len);
    struct sw_pull_source s = { .insecure = insecure, .is_mirror = is_mirror };
    if (sw_image_ref_parse(moved, &s.ref, NULL) < 0)
        return false;
    SW_GROW(out->items, out->n, out->cap);
    out->items[out->n++] = s;
    return true;
}

int sw_mirrors_sources(const struct sw_mirrors *mirrors, const struct sw_image_ref *ref,
                       struct sw_pull_sources *out, struct sw_err *err)
{
    struct sw_pull_sources found = { 0 };
    size_t len = 0;
    SW_AUTO_CHARS *name = sw_image_ref_text(ref);
    const struct rule *r = find_rule(mirrors, name, &len);
    for (size_t i = 0; r && i < r->n; i++) {
        const struct mirror *m = &r->mirrors[i];
        if (m->taken == BY_ANY || m->taken == (ref->digest ? BY_DIGEST : BY_TAG)) {
            bool insecure = m->insecure || is_insecure(mirrors, m->location);
            (void)add_source(&found, ref, m->location, len, insecure, true);
        }
    }
    bool blocked = r && r->blocked, insecure = is_insecure(mirrors, name);
    if (!blocked && (!r || !*r->location || sw_streq(r->location, r->prefix)))
        (void)add_source(&found, ref, "", 0, insecure, false);
    else if (!blocked)
        (void)add_source(&found, ref, r->location, len, insecure, false);
    if (!found.n) {
        sw_pull_sources_done(&found);
        return sw_err_set(err, SW_FORBIDDEN,
                          "%s: the registry configuration blocks '%s', and no mirror stands for it",
                          name, r ? r->prefix : "");
    }
    *out = found;
    return 0;
}

void sw_pull_sources_done(struct sw_pull_sources *sources)
{
    for (size_t i = 0; i < sources->n; i++)
        sw_image_ref_done(&sources->items[i].ref);
    free(sources->items);
    *sources = (struct sw_pull_sources){ 0 };
}
