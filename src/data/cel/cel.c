#include "data/cel/cel.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "data/cel/ast.h"
#include "data/text/utf8.h"

/* Of one expression in Kubernetes; bytes that its values may take. */
enum { CALL_LIMIT = 1000000, MOST_BYTES = 64 << 20, MOST_PROBLEMS = 100 };

/* ---- problems -----------------------------------------------------------------------------------
 */

void sw_cel_problem(struct sw_cel *cel, size_t at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    if (cel->n_problems == MOST_PROBLEMS)
        return;
    SW_ARENA_GROW(cel->arena, cel->problems, cel->n_problems, cel->cap);
    cel->problems[cel->n_problems++] =
        (struct cel_problem){ .at = at, .text = sw_arena_strdup(cel->arena, text) };
}

static int in_order(const void *a, const void *b)
{
    const struct cel_problem *p = a, *q = b;
    return p->at != q->at ? (p->at > q->at) - (p->at < q->at) : (p > q) - (p < q);
}

/* "ERROR: <input>:1:5: text", the line, and a caret below the place. */
static void show(const struct sw_cel *cel, const struct cel_problem *problem, char **out)
{
    int line = 1;
    size_t from = 0, column = 0;
    for (size_t i = 0; i < problem->at; i++)
        if (cel->source[i] == '\n') {
            line++;
            from = i + 1;
        }
    for (size_t i = from; i < problem->at; i++)
        column += ((unsigned char)cel->source[i] & 0xc0) != 0x80;
    const int len = (int)strcspn(cel->source + from, "\n");
    sw_append(out, "%sERROR: <input>:%d:%zu: %s\n | %.*s\n | ", *out ? "\n" : "", line, column + 1,
              problem->text, len, cel->source + from);
    for (size_t i = 0; i < column; i++)
        sw_append(out, ".");
    sw_append(out, "^");
}

static int refuse(struct sw_cel *cel, struct sw_err *err)
{
    char *text = NULL;
    qsort(cel->problems, cel->n_problems, sizeof *cel->problems, in_order);
    for (size_t i = 0; i < cel->n_problems; i++)
        show(cel, &cel->problems[i], &text);
    SW_AUTO_CHARS *all = text;
    return sw_err_set(err, SW_INVALID, "%s", all);
}

/* ---- expressions --------------------------------------------------------------------------------
 */

static void *copied(struct sw_arena *arena, const void *from, size_t len)
{
    void *to = sw_arena_alloc(arena, len + 1);
    if (len)
        memcpy(to, from, len);
    return to;
}

static const struct sw_cel_env *copy_env(struct sw_arena *arena, const struct sw_cel_env *env)
{
    struct sw_cel_env *copy = copied(arena, env, sizeof *env);
    copy->variables = copied(arena, env->variables, env->n_variables * sizeof *env->variables);
    if (env->names)
        copy->names = copied(arena, env->names, env->n_composed * sizeof *env->names);
    copy->composed = copied(arena, env->composed, env->n_composed * sizeof *env->composed);
    return copy;
}

int sw_cel_compile(const char *text, const struct sw_cel_env *env, struct sw_cel **out,
                   struct sw_err *err)
{
    struct sw_arena *arena = sw_arena_new();
    struct sw_cel *cel = sw_arena_alloc(arena, sizeof *cel);
    cel->arena = arena;
    cel->env = copy_env(arena, env);
    cel->source = sw_arena_strdup(arena, text);
    sw_cel_parse(cel);
    if (!cel->n_problems)
        sw_cel_check(cel);
    int rc = cel->n_problems ? refuse(cel, err) : 0;
    if (rc < 0)
        sw_arena_free(arena);
    else
        *out = cel;
    return rc;
}

void sw_cel_free(struct sw_cel *cel)
{
    if (cel)
        sw_arena_free(cel->arena);
}

static void on_text_freed(json_object *text, void *cel)
{
    (void)text;
    sw_cel_free(cel);
}

