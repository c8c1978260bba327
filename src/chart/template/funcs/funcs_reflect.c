/* sprig's functions on types, and on paths. */
#include "chart/template/funcs/funcs.h"

enum { TYPE, TYPE_LIKE, KIND };

static const char *name_of(const struct call *c, struct sw_value v)
{
    return c->func->variant == KIND ? sw_value_kind_name(v) : sw_value_type_name(v);
}

/* typeOf, kindOf */
static int fn_name(struct call *c)
{
    return sw_return(c, sw_value_cstr(name_of(c, c->args[0])));
}

/* typeIs, typeIsLike (also for a pointer to the type), kindIs */
static int fn_is_named(struct call *c)
{
    const char *name = name_of(c, c->args[1]), *want = c->args[0].as.s;
    size_t len = c->args[0].len;
    bool is = sw_is_text(want, len, name) ||
              (c->func->variant == TYPE_LIKE && name[0] == '*' && sw_is_text(want, len, name + 1));
    return sw_return(c, sw_value_bool(is));
}

static int fn_deep_equal(struct call *c)
{
    return sw_return(c, sw_value_bool(sw_call_equal(c, c->args[0], c->args[1])));
}

const struct func sw_funcs_reflect[] = {
    { "typeOf", fn_name, "v", "the name of the Go type", TYPE, 0 },
    { "typeIs", fn_is_named, "sv", "whether the value's type has the name", TYPE, 0 },
    { "typeIsLike", fn_is_named, "sv", "as typeIs, or a pointer to the type", TYPE_LIKE, 0 },
    { "kindOf", fn_name, "v", "string, int, float64, slice, map, ...", KIND, 0 },
    { "kindIs", fn_is_named, "sv", "whether the value is of the kind", KIND, 0 },
    { "deepEqual", fn_deep_equal, "vv", "whether the two are equal all the way down", 0, 0 },
    { 0 },
};

/* ---- paths ---- */

/* Return a path as path.Clean makes it: no empty, "." or inner ".." elements. */
static int return_clean(struct call *c, const char *s, size_t len)
{
    size_t floor;
    struct text *t = c->text;
    bool rooted = len > 0 && s[0] == '/';
    if (rooted)
        sw_text_char(t, '/');
    floor = t->len; /* ".." goes no further back than here */
    for (size_t i = 0; i < len;) {
        const char *slash = memchr(s + i, '/', len - i);
        size_t end = slash ? (size_t)(slash - s) : len, n = end - i;
        if (n == 2 && memcmp(s + i, "..", 2) == 0) {
            if (t->len > floor) {
                while (t->len > floor && t->p[t->len - 1] != '/')
                    t->len--;
                if (t->len > floor)
                    t->len--;
            } else if (!rooted) {
                sw_text_puts(t, t->len > c->mark ? "/.." : "..");
                floor = t->len;
            }
        } else if (n > 0 && !(n == 1 && s[i] == '.')) {
            if (t->len > c->mark + rooted)
                sw_text_char(t, '/');
            sw_text_put(t, s + i, n);
        }
        i = end + 1;
    }
    if (t->len == c->mark)
        sw_text_char(t, '.');
    return sw_return_text(c);
}

static int fn_clean(struct call *c)
{
    return return_clean(c, c->args[0].as.s, c->args[0].len);
}

static int fn_base(struct call *c)
{
    const char *s = c->args[0].as.s;
    size_t len = c->args[0].len;
    if (len == 0)
        return sw_return(c, sw_value_cstr("."));
    len = sw_before_slashes(s, len, 0);
    if (len == 0)
        return sw_return(c, sw_value_cstr("/"));
    const char *slash = memrchr(s, '/', len);
    size_t from = slash ? (size_t)(slash + 1 - s) : 0;
    return sw_return(c, sw_value_text(s + from, len - from));
}

static int fn_dir(struct call *c)
{
    const char *s = c->args[0].as.s, *slash = memrchr(s, '/', c->args[0].len);
    return return_clean(c, s, slash ? (size_t)(slash + 1 - s) : 0);
}

static int fn_ext(struct call *c)
{
    const char *s = c->args[0].as.s;
    for (size_t i = c->args[0].len; i-- > 0 && s[i] != '/';) {
        if (s[i] == '.')
            return sw_return(c, sw_value_text(s + i, c->args[0].len - i));
    }
    return sw_return(c, sw_value_text("", 0));
}

static int fn_is_abs(struct call *c)
{
    return sw_return(c, sw_value_bool(c->args[0].len > 0 && c->args[0].as.s[0] == '/'));
}

const struct func sw_funcs_paths[] = {
    { "base", fn_base, "s", "a path's last part", 0, 0 },
    { "dir", fn_dir, "s", "a path without its last part", 0, 0 },
    { "clean", fn_clean, "s", "a path without empty, . and inner .. parts", 0, 0 },
    { "ext", fn_ext, "s", "a path's extension, its dot included", 0, 0 },
    { "isAbs", fn_is_abs, "s", "whether a path begins at the root", 0, 0 },
    { "osBase", fn_base, "s", "as base", 0, 0 },
    { "osDir", fn_dir, "s", "as dir", 0, 0 },
    { "osClean", fn_clean, "s", "as clean", 0, 0 },
    { "osExt", fn_ext, "s", "as ext", 0, 0 },
    { "osIsAbs", fn_is_abs, "s", "as isAbs", 0, 0 },
    { 0 },
};
