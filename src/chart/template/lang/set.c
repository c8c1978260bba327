#include "chart/template/lang/set.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chart/template/lang/exec.h"

struct sw_template_set {
    struct sw_arena *arena;
    const struct func_index *funcs;
    struct sw_map *names; /* see sw_scope_define() */
};

struct sw_template_set *sw_template_set_with(const struct func_index *funcs)
{
    struct sw_template_set *set = sw_zalloc(1, sizeof *set);
    set->arena = sw_arena_new();
    sw_arena_limit(set->arena, SW_TEMPLATE_BYTES);
    set->funcs = funcs;
    set->names = sw_map_new(set->arena);
    return set;
}

void sw_template_set_free(struct sw_template_set *set)
{
    if (!set)
        return;
    sw_arena_free(set->arena);
    free(set);
}

int sw_template_add(struct sw_template_set *set, const char *name, const char *text, size_t len,
                    struct sw_err *err)
{
    int most_mib = SW_TEMPLATE_BYTES >> 20;
    if (!sw_arena_has_room(set->arena, len + 1))
        return sw_err_set(err, SW_INVALID, "template %s: the templates take more than %d MiB", name,
                          most_mib);
    struct source *source = sw_arena_alloc(set->arena, sizeof *source);
    struct tmpl *tmpls;
    SW_ERR(local);
    source->name = sw_arena_strdup(set->arena, name);
    source->text = sw_arena_strndup(set->arena, text, len);
    source->len = len;
    int rc = sw_template_parse(set->arena, set->funcs, source, &tmpls, &local);
    if (rc < 0) {
        (void)sw_parse_clean_error(&local, rc, name); /* @local is returned */
        return sw_err_move(err, &local);
    }
    for (; tmpls; tmpls = tmpls->next)
        sw_scope_define(set->names, tmpls);
    if (sw_arena_is_over(set->arena))
        return sw_err_set(err, SW_INVALID, "template %s: the templates take more than %d MiB", name,
                          most_mib);
    return 0;
}

/* ---- order ---- */

static size_t slashes(const char *s)
{
    size_t n = 0;
    for (; (s = strchr(s, '/')); s++)
        n++;
    return n;
}

int sw_template_order(const char *a, const char *b)
{
    size_t na = slashes(a), nb = slashes(b);
    if (na != nb)
        return na > nb ? -1 : 1;
    return strcmp(b, a);
}

bool sw_template_is_partial(const char *name)
{
    const char *slash = strrchr(name, '/');
    return (slash ? slash[1] : name[0]) == '_';
}

/* ---- execution ---- */

enum {
    DEFAULT_DEPTH = 100000, /* as in Go; the C stack has room for less */
    DEFAULT_OUTPUT = 16 << 20,
};

/* The innermost one that runs, for who ends the process. */
static const struct exec *volatile running;
static struct {
    const char *name;
    size_t line;
} place;

void sw_template_place(const char *name, size_t line)
{
    place.line = line;
    place.name = name;
}

bool sw_template_running(const char **name, size_t *line)
{
    const struct exec *x = running;
    const struct frame *f = x ? x->frame : NULL;
    if (!f || !f->node) {
        *name = place.name;
        *line = place.line;
        return place.name;
    }
    const struct source *source = f->tmpl->source;
    *name = source->name;
    *line = 1;
    for (size_t i = 0; i < f->node->pos && i < source->len; i++)
        *line += source->text[i] == '\n';
    return true;
}

int sw_template_exec(const struct sw_template_set *set, const char *name, struct sw_value root,
                     struct sw_arena *arena, const struct sw_template_opts *opts,
                     struct sw_template_out *out, struct sw_err *err)
{
    SW_ERR(local);
    struct scope scope = { .names = set->names };
    struct exec x = { .arena = arena, .funcs = set->funcs, .scope = &scope, .err = &local };
    struct sw_template_opts *o = &x.opts;
    if (opts)
        *o = *opts;
    o->fuel = o->fuel ? o->fuel : SW_TEMPLATE_FUEL;
    o->max_depth = o->max_depth ? o->max_depth : DEFAULT_DEPTH;
    o->max_output_bytes = o->max_output_bytes ? o->max_output_bytes : DEFAULT_OUTPUT;
    if (o->max_output_bytes > SIZE_MAX / 4)
        o->max_output_bytes = SIZE_MAX / 4;
    o->max_memory_bytes = o->max_memory_bytes ? o->max_memory_bytes : SW_TEMPLATE_BYTES;
    if (!o->now_ns) {
        struct timespec ts;
        clock_gettime(CLOCK_REALTIME, &ts);
        o->now_ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
    }
    x.fuel = o->fuel_left ? *o->fuel_left : o->fuel;
    size_t most = sw_arena_used(arena) + o->max_memory_bytes, old = sw_arena_limit(arena, most);
    if (old < most)
        sw_arena_limit(arena, old);
    x.random = x.opts.seed;
    size_t mark = out->len;
    size_t limit = mark + x.opts.max_output_bytes;
    bool roomy = out->cap > limit + 1; /* no need to grow it; the rest is not used */
    x.text = (struct text){ out->text, out->len, roomy ? limit + 1 : out->cap, limit, false };
    if (root.type == SW_T_MAP || root.type == SW_T_VALUES) {
        struct sw_map *t = sw_map_new(arena);
        /* "c/charts/s/templates/x/y.yaml" -> "c/charts/s/templates", of the innermost chart */
        const char *base_end = strchrnul(name, '/');
        while (sw_starts_with(base_end, "/charts/"))
            base_end = strchrnul(base_end + sizeof "/charts/" - 1, '/');
        if (sw_starts_with(base_end, "/templates/"))
            base_end += sizeof "/templates" - 1;
        sw_map_set_borrowed(t, "Name", 4, sw_value_str(arena, name, strlen(name)));
        sw_map_set_borrowed(t, "BasePath", 8, sw_value_str(arena, name, (size_t)(base_end - name)));
        root.type = SW_T_VALUES;
        sw_map_set_borrowed(root.as.map, "Template", 8, sw_value_typed_map(SW_T_VALUES, t));
    }
    struct name n = sw_name(name, strlen(name));
    const struct exec *outer = running;
    running = &x;
    int rc = sw_exec_named(&x, &n, root);
    running = outer;
    free(x.vars);
    sw_arena_limit(arena, old);
    if (o->fuel_left)
        *o->fuel_left = x.fuel;
    if (rc == 0)
        sw_exec_strip_no_value(&x, mark);
    else
        x.text.len = mark;
    out->text = x.text.p;
    out->len = x.text.len;
    out->cap = roomy ? out->cap : x.text.cap;
    if (out->text)
        out->text[out->len] = '\0';
    if (rc == 0)
        return 0;
    rc = sw_exec_clean_error(&local, rc, name);
    sw_err_move(err, &local);
    return rc;
}

void sw_template_out_done(struct sw_template_out *out)
{
    free(out->text);
    *out = (struct sw_template_out){ 0 };
}
