#include <string.h>

#include "chart/template/lang/ast.h"
#include "chart/template/lang/function.h"
#include "data/go/strconv.h"
#include "data/go/text.h"

/* ---- numbers ---- */

/* The integer forms of a float that is a whole number. */
static void integers_of_float(struct node_number *n)
{
    if (!n->is_int && n->f >= -9223372036854775808.0 && n->f < 9223372036854775808.0 &&
        (double)(int64_t)n->f == n->f) {
        n->is_int = true;
        n->i = (int64_t)n->f;
    }
    if (!n->is_uint && n->f >= 0 && n->f < 18446744073709551616.0 &&
        (double)(uint64_t)n->f == n->f) {
        n->is_uint = true;
        n->u = (uint64_t)n->f;
    }
}

static void simplify_complex(struct node_number *n)
{
    n->is_complex = true;
    n->is_float = n->c[1] == 0;
    if (n->is_float) {
        n->f = n->c[0];
        integers_of_float(n);
    }
}

static bool contains_any(const char *s, size_t len, const char *set)
{
    for (size_t i = 0; i < len; i++) {
        if (s[i] && strchr(set, s[i]))
            return true;
    }
    return false;
}

static int bad_number(const struct node_number *n, const char *what, struct sw_err *err)
{
    SW_AUTO_CHARS *quoted = sw_quote_dup(n->text, n->text_len);
    return sw_err_set(err, SW_INVALID, "%s: %s", what, quoted);
}

static int parse_real(struct node_number *n, struct sw_err *err)
{
    n->is_uint = sw_parse_uint(n->text, n->text_len, 0, &n->u) == SW_PARSE_OK;
    n->is_int = sw_parse_int(n->text, n->text_len, 0, &n->i) == SW_PARSE_OK;
    if (n->is_int && n->i == 0)
        n->is_uint = true; /* -0 */
    if (n->is_int || n->is_uint) {
        n->is_float = true;
        n->f = n->is_int ? (double)n->i : (double)n->u;
        return 0;
    }
    if (sw_parse_float(n->text, n->text_len, &n->f) != SW_PARSE_OK)
        return bad_number(n, "illegal number syntax", err);
    if (!contains_any(n->text, n->text_len, ".eEpP"))
        return bad_number(n, "integer overflow", err);
    n->is_float = true;
    integers_of_float(n);
    return 0;
}

int sw_node_number_parse(struct node_number *n, bool is_char, bool is_complex, struct sw_err *err)
{
    const char *s = n->text;
    size_t len = n->text_len;
    int rc = 0;
    if (is_char) {
        uint32_t r = 0;
        bool multibyte;
        long used = sw_unquote_char(s + 1, len - 1, '\'', &r, &multibyte);
        if (used < 0)
            return sw_err_set(err, SW_INVALID, "invalid syntax");
        if ((size_t)used + 2 != len)
            return sw_err_set(err, SW_INVALID, "malformed character constant: %.*s", (int)len, s);
        n->is_int = n->is_uint = n->is_float = true;
        n->f = n->i = n->u = r;
    } else if (is_complex) { /* "1+2i" */
        size_t split = len - 1;
        while (split > 0 && ((s[split] != '+' && s[split] != '-') || strchr("eEpP", s[split - 1])))
            split--;
        if (sw_parse_float(s, split, &n->c[0]) != SW_PARSE_OK ||
            sw_parse_float(s + split, len - 1 - split, &n->c[1]) != SW_PARSE_OK)
            return sw_err_set(err, SW_INVALID, "syntax error scanning complex number");
        simplify_complex(n);
    } else if (s[len - 1] == 'i' && sw_parse_float(s, len - 1, &n->c[1]) == SW_PARSE_OK) {
        simplify_complex(n);
    } else {
        rc = parse_real(n, err);
    }
    /* where the context has no type, the syntax decides */
    bool hex_int = len > 2 && s[0] == '0' && (s[1] | 0x20) == 'x' && !contains_any(s, len, "pP");
    if (n->is_complex)
        n->ideal = (struct sw_value){ .type = SW_T_COMPLEX128, .as.c = n->c };
    else if (n->is_float && !hex_int && s[0] != '\'' && contains_any(s, len, ".eEpP"))
        n->ideal = sw_value_float(n->f);
    else if (n->is_int)
        n->ideal = sw_value_int(n->i);
    return rc;
}

/* ---- reprinting ---- */

