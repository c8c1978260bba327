#include "chart/recipe/load/ignore.h"

#include <stdlib.h>
#include <string.h>

#include "chart/recipe/load/glob.h"

/* The form of a pattern. Nearly all are a name, or "*" and the end of one. */
enum form { FORM_NAME, FORM_SUFFIX, FORM_GLOB };

struct rule {
    char *pattern;
    size_t len;
    enum form form;
    bool negated;  /* "!..." */
    bool dir_only; /* ".../" */
    bool by_path;  /* it holds a '/': compared to the whole path, else to the base name */
};

struct sw_ignore {
    struct rule *rules;
    size_t n, cap;
};

static int add_rule(struct sw_ignore *ignore, const char *text, size_t len, struct sw_err *err)
{
    while (len > 0 && strchr(" \t\r\v\f", text[0]))
        text++, len--;
    while (len > 0 && strchr(" \t\r\v\f", text[len - 1]))
        len--;
    if (len == 0 || text[0] == '#')
        return 0;
    struct rule rule = { .negated = text[0] == '!' };
    text += rule.negated;
    len -= rule.negated;
    rule.dir_only = len > 0 && text[len - 1] == '/';
    len -= rule.dir_only;
    bool rooted = len > 0 && text[0] == '/';
    rule.pattern = sw_strndup(text + rooted, len - rooted);
    rule.len = strlen(rule.pattern);
    rule.by_path = rooted || strchr(rule.pattern, '/');
    bool is_suffix = *rule.pattern == '*' && !rule.by_path;
    rule.form = strpbrk(rule.pattern + is_suffix, "*?[\\") ? FORM_GLOB
                : is_suffix                                ? FORM_SUFFIX
                                                           : FORM_NAME;
    SW_GROW(ignore->rules, ignore->n, ignore->cap);
    ignore->rules[ignore->n++] = rule;
    if (strstr(rule.pattern, "**"))
        return sw_err_set(err, SW_INVALID, "'%s': double stars are not supported", rule.pattern);
    if (sw_recipe_glob(rule.pattern, "abc") == SW_GLOB_BAD)
        return sw_err_set(err, SW_INVALID, "'%s': malformed pattern", rule.pattern);
    return 0;
}

int sw_ignore_new(const char *name, const char *text, size_t len, struct sw_ignore **out,
                  struct sw_err *err)
{
    SW_AUTO(sw_ignore) *ignore = sw_zalloc(1, sizeof *ignore);
    for (int line = 1; text && len > 0; line++) {
        const char *end = memchr(text, '\n', len);
        size_t line_len = end ? (size_t)(end - text) : len;
        if (memchr(text, '\0', line_len))
            return sw_err_set(err, SW_INVALID, "%s:%d: a NUL byte", name, line);
        int rc = add_rule(ignore, text, line_len, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "%s:%d", name, line);
        len -= line_len + (end != NULL);
        text += line_len + (end != NULL);
    }
    int rc = add_rule(ignore, "templates/.?*", strlen("templates/.?*"), err);
    if (rc < 0)
        return rc;
    *out = SW_TAKE(ignore);
    return 0;
}

void sw_ignore_free(struct sw_ignore *ignore)
{
    if (!ignore)
        return;
    for (size_t i = 0; i < ignore->n; i++)
        free(ignore->rules[i].pattern);
    free(ignore->rules);
    free(ignore);
}

/* @len: of @name, its length. */
static bool fits_name(const struct rule *rule, const char *name, size_t len)
{
    switch (rule->form) {
    case FORM_NAME:
        return len == rule->len && memcmp(name, rule->pattern, len) == 0;
    case FORM_SUFFIX:
        return len + 1 >= rule->len &&
               memcmp(name + len + 1 - rule->len, rule->pattern + 1, rule->len - 1) == 0;
    case FORM_GLOB:
        break;
    }
    return sw_recipe_glob(rule->pattern, name) == SW_GLOB_YES;
}

bool sw_ignore_match(const struct sw_ignore *ignore, const char *path, bool is_dir)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t len = strlen(path), base_len = len - (size_t)(base - path);
    for (size_t i = 0; i < ignore->n; i++) {
        const struct rule *rule = &ignore->rules[i];
        bool fit = (!rule->dir_only || is_dir) &&
                   fits_name(rule, rule->by_path ? path : base, rule->by_path ? len : base_len);
        if (fit != rule->negated)
            return true;
    }
    return false;
}
