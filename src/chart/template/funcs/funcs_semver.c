/* sprig's semantic versions. */
#include "data/text/semver.h"

#include "chart/template/funcs/funcs.h"
#include "chart/template/lang/exec.h"
#include "chart/template/value/object.h"

static void version_string(const struct sw_object *o, struct text *out)
{
    SW_AUTO_CHARS *s = sw_semver_text(o->data);
    sw_text_puts(out, s);
}

static struct sw_value version_json(const struct sw_object *o, struct sw_arena *arena)
{
    SW_AUTO_CHARS *s = sw_semver_text(o->data);
    return sw_value_str(arena, s, strlen(s));
}

static bool version_equal(const struct sw_object *a, const struct sw_object *b)
{
    SW_AUTO_CHARS *x = sw_semver_text(a->data);
    SW_AUTO_CHARS *y = sw_semver_text(b->data);
    return strcmp(x, y) == 0;
}

static const struct func version_methods[];

static const struct sw_field version_fields[] = {
    { .name = "major" }, { .name = "minor" },    { .name = "patch" },
    { .name = "pre" },   { .name = "metadata" }, { .name = "original" },
};

/* A *semver.Version, and the semver.Version that the Inc methods return. */
static const struct sw_object_type pointer_type = {
    .name = "*semver.Version",
    .pointer = true,
    .fields = version_fields,
    .n_fields = SW_COUNT(version_fields),
    .methods = version_methods,
    .string = version_string,
    .json = version_json,
    .equal = version_equal,
};

static const struct sw_object_type value_type = {
    .name = "semver.Version",
    .fields = version_fields,
    .n_fields = SW_COUNT(version_fields),
    .methods = version_methods,
    .string = version_string,
    .json = version_json,
    .equal = version_equal,
};

/* The version as it was written is kept in @original. */
struct version {
    struct sw_semver v;
    const char *original;
};

static int return_version(struct call *c, const struct sw_object_type *type, struct version version)
{
    struct sw_object *o = sw_object_new(c->arena, type);
    struct version *data = sw_arena_alloc(c->arena, sizeof *data);
    *data = version;
    o->data = data;
    const uint64_t numbers[] = { version.v.major, version.v.minor, version.v.patch };
    for (size_t i = 0; i < SW_COUNT(numbers); i++)
        o->fields[i] = (struct sw_value){ .type = SW_T_UINT64, .as.u = numbers[i] };
    o->fields[3] = sw_value_text(version.v.pre, version.v.pre_len);
    o->fields[4] = sw_value_text(version.v.meta, version.v.meta_len);
    o->fields[5] = sw_value_cstr(version.original);
    return sw_return(c, sw_value_object(o));
}

static const struct version *self(const struct call *c)
{
    return c->self.as.object->data;
}

/* A field by its number, such as Major. */
static int fn_field(struct call *c)
{
    return sw_return(c, c->self.as.object->fields[c->func->variant]);
}

static int fn_version_string(struct call *c)
{
    return sw_return(c, version_json(c->self.as.object, c->arena));
}

/* Return a version made of the receiver. */
static int return_changed(struct call *c, struct version next)
{
    SW_AUTO_CHARS *s = sw_semver_text(&next.v);
    next.original = sw_arena_printf(c->arena, "%s%s", self(c)->original[0] == 'v' ? "v" : "", s);
    return return_version(c, &value_type, next);
}

enum { PATCH, MINOR, MAJOR };

static int fn_increment(struct call *c)
{
    struct version next = *self(c);
    bool was_pre = next.v.pre_len > 0;
    next.v.pre_len = next.v.meta_len = 0;
    if (c->func->variant == MAJOR) {
        next.v.major++;
        next.v.minor = next.v.patch = 0;
    } else if (c->func->variant == MINOR) {
        next.v.minor++;
        next.v.patch = 0;
    } else if (!was_pre) {
        next.v.patch++;
    }
    return return_changed(c, next);
}

