#include "data/cel/cel_types.h"

#include <string.h>

#include "data/cel/cel.h"
#include "data/data.h"
#include "data/text/semver.h"

/* ---- marks --------------------------------------------------------------------------------------
 */

static char quantity_mark, semver_mark, open_mark;

static json_object *marked(json_object *value, char *mark)
{
    json_object_set_userdata(value, mark, NULL);
    return value;
}

json_object *sw_cel_quantity(const char *text)
{
    return marked(json_object_new_string(text), &quantity_mark);
}

json_object *sw_cel_semver(const char *text)
{
    return marked(json_object_new_string(text), &semver_mark);
}

json_object *sw_cel_open_map(void)
{
    return marked(json_object_new_object(), &open_mark);
}

static bool is(json_object *value, const char *mark)
{
    return value && json_object_get_userdata(value) == mark;
}

bool sw_cel_is_open_map(json_object *value)
{
    return is(value, &open_mark);
}

bool sw_cel_is_typed(json_object *value)
{
    return is(value, &quantity_mark) || is(value, &semver_mark);
}

/* ---- values -------------------------------------------------------------------------------------
 */

static bool read_quantity(json_object *value, struct sw_quantity *out)
{
    SW_ERR(err);
    return json_object_is_type(value, json_type_string) &&
           sw_quantity_parse(json_object_get_string(value), out, &err) == 0;
}

/* A version with all of its numbers, "1.2.3"; nothing is in front of it. */
static bool read_version(json_object *value, struct sw_semver *out)
{
    SW_ERR(err);
    const char *text = json_object_get_string(value);
    size_t dots = 0;
    if (!json_object_is_type(value, json_type_string) || *text < '0' || *text > '9')
        return false;
    for (const char *at = text; *at && *at != '-' && *at != '+'; at++)
        dots += *at == '.';
    return dots == 2 && sw_semver_parse(text, strlen(text), out, &err) == 0;
}

json_object *sw_cel_convert(const char *function, json_object *text, bool *failed)
{
    struct sw_quantity q;
    struct sw_semver v;
    *failed = false;
    if (sw_streq(function, "isQuantity"))
        return json_object_new_boolean(read_quantity(text, &q));
    if (sw_streq(function, "isSemver"))
        return json_object_new_boolean(read_version(text, &v));
    if (sw_streq(function, "quantity") && read_quantity(text, &q))
        return sw_cel_quantity(json_object_get_string(text));
    if (sw_streq(function, "semver") && read_version(text, &v))
        return sw_cel_semver(json_object_get_string(text));
    *failed = sw_streq(function, "quantity") || sw_streq(function, "semver");
    return NULL;
}

/* ---- methods ------------------------------------------------------------------------------------
 */

/* @return whether both are of one type; *@order: how they compare */
static bool compare(json_object *a, json_object *b, int *order)
{
    struct sw_quantity p, q;
    struct sw_semver v, w;
    if (is(a, &quantity_mark) && is(b, &quantity_mark) && read_quantity(a, &p) &&
        read_quantity(b, &q)) {
        *order = sw_quantity_cmp(&p, &q);
        return true;
    }
    if (!is(a, &semver_mark) || !is(b, &semver_mark) || !read_version(a, &v) ||
        !read_version(b, &w))
        return false;
    *order = sw_semver_compare(&v, &w);
    return true;
}

static json_object *number_of(json_object *self, const char *method)
{
    struct sw_quantity q;
    struct sw_semver v;
    if (is(self, &quantity_mark) && read_quantity(self, &q)) {
        if (sw_streq(method, "sign"))
            return json_object_new_int((q.nano > 0) - (q.nano < 0));
        if (sw_streq(method, "isInteger"))
            return json_object_new_boolean(q.nano % 1000000000 == 0);
        if (sw_streq(method, "asInteger") && q.nano % 1000000000 == 0)
            return json_object_new_int64(sw_quantity_value(&q));
    }
    if (is(self, &semver_mark) && read_version(self, &v)) {
        if (sw_streq(method, "major"))
            return json_object_new_int64((int64_t)v.major);
        if (sw_streq(method, "minor"))
            return json_object_new_int64((int64_t)v.minor);
        if (sw_streq(method, "patch"))
            return json_object_new_int64((int64_t)v.patch);
    }
    return NULL;
}

json_object *sw_cel_method(json_object *self, const char *method, json_object *argument,
                           bool *failed)
{
    int order = 0;
    *failed = false;
    if (!argument)
        return number_of(self, method);
    const bool compares = sw_streq(method, "compareTo") || sw_streq(method, "isGreaterThan") ||
                          sw_streq(method, "isLessThan");
    *failed = compares && !compare(self, argument, &order);
    if (!compares || *failed)
        return NULL;
    if (sw_streq(method, "compareTo"))
        return json_object_new_int((order > 0) - (order < 0));
    return json_object_new_boolean(sw_streq(method, "isGreaterThan") ? order > 0 : order < 0);
}
