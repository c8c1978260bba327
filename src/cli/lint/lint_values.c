/* Values that nothing reads: those that a user sets, and those of values.yaml. */
#include "cli/lint/lint.h"

#include <ctype.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/package/pack.h"
#include "data/data.h"
#include "data/text/nearest.h"
#include "data/yaml/yaml.h"

struct values_lint {
    struct sw_files files;
    bool reads_all; /* a template reads .Values as a whole */
    struct sw_problems *problems;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Is @word in @text, with no letter before and after it? */
static bool has_word(const char *text, size_t len, const char *word)
{
    const char *at = text, *end = text + len;
    size_t n = strlen(word);
    while ((at = memmem(at, (size_t)(end - at), word, n))) {
        if ((at == text || !is_word(at[-1])) && (at + n == end || !is_word(at[n])))
            return true;
        at++;
    }
    return false;
}

static bool is_in_files(const struct values_lint *l, const char *word)
{
    for (size_t i = 0; i < l->files.n; i++)
        if (has_word(l->files.items[i].bytes, l->files.items[i].len, word))
            return true;
    return false;
}

/* The literal that `index .Values.a "b"`, `get` or `hasKey` reads of what is at @path, @n letters
 * at
 * @at within @text. @return its first letter, *@len of it; NULL: it is read otherwise */
static const char *literal_of(const char *text, const char *end, const char *at, size_t n,
                              size_t *len)
{
    static const char *const readers[] = { "index", "get", "hasKey" };
    const char *before = at, *behind = at + n;
    bool is_reader = false;
    while (before > text && (before[-1] == ' ' || before[-1] == '$'))
        before--;
    for (size_t i = 0; i < SW_COUNT(readers); i++) {
        const size_t k = strlen(readers[i]);
        is_reader = is_reader ||
                    ((size_t)(before - text) >= k && memcmp(before - k, readers[i], k) == 0);
    }
    while (behind < end && *behind == ' ')
        behind++;
    const char *close = is_reader && behind < end && *behind == '"'
                            ? memchr(behind + 1, '"', (size_t)(end - behind - 1))
                            : NULL;
    *len = close ? (size_t)(close - behind - 1) : 0;
    return close ? behind + 1 : NULL;
}

/* How templates read what is at @path (".Values", ".Values.a"), besides by the names of its fields:
 * with @key NULL, whether as a whole, so that all below it may be read; else whether by that
 * literal. */
static bool is_read_otherwise(const struct sw_files *files, const char *path, const char *key)
{
    const size_t n = strlen(path);
    size_t len;
    for (size_t i = 0; i < files->n; i++) {
        const char *text = files->items[i].bytes, *end = text + files->items[i].len, *at = text;
        for (; (at = memmem(at, (size_t)(end - at), path, n)); at += n) {
            if (at + n < end && (at[n] == '.' || is_word(at[n])))
                continue;
            const char *literal = literal_of(text, end, at, n, &len);
            if (key ? literal && len == strlen(key) && memcmp(literal, key, len) == 0 : !literal)
                return true;
        }
    }
    return false;
}

/* The key of @map that is nearest to @key, borrowed; NULL: none is near. */
static const char *nearest_key(struct json_object *map, const char *key)
{
    const char **names = sw_zalloc(sw_json_len(map) + 1, sizeof *names);
    size_t n = 0;
    if (json_object_is_type(map, json_type_object)) {
        json_object_object_foreach(map, name, value)
        {
            (void)value;
            names[n++] = name;
        }
    }
    const char *nearest = sw_text_nearest(key, names);
    free(names);
    return nearest;
}

/* @path: of both, with a dot behind it, or "". */
static void check_map(struct values_lint *l, const char *path, struct json_object *set,
                      struct json_object *defaults)
{
    if (!json_object_is_type(set, json_type_object))
        return;
    json_object_object_foreach(set, key, value)
    {
        SW_AUTO_CHARS *inner = sw_printf("%s%s.", path, key);
        struct json_object *known = NULL;
        if (json_object_object_get_ex(defaults, key, &known)) {
            if (json_object_is_type(known, json_type_object) && sw_json_len(known))
                check_map(l, inner, value, known);
            continue;
        }
        const char *nearest = nearest_key(defaults, key);
        bool may_be_read = *path ? !nearest : l->reads_all && !nearest;
        if (may_be_read || is_in_files(l, key))
            continue;
        sw_problems_add(
            l->problems, false, "", 0,
            "value '%s%s' is set, and neither values.yaml nor a template has it%s%s%s%s", path, key,
            nearest ? ": is it '" : "", nearest ? path : "", nearest ? nearest : "",
            nearest ? "'?" : "");
    }
}

/* Does a template, or a value that is one itself (`tpl`), name @key below @path? */
static bool is_named(const struct values_lint *l, const char *path, const char *key)
{
    SW_AUTO_CHARS *read = sw_printf("%s.%s", path, key);
    for (size_t i = 0; i < l->files.n; i++) {
        const struct sw_recipe_file *f = &l->files.items[i];
        if (has_word(f->bytes, f->len, read))
            return true;
    }
    return is_read_otherwise(&l->files, path, key);
}

/* Does Chart.yaml, of any chart, name it: as a dependency, or in the condition of one? */
static bool is_of_charts(const struct values_lint *l, const char *key)
{
    for (size_t i = 0; i < l->files.n; i++) {
        const struct sw_recipe_file *f = &l->files.items[i];
        if ((sw_ends_with(f->name, "Chart.yaml") || sw_ends_with(f->name, "requirements.yaml")) &&
            has_word(f->bytes, f->len, key))
            return true;
    }
    return false;
}

struct defaults {
    const struct sw_recipe_file *file; /* values.yaml */
    const char *name;                  /* of it, for messages */
};

/* Warn of the values in @map, which is at @path (".Values.a") of values.yaml, that nothing reads.
 */
static void check_defaults(struct values_lint *l, const struct defaults *d, const char *path,
                           struct json_object *map)
{
    if (!json_object_is_type(map, json_type_object) || is_read_otherwise(&l->files, path, NULL))
        return;
    json_object_object_foreach(map, key, value)
    {
        SW_AUTO_CHARS *inner = sw_printf("%s.%s", path, key);
        const char *shown = inner + strlen(".Values.");
        const bool is_top = sw_streq(path, ".Values");
        if (is_top && (sw_streq(key, "global") || is_of_charts(l, key)))
            continue;
        if (is_named(l, path, key))
            check_defaults(l, d, inner, value);
        else
            sw_problems_add(l->problems, false, d->name,
                            sw_yaml_line(d->file->bytes, d->file->len, 1, shown),
                            "no template reads value '%s'", shown);
    }
}

void sw_lint_values(const struct sw_recipe *recipe, struct json_object *set,
                    struct sw_problems *problems)
{
    struct values_lint l = { .files = sw_files_init(NULL), .problems = problems };
    const struct sw_recipe_file *file = sw_recipe_find_file(recipe, "values.yaml");
    SW_AUTO_JSON *defaults = NULL;
    SW_ERR(ignored); /* what cannot be read is told elsewhere */
    const struct sw_yaml_opts opts = { .allow_duplicate = true };
    if (file && sw_yaml_parse(file->bytes, file->len, &opts, &defaults, &ignored) < 0)
        sw_err_done(&ignored);
    if (sw_recipe_list_files(recipe, &l.files, &ignored) == 0) {
        l.reads_all = is_read_otherwise(&l.files, ".Values", NULL);
        check_map(&l, "", set, defaults);
        SW_AUTO_CHARS *name = sw_printf("%s/%s", sw_recipe_name(recipe), "values.yaml");
        if (file)
            check_defaults(&l, &(struct defaults){ file, name }, ".Values", defaults);
    }
    sw_files_done(&l.files);
}
