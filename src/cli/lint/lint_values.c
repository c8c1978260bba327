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

/* Does a template have .Values without a name behind it? */
static bool reads_all(const struct sw_files *files)
{
    static const char word[] = ".Values";
    for (size_t i = 0; i < files->n; i++) {
        const char *at = files->items[i].bytes, *end = at + files->items[i].len;
        while ((at = memmem(at, (size_t)(end - at), word, sizeof word - 1))) {
            at += sizeof word - 1;
            if (at == end || (*at != '.' && !is_word(*at)))
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

/* Whether templates can tell of the file what it reads: not values, and not what is for people. */
static bool may_read(const char *name)
{
    const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    return !sw_streq(base, "values.yaml") && !sw_streq(base, "values.schema.json") &&
           !sw_ends_with(base, ".md");
}

/* A template has the name, or a value that is a template itself (`tpl`) reads it. */
static bool is_read(const struct values_lint *l, const char *key)
{
    SW_AUTO_CHARS *read = sw_printf(".Values.%s", key);
    for (size_t i = 0; i < l->files.n; i++) {
        const struct sw_recipe_file *f = &l->files.items[i];
        if (has_word(f->bytes, f->len, may_read(f->name) ? key : read))
            return true;
    }
    return false;
}

/* Warn of values at the top of values.yaml that no template has, nor a chart that the recipe brings
 * (which Chart.yaml names). */
static void check_defaults(struct values_lint *l, const struct sw_recipe *recipe,
                           const struct sw_recipe_file *file, struct json_object *defaults)
{
    if (l->reads_all || !json_object_is_type(defaults, json_type_object))
        return;
    SW_AUTO_CHARS *path = sw_printf("%s/%s", sw_recipe_name(recipe), "values.yaml");
    json_object_object_foreach(defaults, key, value)
    {
        (void)value;
        if (!sw_streq(key, "global") && !is_read(l, key))
            sw_problems_add(l->problems, false, path, sw_yaml_line(file->bytes, file->len, 1, key),
                            "no template reads value '%s'", key);
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
        l.reads_all = reads_all(&l.files);
        check_map(&l, "", set, defaults);
        if (file)
            check_defaults(&l, recipe, file, defaults);
    }
    sw_files_done(&l.files);
}