static void put_names(struct text *out, const struct name *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sw_text_char(out, '.');
        sw_text_put(out, names[i].s, names[i].len);
    }
}

static void put_operand(struct text *out, const struct node *node)
{
    if (node->kind != N_PIPE) {
        sw_node_print(out, node);
        return;
    }
    sw_text_char(out, '(');
    sw_node_print(out, node);
    sw_text_char(out, ')');
}

static void put_pipe(struct text *out, const struct node_pipe *p)
{
    for (uint32_t i = 0; i < p->n_decl; i++) {
        if (i > 0)
            sw_text_puts(out, ", ");
        sw_node_print(out, &p->decl[i]->node);
    }
    if (p->n_decl)
        sw_text_puts(out, p->is_assign ? " = " : " := ");
    for (uint32_t i = 0; i < p->n; i++) {
        if (i > 0)
            sw_text_puts(out, " | ");
        sw_node_print(out, &p->cmds[i]->node);
    }
}

void sw_node_print(struct text *out, const struct node *node)
{
    switch ((enum node_kind)node->kind) {
    case N_TEXT: {
        const struct node_text *t = (const struct node_text *)node;
        sw_text_put(out, t->s, t->len);
        break;
    }
    case N_ACTION:
        sw_text_puts(out, "{{");
        put_pipe(out, ((const struct node_action *)node)->pipe);
        sw_text_puts(out, "}}");
        break;
    case N_LIST:
        for (uint32_t i = 0; i < ((const struct node_list *)node)->n; i++)
            sw_node_print(out, ((const struct node_list *)node)->nodes[i]);
        break;
    case N_IF:
    case N_WITH:
    case N_RANGE: {
        const struct node_branch *b = (const struct node_branch *)node;
        const char *word = node->kind == N_IF ? "if" : node->kind == N_WITH ? "with" : "range";
        sw_text_printf(out, "{{%s ", word);
        put_pipe(out, b->pipe);
        sw_text_puts(out, "}}");
        sw_node_print(out, &b->list->node);
        if (b->else_list) {
            sw_text_puts(out, "{{else}}");
            sw_node_print(out, &b->else_list->node);
        }
        sw_text_puts(out, "{{end}}");
        break;
    }
    case N_TEMPLATE: {
        const struct node_template *t = (const struct node_template *)node;
        sw_text_puts(out, "{{template ");
        sw_quote(out, t->name.s, t->name.len, 0);
        if (t->pipe) {
            sw_text_char(out, ' ');
            put_pipe(out, t->pipe);
        }
        sw_text_puts(out, "}}");
        break;
    }
    case N_BREAK:
        sw_text_puts(out, "{{break}}");
        break;
    case N_CONTINUE:
        sw_text_puts(out, "{{continue}}");
        break;
    case N_PIPE:
        put_pipe(out, (const struct node_pipe *)node);
        break;
    case N_COMMAND:
        for (uint32_t i = 0; i < ((const struct node_command *)node)->n; i++) {
            if (i > 0)
                sw_text_char(out, ' ');
            put_operand(out, ((const struct node_command *)node)->args[i]);
        }
        break;
    case N_IDENT:
        sw_text_puts(out, ((const struct node_ident *)node)->func->name);
        break;
    case N_VARIABLE: {
        const struct node_names *v = (const struct node_names *)node;
        sw_text_put(out, v->names[0].s, v->names[0].len);
        put_names(out, v->names + 1, v->n - 1);
        break;
    }
    case N_DOT:
        sw_text_char(out, '.');
        break;
    case N_NIL:
        sw_text_puts(out, "nil");
        break;
    case N_FIELD: {
        const struct node_names *f = (const struct node_names *)node;
        put_names(out, f->names, f->n);
        break;
    }
    case N_CHAIN: {
        const struct node_chain *c = (const struct node_chain *)node;
        put_operand(out, c->base);
        put_names(out, c->names, c->n);
        break;
    }
    case N_BOOL:
        sw_text_puts(out, ((const struct node_bool *)node)->value ? "true" : "false");
        break;
    case N_NUMBER: {
        const struct node_number *n = (const struct node_number *)node;
        sw_text_put(out, n->text, n->text_len);
        break;
    }
    case N_STRING: {
        const struct node_string *s = (const struct node_string *)node;
        sw_text_put(out, s->quoted, s->quoted_len);
        break;
    }
    case N_END:
        sw_text_puts(out, "{{end}}");
        break;
    case N_ELSE:
        sw_text_puts(out, "{{else}}");
        break;
    }
}
