#include "chart/recipe/plan/split.h"

#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/yaml/yaml.h"

/* The end of the separator at @at with the blanks after it. '\v' is none for Go's regular
 * expressions. */
static size_t separator_end(const struct sw_split *s, size_t at)
{
    at += 3;
    while (at < s->len && sw_split_is_blank(s->text[at]) && s->text[at] != '\v')
        at++;
    return at;
}

/* Where the next separator's dashes are, at or after @at; len: none. A line end must stand before
 * them that belongs to no other separator. */
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

bool sw_split_next(struct sw_split *s)
{
    if (!s->line) {
        s->line = 1;
        while (s->at < s->len && sw_split_is_blank(s->text[s->at]))
            s->at++;
        while (s->len > s->at && sw_split_is_blank(s->text[s->len - 1]))
            s->len--;
        if (s->len - s->at >= 3 && memcmp(s->text + s->at, "---", 3) == 0)
            s->at = separator_end(s, s->at);
    }
    while (s->at < s->len) {
        size_t from = s->at, separator = find_separator(s, from), end = separator;
        s->at = separator < s->len ? separator_end(s, separator) : s->len;
        while (end > from && sw_split_is_blank(s->text[end - 1]))
            end--;
        while (from < end && sw_split_is_blank(s->text[from]))
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
    char *text = sw_alloc(s->doc_len + 1); /* with a line end, which a text at its end keeps */
    memcpy(text, s->doc, s->doc_len);
    text[s->doc_len] = '\n';
    int rc = sw_yaml_parse(text, s->doc_len + 1, &opts, object, err);
    free(text);
    if (rc < 0 || !*object || json_object_is_type(*object, json_type_object))
        return rc;
    (void)json_object_put(SW_TAKE(*object));
    return sw_err_set(err, SW_INVALID, "%s:%d: not a manifest: expected a map", path, s->line);
}
