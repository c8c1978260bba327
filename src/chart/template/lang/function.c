#include "chart/template/lang/function.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>

/* ---- finding ---- */

enum { SLOTS = 1024 };

struct func_index {
    const struct func *slots[SLOTS];
};

static void insert(struct func_index *index, const struct func *f)
{
    uint32_t slot = sw_name_hash(f->name, strlen(f->name)) % SLOTS;
    for (; index->slots[slot]; slot = (slot + 1) % SLOTS) {
        if (strcmp(index->slots[slot]->name, f->name) == 0)
            return; /* an earlier table has it */
    }
    index->slots[slot] = f;
}

static struct func_index all; /* of constant tables: made once, then never changed */

static void fill(void)
{
    for (size_t t = 0; t < sw_func_tables_n; t++) {
        for (const struct func *f = sw_func_tables[t].rows; f->name; f++)
            insert(&all, f);
    }
}

const struct func_index *sw_func_index(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, fill);
    return &all;
}

const struct func *sw_func_find(const struct func_index *index, const char *name, size_t len)
{
    uint32_t slot = sw_name_hash(name, len) % SLOTS;
    for (; index->slots[slot]; slot = (slot + 1) % SLOTS) {
        const struct func *f = index->slots[slot];
        if (strncmp(f->name, name, len) == 0 && f->name[len] == '\0')
            return f;
    }
    return NULL;
}

/* ---- describing ---- */

const char *sw_param_type_name(char param)
{
    switch (param) {
    case 'v':
        return "interface {}";
    case 'r':
        return "reflect.Value";
    case 's':
        return "string";
    case 'b':
        return "bool";
    case 'i':
        return "int";
    case 'I':
        return "int64";
    case 'f':
        return "float64";
    case 'm':
        return "map[string]interface {}";
    case 'l':
        return "[]interface {}";
    case 'S':
        return "[]string";
    case 'y':
        return "[]uint8";
    case 't':
        return "time.Time";
    case 'd':
        return "time.Duration";
    case 'M':
        return "time.Month";
    case 'V':
        return "chartutil.Values";
    case 'x':
        return "*semver.Version";
    case 'u':
        return "uint32";
    case 'c':
        return "sprig.certificate";
    default:
        return "?";
    }
}

void sw_func_signature(struct text *out, const struct func *f)
{
    bool variadic;
    size_t fixed = sw_func_arity(f, &variadic);
    sw_text_char(out, '(');
    for (size_t i = 0; i < fixed + variadic; i++) {
        if (i > 0)
            sw_text_puts(out, ", ");
        if (i == fixed)
            sw_text_puts(out, "...");
        sw_text_puts(out, sw_param_type_name(f->params[i]));
    }
    sw_text_char(out, ')');
}

const struct sw_template_func_doc *sw_template_func_docs(struct sw_arena *arena, size_t *n)
{
    struct text t = { .limit = 1 << 12 };
    size_t count = 0, len;
    for (size_t i = 0; i < sw_func_tables_n; i++) {
        for (const struct func *f = sw_func_tables[i].rows; f->name; f++)
            count++;
    }
    struct sw_template_func_doc *docs = sw_arena_alloc(arena, count * sizeof *docs), *d = docs;
    for (size_t i = 0; i < sw_func_tables_n; i++) {
        for (const struct func *f = sw_func_tables[i].rows; f->name; f++, d++) {
            sw_func_signature(&t, f);
            *d = (struct sw_template_func_doc){ f->name, sw_func_tables[i].area,
                                                sw_text_take(&t, 0, arena, &len), f->doc };
        }
    }
    free(t.p);
    *n = count;
    return docs;
}

/* ---- for the functions' bodies ---- */

int sw_call_fail(struct call *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *what = sw_vprintf(fmt, ap); /* may quote what the error says now */
    va_end(ap);
    return sw_err_set(c->x->err, SW_INVALID, "%s", what);
}

int sw_call_nil_deref(struct call *c)
{
    return sw_call_fail(c, "runtime error: invalid memory address or nil pointer dereference");
}

int sw_return_text(struct call *c, size_t mark)
{
    size_t len;
    const char *s = sw_text_take(sw_exec_text(c->x), mark, c->arena, &len);
    return sw_return(c, sw_value_text(s, len));
}

int sw_call_charge(struct call *c, uint64_t n)
{
    struct exec *x = c->x;
    if (x->fuel >= n) {
        x->fuel -= n;
        return 0;
    }
    x->fuel = 0;
    return sw_call_fail(c, "the template takes more than %llu steps",
                        (unsigned long long)x->opts.fuel);
}

bool sw_call_equal(struct call *c, struct sw_value a, struct sw_value b)
{
    return sw_value_equal_steps(a, b, &c->x->fuel); /* without fuel: false, and the call's end */
}

int sw_call_check_size(struct call *c, double bytes)
{
    size_t limit = c->x->opts.max_output_bytes;
    if (bytes <= (double)limit)
        return 0;
    return sw_call_fail(c, "the result would be larger than %zu bytes", limit);
}
