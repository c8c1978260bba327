#include "chart/recipe/plan/split.h"

#include <string.h>

#include "data/json/json.h"
#include "data/yaml/yaml.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/* Behind a separator at @at: blanks belong to it. '\v' is none for Go's regular expressions. */
static size_t behind(const struct sw_split *s, size_t at)
{
    at += 3;
    while (at < s->len && is_blank(s->text[at]) && s->text[at] != '\v')
        at++;
    return at;
}

/* Where the next separator's dashes are, at or after @at; len: none. A line end must stand before
 * them that no separator has taken. */
static size_t find_separator(const struct sw_split *s, size_t at)
{
    for (const char *end = s->text + s->len, *p = s->text + at;
         (p = memchr(p, '\n', (size_t)(end - p)));) {
        p++;
        if (end - p >= 3 && memcmp(p, "---", 3) == 0)
            return (size_t)(p - s->text);
    }
    return s->len;
}

static void start(struct sw_split *s)
{
    s->started = true;
    s->line = 1;
    while (s->at < s->len && is_blank(s->text[s->at]))
        s->at++;
    while (s->len > s->at && is_blank(s->text[s->len - 1]))
        s->len--;
    if (s->len - s->at >= 3 && memcmp(s->text + s->at, "---", 3) == 0)
        s->at = behind(s, s->at);
}

bool sw_split_next(struct sw_split *s)
{
    if (!s->started)
        start(s);
    while (s->at < s->len) {
        size_t from = s->at, separator = find_separator(s, from), end = separator;
        s->at = separator < s->len ? behind(s, separator) : s->len;
        while (end > from && is_blank(s->text[end - 1]))
            end--;
        while (from < end && is_blank(s->text[from]))
            from++;
        if (from == end)
            continue;
        for (; s->counted < from; s->counted++)
            s->line += s->text[s->counted] == '\n';
        s->doc = s->text + from;
        s->doc_len = end - from;
        return true;
    }
    return false;
}

int sw_split_parse(const struct sw_split *s, const char *path, struct json_object **object,
                   struct sw_err *err)
{
    struct sw_yaml_opts opts = { .file = path, .first_line = s->line, .allow_duplicate = true };
    int rc = sw_yaml_parse(s->doc, s->doc_len, &opts, object, err);
    if (rc < 0 || !*object || json_object_is_type(*object, json_type_object))
        return rc;
    (void)json_object_put(SW_TAKE(*object));
    return sw_err_set(err, SW_INVALID, "%s:%d: not a manifest: expected a map", path, s->line);
}
