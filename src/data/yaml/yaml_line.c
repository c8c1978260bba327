/* The line of a field: the document is parsed again until its key, where the parser's sink returns
 * an error; the parser adds the line to it. */
#include <stdlib.h>
#include <string.h>

#include "data/json/sink.h"
#include "data/yaml/yaml.h"

enum { DEEPEST = 64 };

struct walk {
    const char *wanted;
    char *path; /* of the current value */
    size_t len, cap;
    int depth;
    struct level {
        size_t len; /* of the path */
        long index; /* in a list; -1: a map */
    } levels[DEEPEST];
};

static void put(struct walk *w, const char *text, size_t len)
{
    if (w->len + len + 1 > w->cap) {
        w->cap = 2 * (w->len + len + 1);
        w->path = sw_realloc(w->path, w->cap, 1);
    }
    memcpy(w->path + w->len, text, len);
    w->len += len;
    w->path[w->len] = '\0';
}

static int here(const struct walk *w, struct sw_err *err)
{
    return strcmp(w->path, w->wanted) == 0 ? sw_err_set(err, SW_INVALID, "here") : 0;
}

/* A value begins: in a list, the next element. */
static int value(struct walk *w, struct sw_err *err)
{
    struct level *in = &w->levels[w->depth];
    if (in->index < 0)
        return 0;
    SW_AUTO_CHARS *index = sw_printf("[%ld]", in->index++);
    w->len = in->len;
    put(w, index, strlen(index));
    return here(w, err);
}

static int enter(struct walk *w, long index, struct sw_err *err)
{
    int rc = value(w, err);
    if (rc < 0)
        return rc;
    if (w->depth + 1 == DEEPEST)
        return sw_err_set(err, SW_INVALID, "too deep");
    w->levels[++w->depth] = (struct level){ w->len, index };
    return 0;
}

static int on_null(void *arg, struct sw_err *err)
{
    return value(arg, err);
}

static int on_boolean(void *arg, bool v SW_UNUSED, struct sw_err *err)
{
    return value(arg, err);
}

static int on_integer(void *arg, int64_t v SW_UNUSED, struct sw_err *err)
{
    return value(arg, err);
}

static int on_natural(void *arg, uint64_t v SW_UNUSED, struct sw_err *err)
{
    return value(arg, err);
}

static int on_real(void *arg, double v SW_UNUSED, const char *text SW_UNUSED, size_t len SW_UNUSED,
                   struct sw_err *err)
{
    return value(arg, err);
}

static int on_string(void *arg, const char *text SW_UNUSED, size_t len SW_UNUSED,
                     struct sw_err *err)
{
    return value(arg, err);
}

static int on_begin_map(void *arg, struct sw_err *err)
{
    return enter(arg, -1, err);
}

static int on_begin_list(void *arg, struct sw_err *err)
{
    return enter(arg, 0, err);
}

static int on_end(void *arg, struct sw_err *err SW_UNUSED)
{
    struct walk *w = arg;
    w->depth--;
    return 0;
}

static int on_key(void *arg, const char *text, size_t len, struct sw_err *err)
{
    struct walk *w = arg;
    w->len = w->levels[w->depth].len;
    if (w->len > 0)
        put(w, ".", 1);
    put(w, text, len);
    return here(w, err);
}

int sw_yaml_line(const char *yaml, size_t len_bytes, int first_line, const char *path)
{
    static const struct sw_sink_ops ops = {
        .null = on_null,
        .boolean = on_boolean,
        .integer = on_integer,
        .natural = on_natural,
        .real = on_real,
        .string = on_string,
        .begin_map = on_begin_map,
        .key = on_key,
        .end_map = on_end,
        .begin_list = on_begin_list,
        .end_list = on_end,
    };
    struct walk w = { .wanted = path, .levels = { { 0, -1 } } };
    const struct sw_yaml_opts opts = { .first_line = first_line, .allow_duplicate = true };
    SW_ERR(err);
    int line = first_line;
    put(&w, "", 0);
    if (sw_yaml_read(yaml, len_bytes, &opts, &(struct sw_sink){ &ops, &w }, &err) < 0 &&
        strstr(sw_err_text(&err), ": here"))
        line = (int)strtol(sw_err_text(&err), NULL, 10);
    free(w.path);
    return line;
}
