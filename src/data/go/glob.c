#include "data/go/glob.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/unicode.h"

/* A pattern becomes a state machine, whose threads run over the text side by side: the time is at
 * most the pattern's length times the text's. */

enum op { OP_CHAR, OP_SINGLE, OP_ANY, OP_SUPER, OP_SET, OP_SPLIT, OP_JUMP, OP_MATCH };

struct state {
    enum op op;
    uint32_t rune;   /* CHAR */
    bool negated;    /* SET */
    uint32_t lo, hi; /* SET: a range, or where lo > hi: */
    const char *set; /* its members */
    size_t set_len;
    size_t a, b; /* SPLIT, JUMP (a) */
};

struct sw_glob {
    char *pattern;
    struct state *states;
    size_t n, cap;
};

struct compiler {
    struct sw_glob *glob;
    const char *at, *end;
    unsigned depth;
};

static size_t add(struct sw_glob *g, struct state s)
{
    SW_GROW(g->states, g->n, g->cap);
    g->states[g->n] = s;
    return g->n++;
}

static uint32_t next_rune(struct compiler *c)
{
    uint32_t r;
    c->at += sw_rune_decode(c->at, (size_t)(c->end - c->at), &r);
    return r;
}

/* "[a-z]", "[!abc]"; after the bracket. */
static bool compile_set(struct compiler *c)
{
    struct state s = { .op = OP_SET, .lo = 1 };
    if (c->at < c->end && *c->at == '!') {
        s.negated = true;
        c->at++;
    }
    if (c->at == c->end)
        return false;
    const char *start = c->at;
    uint32_t first = next_rune(c);
    if (c->at < c->end && *c->at == '-') {
        c->at++;
        if (c->at == c->end)
            return false;
        s.lo = first;
        s.hi = next_rune(c);
        if (s.hi < s.lo)
            return false;
    } else {
        c->at = start;
        s.set = start;
        while (c->at < c->end && *c->at != ']')
            c->at += *c->at == '\\' && c->at + 1 < c->end ? 2 : 1;
        s.set_len = (size_t)(c->at - start);
        if (s.set_len == 0)
            return false;
    }
    if (c->at == c->end || *c->at != ']')
        return false;
    c->at++;
    add(c->glob, s);
    return true;
}

static bool compile_terms(struct compiler *c);

/* Up to the end, or within braces up to a comma or the closing one. */
static bool compile_sequence(struct compiler *c)
{
    while (c->at < c->end) {
        if (c->depth > 0 && (*c->at == ',' || *c->at == '}'))
            return true;
        uint32_t r = next_rune(c);
        if (r == '*') {
            bool super = c->at < c->end && *c->at == '*';
            c->at += super;
            add(c->glob, (struct state){ .op = super ? OP_SUPER : OP_ANY });
        } else if (r == '?') {
            add(c->glob, (struct state){ .op = OP_SINGLE });
        } else if (r == '[') {
            if (!compile_set(c))
                return false;
        } else if (r == '{') {
            if (!compile_terms(c))
                return false;
        } else {
            if (r == '\\' && c->at < c->end)
                r = next_rune(c);
            add(c->glob, (struct state){ .op = OP_CHAR, .rune = r });
        }
    }
    return c->depth == 0;
}

/* "{a,b,c}"; after the brace. Each alternative ends in a jump behind them all. */
static bool compile_terms(struct compiler *c)
{
    enum { DEEPEST = 50 };
    struct sw_glob *g = c->glob;
    size_t last_jump = SIZE_MAX; /* the jumps are chained by their targets until all are known */
    if (c->depth >= DEEPEST)
        return false;
    c->depth++;
    for (;;) {
        size_t split = add(g, (struct state){ .op = OP_SPLIT, .b = SIZE_MAX });
        g->states[split].a = g->n;
        if (!compile_sequence(c) || c->at == c->end)
            return false;
        last_jump = add(g, (struct state){ .op = OP_JUMP, .a = last_jump });
        if (*c->at++ == '}')
            break;
        g->states[split].b = g->n;
    }
    c->depth--;
    while (last_jump != SIZE_MAX) {
        size_t before = g->states[last_jump].a;
        g->states[last_jump].a = g->n;
        last_jump = before;
    }
    return true;
}

struct sw_glob *sw_glob_new(const char *pattern, size_t len)
{
    struct sw_glob *g = sw_zalloc(1, sizeof *g);
    g->pattern = sw_strndup(pattern, len);
    struct compiler c = { g, g->pattern, g->pattern + len, 0 };
    if (!compile_sequence(&c)) {
        sw_glob_free(g);
        return NULL;
    }
    add(g, (struct state){ .op = OP_MATCH });
    return g;
}

void sw_glob_free(struct sw_glob *g)
{
    if (!g)
        return;
    free(g->pattern);
    free(g->states);
    free(g);
}

/* A set of states, without duplicates. */
struct threads {
    size_t *list;
    bool *in;
    size_t n;
};

static void follow(const struct sw_glob *g, struct threads *t, size_t state)
{
    while (state != SIZE_MAX && !t->in[state]) {
        const struct state *s = &g->states[state];
        t->in[state] = true;
        t->list[t->n++] = state;
        if (s->op == OP_SPLIT) {
            follow(g, t, s->a);
            state = s->b;
        } else if (s->op == OP_JUMP) {
            state = s->a;
        } else if (s->op == OP_ANY || s->op == OP_SUPER) {
            state++;
        } else {
            return;
        }
    }
}

static bool in_set(const struct state *s, uint32_t rune)
{
    if (s->lo <= s->hi)
        return (rune >= s->lo && rune <= s->hi) != s->negated;
    for (size_t i = 0; i < s->set_len;) {
        uint32_t r;
        if (s->set[i] == '\\' && i + 1 < s->set_len)
            i++;
        i += sw_rune_decode(s->set + i, s->set_len - i, &r);
        if (r == rune)
            return !s->negated;
    }
    return s->negated;
}

bool sw_glob_match(const struct sw_glob *g, const char *s, size_t len)
{
    size_t *lists = sw_zalloc(g->n * 2, sizeof *lists);
    bool *marks = sw_zalloc(g->n * 2, sizeof *marks), matched = false;
    struct threads now = { lists, marks, 0 }, then = { lists + g->n, marks + g->n, 0 };
    follow(g, &now, 0);
    for (size_t i = 0; i < len && now.n > 0;) {
        uint32_t r;
        i += sw_rune_decode(s + i, len - i, &r);
        then.n = 0;
        memset(then.in, 0, g->n);
        for (size_t k = 0; k < now.n; k++) {
            const struct state *state = &g->states[now.list[k]];
            bool any = state->op == OP_ANY, super = state->op == OP_SUPER;
            bool takes = super || (any && r != '/') || (state->op == OP_SINGLE && r != '/') ||
                         (state->op == OP_CHAR && r == state->rune) ||
                         (state->op == OP_SET && in_set(state, r));
            if (takes)
                follow(g, &then, now.list[k] + (any || super ? 0 : 1));
        }
        struct threads swap = now;
        now = then;
        then = swap;
    }
    for (size_t k = 0; k < now.n && !matched; k++)
        matched = g->states[now.list[k]].op == OP_MATCH;
    free(lists);
    free(marks);
    return matched;
}
