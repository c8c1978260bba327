#include "emulator/rules/rules_read.h"

#include "data/text/time.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sw_read_fail(const struct reader *r, struct sw_err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)sw_err_vset(err, SW_INVALID, fmt, ap);
    va_end(ap);
    return sw_err_wrap(err, SW_INVALID, "%s:%d%s%s", r->file, r->line, *r->path ? ": " : "",
                       r->path);
}

size_t sw_read_enter(struct reader *r, const char *key, size_t index)
{
    size_t len = strlen(r->path), room = sizeof r->path - len;
    if (key)
        (void)snprintf(r->path + len, room, "%s%s", len ? "." : "", key);
    else
        (void)snprintf(r->path + len, room, "[%zu]", index);
    return len;
}

void sw_read_leave(struct reader *r, size_t len)
{
    r->path[len] = '\0';
}

int sw_read_fields(struct reader *r, const struct field *fields, size_t n_fields, void *into,
                   json_object *map, struct sw_err *err)
{
    if (!json_object_is_type(map, json_type_object))
        return sw_read_fail(r, err, "expected a mapping, found %s",
                            json_type_to_name(json_object_get_type(map)));
    json_object_object_foreach(map, key, value)
    {
        size_t i = 0;
        while (i < n_fields && !sw_streq(fields[i].key, key))
            i++;
        if (i == n_fields)
            return sw_read_fail(r, err, "unknown key '%s'", key);
        size_t up = sw_read_enter(r, key, 0);
        int rc = fields[i].read(r, (char *)into + fields[i].member, value, err);
        sw_read_leave(r, up);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- values -------------------------------------------------------------------------------------
 */

/* Parse a template; equal texts are parsed once. */
static int add_template(struct reader *r, const char *text, struct sw_err *err)
{
    struct rule_set *set = r->set;
    if (!sw_text_is_template(text) || lh_table_lookup_entry(set->names, text))
        return 0;
    SW_AUTO_CHARS *name = sw_printf("%s:%d:%s:%d", r->file, r->line, r->path,
                                    lh_table_length(set->names));
    SW_ERR(inner);
    if (sw_template_add(set->templates, name, text, strlen(text), &inner) < 0)
        return sw_read_fail(r, err, "%s", sw_err_text(&inner));
    (void)lh_table_insert(set->names, sw_strdup(text), SW_TAKE(name));
    return 0;
}

int sw_read_templates(struct reader *r, json_object *tree, struct sw_err *err)
{
    int rc = 0;
    if (json_object_is_type(tree, json_type_string))
        return add_template(r, json_object_get_string(tree), err);
    for (size_t i = 0;
         rc == 0 && json_object_is_type(tree, json_type_array) && i < sw_json_len(tree); i++) {
        size_t up = sw_read_enter(r, NULL, i);
        rc = sw_read_templates(r, sw_json_at(tree, i), err);
        sw_read_leave(r, up);
    }
    if (rc < 0 || !json_object_is_type(tree, json_type_object))
        return rc;
    json_object_object_foreach(tree, key, value)
    {
        size_t up = sw_read_enter(r, key, 0);
        rc = add_template(r, key, err);
        rc = rc < 0 ? rc : sw_read_templates(r, value, err);
        sw_read_leave(r, up);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int sw_read_text(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    char **text = into;
    if (!json_object_is_type(value, json_type_string))
        return sw_read_fail(r, err, "expected a string, found %s",
                            json_type_to_name(json_object_get_type(value)));
    sw_text_set(text, json_object_get_string(value));
    return add_template(r, *text, err);
}

int sw_read_bool(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    if (!json_object_is_type(value, json_type_boolean))
        return sw_read_fail(r, err, "expected true or false");
    *(bool *)into = json_object_get_boolean(value);
    return 0;
}

int sw_read_delay(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    const char *text = json_object_get_string(value);
    if (!json_object_is_type(value, json_type_string) || sw_span_parse(text, into, NULL) < 0)
        return sw_read_fail(r, err, "expected a time such as 200ms, 2s or 1m");
    return 0;
}

int sw_read_regex(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    regex_t **old = into, *re = NULL;
    char why[128];
    if (!json_object_is_type(value, json_type_string))
        return sw_read_fail(r, err, "expected a regular expression");
    re = sw_zalloc(1, sizeof *re);
    int rc = regcomp(re, json_object_get_string(value), REG_EXTENDED);
    if (rc) {
        (void)regerror(rc, re, why, sizeof why);
        free(re);
        return sw_read_fail(r, err, "'%s': %s", json_object_get_string(value), why);
    }
    if (*old)
        regfree(*old);
    free(*old);
    *old = re;
    return 0;
}

int sw_read_value(struct reader *r, void *into, json_object *value, struct sw_err *err)
{
    json_object **old = into;
    json_object_put(*old);
    *old = json_object_get(value);
    return sw_read_templates(r, value, err);
}
