#include "emulator/store/kinds.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

struct sw_kinds {
    struct sw_emu_kind **kinds;
    size_t n, cap;
    int minor;
    char *runtime_config; /* NULL: the default */
};

/* Replace a string of a kind, which is const outside of this file. */
static void set(const char **field, const char *value)
{
    char *copy = sw_strdup(value);
    free((char *)*field);
    *field = copy;
}

void sw_kind_rename(struct sw_emu_kind *kind, const struct sw_kind_names *names)
{
    SW_AUTO_CHARS *list_kind = sw_printf("%sList", names->kind);
    SW_AUTO_CHARS *singular = sw_strdup(names->kind);
    for (char *c = singular; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    set(&kind->kind, names->kind);
    set(&kind->list_kind, names->list_kind ? names->list_kind : list_kind);
    set(&kind->singular, names->singular ? names->singular : singular);
    set(&kind->short_names, names->short_names);
    set(&kind->categories, names->categories);
}

void sw_kind_set_versions(struct sw_emu_kind *kind, const char *const *versions, size_t n,
                          const char *storage)
{
    size_t kept = n < SW_KIND_VERSIONS - 1 ? n : SW_KIND_VERSIONS - 1;
    for (size_t i = 0; i < SW_KIND_VERSIONS; i++)
        set(&kind->versions[i], i < kept ? versions[i] : NULL);
    set(&kind->storage_version, storage);
}

/* What --runtime-config says of @api: 1: it is served, 0: it is not, -1: nothing. */
static int configured(const char *config, const char *api)
{
    const size_t len = strlen(api);
    int said = -1;
    for (const char *at = config; at && *at; at += strcspn(at, ","), at += *at == ',') {
        const size_t name = strcspn(at, "=,");
        if (name == len && strncmp(at, api, len) == 0)
            said = !sw_starts_with(at + name, "=false");
    }
    return said;
}

static bool is_served(const struct sw_kinds *kinds, const char *group, const char *version,
                      bool by_default)
{
    SW_AUTO_CHARS *api = sw_printf("%s/%s", group, version);
    const char *stage = strstr(version, "alpha")  ? "api/alpha"
                        : strstr(version, "beta") ? "api/beta"
                                                  : "api/ga";
    const char *const names[] = { api, stage, "api/all" };
    int said = -1;
    for (size_t i = 0; i < SW_COUNT(names) && said < 0; i++)
        said = configured(kinds->runtime_config, names[i]);
    return said < 0 ? by_default : said;
}

/* Whether the release has the version of @spec, "v1beta1:20-24", and serves it. @return the length
 * of the version's name; 0: it does not */
static size_t version_served(const struct sw_kinds *kinds, const char *group, const char *spec)
{
    size_t len = strcspn(spec, ": ");
    long from = 0, until = LONG_MAX;
    bool by_default = true;
    if (spec[len] == ':') {
        char *end = (char *)spec + len + 1;
        if (*end != '-')
            from = strtol(end, &end, 10);
        if (*end == '-' && isdigit((unsigned char)end[1]))
            until = strtol(end + 1, NULL, 10);
        by_default = !sw_starts_with(end, "-off");
    }
    SW_AUTO_CHARS *version = sw_strndup(spec, len);
    return kinds->minor >= from && kinds->minor <= until &&
                   is_served(kinds, group, version, by_default)
               ? len
               : 0;
}

static void set_builtin_versions(const struct sw_kinds *kinds, struct sw_emu_kind *kind,
                                 const struct sw_builtin *row)
{
    char *versions[SW_KIND_VERSIONS] = { 0 };
    SW_AUTO_CHARS *first = sw_strndup(row->versions, strcspn(row->versions, ": "));
    size_t n = 0;
    for (const char *spec = row->versions; *spec;
         spec += strcspn(spec, " "), spec += strspn(spec, " ")) {
        size_t len = version_served(kinds, row->group, spec);
        if (len && n < SW_KIND_VERSIONS - 1)
            versions[n++] = sw_strndup(spec, len);
    }
    sw_kind_set_versions(kind, (const char *const *)versions, n,
                         row->flags & SW_K_FIRST ? first : versions[0]);
    kind->served = n > 0;
    for (size_t i = 0; i < n; i++)
        free(versions[i]);
}

static struct sw_emu_kind *append(struct sw_kinds *kinds, const char *group, const char *plural)
{
    struct sw_emu_kind *kind = sw_zalloc(1, sizeof *kind);
    set(&kind->group, group);
    set(&kind->plural, plural);
    SW_GROW(kinds->kinds, kinds->n, kinds->cap);
    kinds->kinds[kinds->n++] = kind;
    return kind;
}

static struct sw_emu_kind *find(struct sw_kinds *kinds, const char *group, const char *plural)
{
    for (size_t i = 0; i < kinds->n; i++)
        if (strcmp(kinds->kinds[i]->group, group) == 0 &&
            strcmp(kinds->kinds[i]->plural, plural) == 0)
            return kinds->kinds[i];
    return NULL;
}

struct sw_kinds *sw_kinds_new(int minor)
{
    struct sw_kinds *kinds = sw_zalloc(1, sizeof *kinds);
    kinds->minor = minor;
    for (size_t i = 0; i < sw_n_builtins; i++) {
        const struct sw_builtin *row = &sw_builtins[i];
        struct sw_emu_kind *kind = append(kinds, row->group, row->plural);
        sw_kind_rename(kind, &(struct sw_kind_names){ .kind = row->kind,
                                                      .short_names = row->short_names,
                                                      .categories = row->categories });
        set_builtin_versions(kinds, kind, row);
        kind->namespaced = row->flags & SW_K_NAMESPACED;
        kind->has_status = row->flags & SW_K_STATUS;
        kind->has_scale = row->flags & SW_K_SCALE;
        kind->verbs = row->flags & SW_K_VIRTUAL ? "create" : NULL;
        kind->builtin = row;
    }
    find(kinds, "events.k8s.io", "events")->stored_as = find(kinds, "", "events");
    return kinds;
}

void sw_kinds_upgrade(struct sw_kinds *kinds, int minor)
{
    kinds->minor = minor;
    for (size_t i = 0; i < kinds->n; i++)
        if (kinds->kinds[i]->builtin)
            set_builtin_versions(kinds, kinds->kinds[i], kinds->kinds[i]->builtin);
}

static bool is_group(const char *name, size_t len)
{
    bool known = false;
    for (size_t i = 0; i < sw_n_builtins && !known; i++)
        known = strlen(sw_builtins[i].group) == len &&
                strncmp(sw_builtins[i].group, name, len) == 0;
    return known;
}

/* "GROUP/VERSION", "api/beta", with or without a value. */
static int check_config(const char *item, struct sw_err *err)
{
    static const char *const all[] = { "api/all", "api/ga", "api/beta", "api/alpha" };
    const size_t name = strcspn(item, "="), group = strcspn(item, "/=");
    bool known = item[group] == '/' && name > group + 1 && is_group(item, group);
    for (size_t i = 0; i < SW_COUNT(all); i++)
        known |= strlen(all[i]) == name && strncmp(all[i], item, name) == 0;
    if (!known)
        return sw_err_set(err, SW_INVALID, "'%s' is no version of an API such as 'apps/v1=true'",
                          item);
    if (item[name] && strcmp(item + name, "=true") != 0 && strcmp(item + name, "=false") != 0)
        return sw_err_set(err, SW_INVALID, "'%s': its value is neither true nor false", item);
    return 0;
}

int sw_kinds_configure(struct sw_kinds *kinds, const char *runtime_config, struct sw_err *err)
{
    int rc = 0;
    for (const char *at = runtime_config; at && *at && rc == 0; at += *at == ',') {
        SW_AUTO_CHARS *item = sw_strndup(at, strcspn(at, ","));
        rc = check_config(item, err);
        at += strlen(item);
    }
    if (rc < 0)
        return rc;
    sw_text_set(&kinds->runtime_config, runtime_config);
    sw_kinds_upgrade(kinds, kinds->minor);
    return 0;
}

void sw_kinds_free(struct sw_kinds *kinds)
{
    if (!kinds)
        return;
    free(kinds->runtime_config);
    for (size_t i = 0; i < kinds->n; i++) {
        struct sw_emu_kind *kind = kinds->kinds[i];
        sw_kind_set_versions(kind, NULL, 0, NULL);
        set(&kind->group, NULL);
        set(&kind->plural, NULL);
        set(&kind->kind, NULL);
        set(&kind->list_kind, NULL);
        set(&kind->singular, NULL);
        set(&kind->short_names, NULL);
        set(&kind->categories, NULL);
        free(kind);
    }
    free(kinds->kinds);
    free(kinds);
}

bool sw_kind_is_virtual(const struct sw_emu_kind *kind)
{
    return kind->builtin && (kind->builtin->flags & SW_K_VIRTUAL);
}

bool sw_kind_has_generation(const struct sw_emu_kind *kind)
{
    return !kind->builtin || (kind->builtin->flags & SW_K_GENERATION);
}

bool sw_kind_serves(const struct sw_emu_kind *kind, const char *version)
{
    for (size_t i = 0; kind->versions[i]; i++)
        if (strcmp(kind->versions[i], version) == 0)
            return kind->served;
    return false;
}

char *sw_kind_api_version(const struct sw_emu_kind *kind, const char *version)
{
    if (!version)
        version = kind->storage_version;
    return kind->group[0] ? sw_printf("%s/%s", kind->group, version) : sw_strdup(version);
}

char *sw_kind_resource(const struct sw_emu_kind *kind)
{
    return kind->group[0] ? sw_printf("%s.%s", kind->plural, kind->group) : sw_strdup(kind->plural);
}

static bool matches(const struct sw_emu_kind *kind, const char *group, const char *version)
{
    return kind->served && sw_streq(kind->group, group) &&
           (!version || sw_kind_serves(kind, version));
}

struct sw_emu_kind *sw_kinds_by_kind(struct sw_kinds *kinds, const char *group, const char *version,
                                     const char *kind)
{
    for (size_t i = 0; i < kinds->n; i++)
        if (sw_streq(kinds->kinds[i]->kind, kind) && matches(kinds->kinds[i], group, version))
            return kinds->kinds[i];
    return NULL;
}

struct sw_emu_kind *sw_kinds_by_plural(struct sw_kinds *kinds, const char *group,
                                       const char *version, const char *plural)
{
    for (size_t i = 0; i < kinds->n; i++)
        if (strcmp(kinds->kinds[i]->plural, plural) == 0 &&
            matches(kinds->kinds[i], group, version))
            return kinds->kinds[i];
    return NULL;
}

struct sw_emu_kind *sw_kinds_nth(struct sw_kinds *kinds, size_t i)
{
    return i < kinds->n ? kinds->kinds[i] : NULL;
}

struct sw_emu_kind *sw_kinds_add(struct sw_kinds *kinds, const char *group, const char *plural)
{
    struct sw_emu_kind *there = find(kinds, group, plural);
    return there ? there : append(kinds, group, plural);
}

bool sw_names_contain(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (; list && *list; list += *list == ',') {
        size_t n = strcspn(list, ",");
        if (n == len && strncmp(list, name, n) == 0)
            return true;
        list += n;
    }
    return false;
}

/* "v1" before "v2beta1" before "v1beta1" before "v1alpha1" before all other names. */
static long version_rank(const char *name)
{
    char *end;
    if (name[0] != 'v')
        return 0;
    long major = strtol(name + 1, &end, 10), minor = 0, level = 3;
    if (strncmp(end, "beta", 4) == 0)
        level = 2;
    else if (strncmp(end, "alpha", 5) == 0)
        level = 1;
    if (level < 3)
        minor = strtol(end + (level == 2 ? 4 : 5), &end, 10);
    return end == name + 1 || *end ? 0 : level * 1000000 + major * 1000 + minor;
}

int sw_version_order(const void *a, const void *b)
{
    long left = version_rank(*(const char *const *)a),
         right = version_rank(*(const char *const *)b);
    return left < right ? 1 : left > right ? -1 : 0;
}