/* SetPrerelease, SetMetadata: by reading the whole again. */
static int fn_set_suffix(struct call *c)
{
    struct version next = *self(c);
    struct sw_value s = c->args[0];
    bool meta = c->func->variant;
    struct sw_semver checked;
    const char *text = sw_arena_printf(c->arena, "0.0.0%s%.*s", s.len ? meta ? "+" : "-" : "",
                                       (int)s.len, s.as.s);
    SW_ERR(why);
    if (sw_semver_parse(text, strlen(text), &checked, &why) < 0)
        return sw_call_fail(c, "%s",
                            strstr(sw_err_text(&why), "starts with 0") ? sw_err_text(&why)
                            : meta                                     ? "invalid metadata string"
                                   : "invalid prerelease string");
    if (meta) {
        next.v.meta = checked.meta;
        next.v.meta_len = checked.meta_len;
    } else {
        next.v.pre = checked.pre;
        next.v.pre_len = checked.pre_len;
    }
    return return_changed(c, next);
}

static int fn_compare(struct call *c)
{
    if (c->args[0].type != SW_T_OBJECT)
        return sw_call_nil_deref(c);
    const struct version *other = c->args[0].as.object->data;
    return sw_return_order(c, sw_semver_compare(&self(c)->v, &other->v));
}

static const struct func version_methods[] = {
    { "Major", fn_field, "", "the major number", 0, 0 },
    { "Minor", fn_field, "", "the minor number", 1, 0 },
    { "Patch", fn_field, "", "the patch number", 2, 0 },
    { "Prerelease", fn_field, "", "such as rc.1", 3, 0 },
    { "Metadata", fn_field, "", "such as build.5", 4, 0 },
    { "Original", fn_field, "", "the version as it was written", 5, 0 },
    { "String", fn_version_string, "", "the version in full", 0, 0 },
    { "IncMajor", fn_increment, "", "the next major version", MAJOR, 0 },
    { "IncMinor", fn_increment, "", "the next minor version", MINOR, 0 },
    { "IncPatch", fn_increment, "", "the next patch version", PATCH, 0 },
    { "SetPrerelease", fn_set_suffix, "s", "with another prerelease", 0, 0 },
    { "SetMetadata", fn_set_suffix, "s", "with other metadata", 1, 0 },
    { "Compare", fn_compare, "x", "-1, 0 or 1", SW_ORDER_NUMBER, 0 },
    { "LessThan", fn_compare, "x", "whether it comes before another", SW_ORDER_LESS, 0 },
    { "GreaterThan", fn_compare, "x", "whether it comes after another", SW_ORDER_GREATER, 0 },
    { "Equal", fn_compare, "x", "whether it equals another", SW_ORDER_EQUAL, 0 },
    { 0 },
};

static int fn_semver(struct call *c)
{
    struct version v;
    const char *text = sw_arena_strndup(c->arena, c->args[0].as.s, c->args[0].len);
    v.original = text;
    int rc = sw_semver_parse(text, c->args[0].len, &v.v, c->x->err);
    return rc < 0 ? rc : return_version(c, &pointer_type, v);
}

static int fn_semver_compare(struct call *c)
{
    SW_AUTO(sw_semver_range) *range = NULL;
    struct sw_semver v;
    int rc = sw_semver_range_parse(c->args[0].as.s, c->args[0].len, &range, c->x->err);
    if (rc == 0)
        rc = sw_semver_parse(c->args[1].as.s, c->args[1].len, &v, c->x->err);
    return rc < 0 ? rc : sw_return(c, sw_value_bool(sw_semver_range_has(range, &v)));
}

const struct func sw_funcs_semver[] = {
    { "semver", fn_semver, "s", "a semantic version: its Major, Minor, Prerelease, ...", 0, 0 },
    { "semverCompare", fn_semver_compare, "ss", "whether a version satisfies a constraint", 0, 0 },
    { 0 },
};
