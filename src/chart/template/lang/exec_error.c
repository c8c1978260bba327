/* The errors of an execution, with their places, and its limits. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "chart/template/lang/exec.h"
#include "data/go/strconv.h"

int sw_exec_fail_at(struct exec *x, int code, const char *what)
{
    const struct frame *f = x->frame;
    const struct source *source = f->tmpl->source;
    struct text t = { .limit = 1 << 26 };
    size_t line = 1, start = 0, pos = f->node->pos;
    for (size_t i = 0; i < pos && i < source->len; i++) {
        if (source->text[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    sw_text_printf(&t, "template: %s:%zu:%zu: executing ", source->name, line, pos - start);
    sw_quote(&t, f->tmpl->name.s, f->tmpl->name.len, 0);
    sw_text_puts(&t, " at <");
    sw_node_print(&t, f->node);
    sw_text_printf(&t, ">: %s", what);
    sw_err_set(x->err, code, "%.*s", (int)t.len, t.p);
    free(t.p);
    return code;
}

int sw_exec_fail(struct exec *x, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *what = sw_vprintf(fmt, ap);
    va_end(ap);
    return sw_exec_fail_at(x, SW_INVALID, what);
}

int sw_exec_exhausted(struct exec *x)
{
    if (sw_arena_is_over(x->arena))
        return sw_exec_fail(x, "took more than its %zu MiB of memory",
                            x->opts.max_memory_bytes >> 20);
    return sw_exec_fail(x, "took more than its %llu steps", (unsigned long long)x->opts.fuel);
}

int sw_exec_check_output(struct exec *x)
{
    if (!x->text.over)
        return 0;
    return sw_exec_fail(x, "the output is larger than %zu bytes", x->opts.max_output_bytes);
}

/* The depth is without end where a template includes itself. */
int sw_exec_check_depth(struct exec *x)
{
    if (x->depth >= x->opts.max_depth)
        return sw_exec_fail(x, "exceeded maximum template depth (%u)", x->depth);
    return sw_exec_check_stack(x);
}

int sw_exec_check_stack(struct exec *x)
{
    if (!sw_stack_has_room())
        return sw_exec_fail(x, "exceeded maximum template depth (%u)", x->depth);
    return 0;
}

/* ---- Helm's wording of errors ---- */

/* "template: LOCATION: REST" -> LOCATION and REST, or false. */
static bool split_error(char *text, char **location, char **rest)
{
    char *a = strstr(text, ": ");
    char *b = a ? strstr(a + 2, ": ") : NULL;
    if (!b)
        return false;
    *b = '\0';
    *location = a + 2;
    *rest = b + 2;
    return true;
}

int sw_exec_clean_error(struct sw_err *err, int rc, const char *file)
{
    static const char start[] = "HELM_ERR_START", end[] = "HELM_ERR_END";
    char *location, *rest;
    SW_AUTO_CHARS *text = sw_strdup(sw_err_text(err));
    if (!sw_starts_with(text, "template: "))
        return rc;
    if (!split_error(text, &location, &rest))
        return sw_err_set(err, rc, "execution error in (%s): %s", file, sw_err_text(err));
    char *from = strstr(rest, start), *to = NULL;
    for (char *p = from; p && (p = strstr(p, end)); p++)
        to = p;
    if (!to)
        return rc;
    from += sizeof start - 1;
    if (to < from)
        return rc;
    return sw_err_set(err, rc, "execution error at (%s): %.*s", location, (int)(to - from), from);
}

int sw_parse_clean_error(struct sw_err *err, int rc, const char *file)
{
    char *location, *rest;
    SW_AUTO_CHARS *text = sw_strdup(sw_err_text(err));
    if (!split_error(text, &location, &rest))
        return sw_err_set(err, rc, "parse error in (%s): %s", file, sw_err_text(err));
    for (char *next; (next = strstr(rest, ": "));)
        rest = next + 2;
    return sw_err_set(err, rc, "parse error at (%s): %s", location, rest);
}