/* Whether an expression that a text keeps is still of what it was compiled for: versions of a
 * document may share texts, but not what they are in. */
static bool is_of(const struct sw_cel *cel, const struct sw_cel_env *env)
{
    const struct sw_cel_env *own = cel->env;
    if (own->n_variables != env->n_variables || own->n_composed != env->n_composed ||
        own->makes_patches != env->makes_patches)
        return false;
    for (size_t i = 0; i < env->n_variables; i++)
        if (own->variables[i].schema != env->variables[i].schema ||
            own->variables[i].sort != env->variables[i].sort ||
            !sw_streq(own->variables[i].name, env->variables[i].name))
            return false;
    for (size_t i = 0; i < env->n_composed; i++)
        if (own->composed[i] != env->composed[i] || own->names[i] != env->names[i])
            return false;
    return true;
}

int sw_cel_keep(json_object *text, const struct sw_cel_env *env, const struct sw_cel **out,
                struct sw_err *err)
{
    struct sw_cel *cel = json_object_get_userdata(text);
    if (!cel || !is_of(cel, env)) {
        const char *source = json_object_get_string(text);
        int rc = sw_cel_compile(source ? source : "", env, &cel, err);
        if (rc < 0)
            return rc;
        json_object_set_userdata(text, cel, on_text_freed);
    }
    *out = cel;
    return 0;
}

const char *sw_cel_type_name(const struct sw_cel *cel)
{
    return sw_cel_type_text(cel->arena, cel->root->type);
}

bool sw_cel_may_be(const struct sw_cel *cel, const char *type)
{
    const char *is = sw_cel_type_name(cel);
    return sw_streq(is, type) || sw_streq(is, "dyn");
}

bool sw_cel_names(const struct sw_cel *cel, size_t variable)
{
    return cel->named >> (variable & 63) & 1;
}

/* ---- evaluation ---------------------------------------------------------------------------------
 */

static struct cel_value run(struct cel_run *x, const struct sw_cel *cel,
                            const struct sw_cel_input *input)
{
    (void)sw_arena_limit(x->arena, MOST_BYTES);
    x->input = input;
    x->limit = input->limit ? input->limit : CALL_LIMIT;
    x->locals = sw_arena_alloc(x->arena, (cel->n_locals + 1) * sizeof *x->locals);
    x->kept = sw_arena_alloc(x->arena, (cel->env->n_composed + 1) * sizeof *x->kept);
    return sw_cel_eval(x, cel);
}

int sw_cel_run(const struct sw_cel *cel, const struct sw_cel_input *input, json_object **out,
               uint64_t *cost, struct sw_err *err)
{
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct cel_run x = { .arena = arena };
    const struct cel_value v = run(&x, cel, input);
    int rc = 0;
    if (cost)
        *cost += x.cost;
    const char *wrong = sw_cel_misnamed(&x, v);
    if (v.kind == CEL_ERROR)
        rc = sw_err_set(err, SW_INVALID, "%.*s", (int)v.s.len, v.s.p);
    else if (wrong)
        rc = sw_err_set(err, SW_INVALID, "type mismatch: %s", wrong);
    else if (!sw_cel_to_json(&x, v, out))
        rc = sw_err_set(err, SW_INVALID, "unsupported conversion of %s to JSON",
                        sw_cel_kind_name(v.kind));
    return rc;
}

int sw_cel_holds(const struct sw_cel *cel, const struct sw_cel_input *input, uint64_t *cost,
                 struct sw_err *err)
{
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct cel_run x = { .arena = arena };
    const struct cel_value v = run(&x, cel, input);
    if (cost)
        *cost += x.cost;
    if (v.kind == CEL_BOOL)
        return v.b;
    return v.kind == CEL_ERROR
               ? sw_err_set(err, SW_INVALID, "%.*s", (int)v.s.len, v.s.p)
               : sw_err_set(err, SW_INVALID, "evaluated to %s, not bool", sw_cel_kind_name(v.kind));
}
