#include "cli/recipe/unread_values.h"

#include <ctype.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/load/chart.h"
#include "chart/recipe/package/pack.h"
#include "data/data.h"
#include "data/text/nearest.h"
#include "data/yaml/yaml.h"

#define TOP ".Values"

struct search {
    struct sw_files files;
    bool reads_all;                    /* a template reads .Values as a whole */
    bool lacks_charts;                 /* some could not be fetched: nobody knows what they read */
    struct json_object *defaults;      /* owned */
    const struct sw_recipe_file *file; /* values.yaml; NULL: there is none */
    sw_unread_fn *fn;
    void *arg;
};

static void __attribute__((format(printf, 3, 4)))
tell(const struct search *s, int line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    s->fn(s->arg, line, text);
}

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

static bool is_in_files(const struct search *s, const char *word)
{
    for (size_t i = 0; i < s->files.n; i++)
        if (has_word(s->files.items[i].bytes, s->files.items[i].len, word))
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

/* Does a template, or a value that is one itself (`tpl`), name @key below @path? */
static bool is_named(const struct search *s, const char *path, const char *key)
{
    SW_AUTO_CHARS *read = sw_printf("%s.%s", path, key);
    for (size_t i = 0; i < s->files.n; i++) {
        const struct sw_recipe_file *f = &s->files.items[i];
        if (has_word(f->bytes, f->len, read))
            return true;
    }
    return is_read_otherwise(&s->files, path, key);
}

/* Does Chart.yaml, of any chart, name it: as a dependency, or in the condition of one? */
static bool is_of_charts(const struct search *s, const char *key)
{
    for (size_t i = 0; i < s->files.n; i++) {
        const struct sw_recipe_file *f = &s->files.items[i];
        if ((sw_ends_with(f->name, "Chart.yaml") || sw_ends_with(f->name, "requirements.yaml")) &&
            has_word(f->bytes, f->len, key))
            return true;
    }
    return false;
}

/* Is it one of those at the top that charts read by another name: `global`, a subchart's own? */
static bool is_of_all(const struct search *s, const char *path, const char *key)
{
    return sw_streq(path, TOP) && (sw_streq(key, "global") || is_of_charts(s, key));
}

/* Tell of the values in @set that nothing has. @path: of both, with a dot behind it, or "". */
static void check_map(const struct search *s, const char *path, struct json_object *set,
                      struct json_object *defaults)
{
    if (!json_object_is_type(set, json_type_object))
        return;
    json_object_object_foreach(set, key, value)
    {
        SW_AUTO_CHARS *inner = sw_printf("%s%s.", path, key);
        struct json_object *known = NULL;
        if (s->lacks_charts && !*path && is_of_all(s, TOP, key))
            continue;
        if (json_object_object_get_ex(defaults, key, &known)) {
            if (json_object_is_type(known, json_type_object) && sw_json_len(known))
                check_map(s, inner, value, known);
            continue;
        }
        const char *nearest = nearest_key(defaults, key);
        bool may_be_read = *path ? !nearest : s->reads_all && !nearest;
        if (!may_be_read && !is_in_files(s, key))
            tell(s, 0, "value '%s%s' is set, and neither values.yaml nor a template has it%s%s%s%s",
                 path, key, nearest ? ": is it '" : "", nearest ? path : "", nearest ? nearest : "",
                 nearest ? "'?" : "");
    }
}

/* Tell of the values in @set, which a user gives below @path (".Values.a"), that values.yaml has
 * and nothing reads. */
static void check_known(const struct search *s, const char *path, struct json_object *set,
                        struct json_object *defaults)
{
    if (!json_object_is_type(set, json_type_object) ||
        !json_object_is_type(defaults, json_type_object) ||
        is_read_otherwise(&s->files, path, NULL))
        return;
    json_object_object_foreach(set, key, value)
    {
        struct json_object *known = NULL;
        SW_AUTO_CHARS *inner = sw_printf("%s.%s", path, key);
        if (!json_object_object_get_ex(defaults, key, &known) || is_of_all(s, path, key))
            continue;
        if (is_named(s, path, key))
            check_known(s, inner, value, known);
        else
            tell(s, 0, "value '%s' is set, and no template reads it", inner + strlen(TOP "."));
    }
}

/* How the key @key ("false") of values.yaml is written without quotes, which YAML reads as true or
 * false ("n"), and in which line: the only such one. @return "" or borrowed */
static const char *word_of(const struct search *s, const char *key, int *line)
{
    static const char *const words[] = { "y", "Y", "yes", "Yes", "YES", "on",  "On",  "ON",
                                         "n", "N", "no",  "No",  "NO",  "off", "Off", "OFF" };
    const char *found = "", *end = s->file->bytes + s->file->len;
    int n = 1;
    for (const char *at = s->file->bytes; at < end; n++) {
        const char *nl = memchr(at, '\n', (size_t)(end - at)), *stop = nl ? nl : end;
        const char *colon = memchr(at, ':', (size_t)(stop - at));
        for (; at < stop && *at == ' '; at++)
            ;
        for (size_t i = 0; colon && i < SW_COUNT(words); i++) {
            if ((i < SW_COUNT(words) / 2) != sw_streq(key, "true") ||
                (size_t)(colon - at) != strlen(words[i]) ||
                memcmp(at, words[i], strlen(words[i])) != 0)
                continue;
            if (*found)
                return "";
            found = words[i];
            *line = n;
        }
        at = stop + 1;
    }
    return found;
}

/* Tell of the value @shown, the key @key of values.yaml, which nothing reads. */
static void tell_unread(const struct search *s, const char *shown, const char *key)
{
    int line = 0;
    const char *word = sw_streq(key, "true") || sw_streq(key, "false") ? word_of(s, key, &line)
                                                                       : "";
    if (*word)
        tell(s, line,
             "the key %s is a boolean in YAML, %s, which no template reads; put it in "
             "quotes: \"%s\"",
             word, key, word);
    else
        tell(s, sw_yaml_line(s->file->bytes, s->file->len, 1, shown),
             "no template reads value '%s'", shown);
}

/* Tell of the values in @map, which is at @path (".Values.a") of values.yaml, that nothing reads.
 */
static void check_defaults(const struct search *s, const char *path, struct json_object *map)
{
    if (!json_object_is_type(map, json_type_object) || is_read_otherwise(&s->files, path, NULL))
        return;
    json_object_object_foreach(map, key, value)
    {
        SW_AUTO_CHARS *inner = sw_printf("%s.%s", path, key);
        const char *shown = inner + strlen(TOP ".");
        if (is_of_all(s, path, key))
            continue;
        if (is_named(s, path, key))
            check_defaults(s, inner, value);
        else
            tell_unread(s, shown, key);
    }
}

/* ---- the search ---------------------------------------------------------------------------------
 */

static void search_done(struct search *s)
{
    json_object_put(SW_TAKE(s->defaults));
    sw_files_done(&s->files);
}

/* @return false: the recipe's files cannot be read, which is told elsewhere */
static bool search_init(struct search *s, const struct sw_recipe *recipe)
{
    const struct sw_yaml_opts opts = { .allow_duplicate = true };
    SW_ERR(ignored);
    s->files = sw_files_init(NULL);
    s->file = sw_recipe_find_file(recipe, "values.yaml");
    if (s->file && sw_yaml_parse(s->file->bytes, s->file->len, &opts, &s->defaults, &ignored) < 0)
        sw_err_done(&ignored);
    const bool is_listed = sw_recipe_list_files(recipe, &s->files, &ignored) == 0;
    for (size_t i = 0; is_listed && i < s->files.n; i++)
        s->lacks_charts = s->lacks_charts ||
                          sw_ends_with(s->files.items[i].name, SW_NOT_FETCHED_FILE);
    s->reads_all = is_listed && is_read_otherwise(&s->files, TOP, NULL);
    if (!is_listed)
        search_done(s);
    return is_listed;
}

void sw_unread_given(const struct sw_recipe *recipe, struct json_object *set, bool known_too,
                     sw_unread_fn *fn, void *arg)
{
    struct search s = { .fn = fn, .arg = arg };
    if (!sw_json_len(set) || !search_init(&s, recipe))
        return;
    check_map(&s, "", set, s.defaults);
    if (known_too && !s.lacks_charts)
        check_known(&s, TOP, set, s.defaults);
    search_done(&s);
}

void sw_unread_defaults(const struct sw_recipe *recipe, sw_unread_fn *fn, void *arg)
{
    struct search s = { .fn = fn, .arg = arg };
    if (!search_init(&s, recipe))
        return;
    if (s.file)
        check_defaults(&s, TOP, s.defaults);
    search_done(&s);
}

static void warn(void *arg, int line SW_UNUSED, const char *text)
{
    (void)fprintf(stderr, "slipway %s: warning: %s\n", (const char *)arg, text);
}

void sw_unread_warn(const struct sw_recipe *recipe, struct json_object *set, const char *command)
{
    sw_unread_given(recipe, set, true, warn, (void *)command);
}
