#include "data/go/regex.h"

#include <stdlib.h>
#include <string.h>

#include "data/go/regex_ast.h"
#include "data/go/text.h"

/* A program for a machine that runs all alternatives side by side over the text, those that Perl
 * would try first in front: each instruction is at most once in a step's list of threads, so a step
 * costs no more than the program is long. */

enum op { OP_RUNE, OP_CLASS, OP_ASSERT, OP_SPLIT, OP_JUMP, OP_SAVE, OP_MATCH };

struct inst {
    uint8_t op;
    uint8_t assertion; /* enum regex_kind */
    uint32_t rune;     /* RUNE */
    uint32_t x, y;     /* where to go; SPLIT prefers x; SAVE: y is the slot */
    const struct sw_runes *runes;
};

struct sw_regex {
    struct sw_arena *arena; /* owns the tree that classes are taken from */
    struct inst *prog;
    size_t n, cap;
    struct regex_names names;
    char *prefix; /* bytes that every match begins with, or NULL */
    size_t prefix_len;
    bool anchored; /* every match begins at the text's beginning */
};

enum { MAX_PROGRAM = 100000, LONGEST = 1 << 17 };

/* ---- compiling ---- */

static uint32_t emit(struct sw_regex *re, struct inst i)
{
    SW_GROW(re->prog, re->n, re->cap);
    re->prog[re->n] = i;
    return (uint32_t)re->n++;
}

static bool compile(struct sw_regex *re, const struct regex_node *n);

static uint32_t emit_split(struct sw_regex *re)
{
    return emit(re, (struct inst){ .op = OP_SPLIT });
}

/* The two ways of a split: @into what follows it, or @past that; a lazy split prefers @past. */
static void set_split(struct sw_regex *re, uint32_t split, uint32_t into, uint32_t past, bool lazy)
{
    re->prog[split].x = lazy ? past : into;
    re->prog[split].y = lazy ? into : past;
}

static bool matches_empty(const struct regex_node *n)
{
    switch (n->kind) {
    case RE_CLASS:
        return false;
    case RE_GROUP:
        return matches_empty(n->first);
    case RE_REPEAT:
        return n->min == 0 || matches_empty(n->first);
    case RE_CONCAT:
        for (const struct regex_node *c = n->first; c; c = c->next) {
            if (!matches_empty(c))
                return false;
        }
        return true;
    case RE_ALTERNATE:
        for (const struct regex_node *c = n->first; c; c = c->next) {
            if (matches_empty(c))
                return true;
        }
        return false;
    default:
        return true;
    }
}

/* x+: x, then a split back to it. */
static bool compile_plus(struct sw_regex *re, const struct regex_node *n, bool lazy)
{
    uint32_t start = (uint32_t)re->n;
    if (!compile(re, n))
        return false;
    uint32_t split = emit_split(re);
    set_split(re, split, start, split + 1, lazy);
    return true;
}

static bool compile_repeat(struct sw_regex *re, const struct regex_node *n)
{
    const struct regex_node *x = n->first;
    int i = 0;
    if (n->max < 0 && n->min == 0) { /* x*; as (x+)? where x matches "": that keeps the order */
        bool as_plus = matches_empty(x);
        uint32_t split = emit_split(re);
        if (as_plus ? !compile_plus(re, x, n->lazy) : !compile(re, x))
            return false;
        if (!as_plus)
            emit(re, (struct inst){ .op = OP_JUMP, .x = split });
        set_split(re, split, split + 1, (uint32_t)re->n, n->lazy);
        return true;
    }
    if (n->max < 0) {
        for (; i < n->min - 1; i++) {
            if (!compile(re, x))
                return false;
        }
        return compile_plus(re, x, n->lazy);
    }
    for (; i < n->min; i++) {
        if (!compile(re, x))
            return false;
    }
    /* x{0,3} is (x(x(x)?)?)?: the splits all lead past the whole */
    uint32_t splits[1001]; /* the parser allows no more */
    size_t n_splits = 0;
    for (; i < n->max; i++) {
        splits[n_splits++] = emit_split(re);
        if (!compile(re, x))
            return false;
    }
    for (size_t k = 0; k < n_splits; k++)
        set_split(re, splits[k], splits[k] + 1, (uint32_t)re->n, n->lazy);
    return true;
}

static bool compile_alternate(struct sw_regex *re, const struct regex_node *n)
{
    uint32_t jumps = UINT32_MAX; /* chained by their targets until the end is known */
    for (const struct regex_node *c = n->first; c; c = c->next) {
        uint32_t split = c->next ? emit_split(re) : 0;
        if (!compile(re, c))
            return false;
        if (!c->next)
            break;
        jumps = emit(re, (struct inst){ .op = OP_JUMP, .x = jumps });
        set_split(re, split, split + 1, (uint32_t)re->n, false);
    }
    while (jumps != UINT32_MAX) {
        uint32_t before = re->prog[jumps].x;
        re->prog[jumps].x = (uint32_t)re->n;
        jumps = before;
    }
    return true;
}

static void emit_next(struct sw_regex *re, struct inst i)
{
    i.x = (uint32_t)re->n + 1;
    emit(re, i);
}

static bool compile(struct sw_regex *re, const struct regex_node *n)
{
    if (re->n > MAX_PROGRAM || !sw_stack_has_room())
        return false;
    switch (n->kind) {
    case RE_EMPTY:
        return true;
    case RE_CLASS:
        if (n->runes.n == 1 && n->runes.ranges[0].lo == n->runes.ranges[0].hi)
            emit_next(re, (struct inst){ .op = OP_RUNE, .rune = n->runes.ranges[0].lo });
        else
            emit_next(re, (struct inst){ .op = OP_CLASS, .runes = &n->runes });
        return true;
    case RE_CONCAT:
        for (const struct regex_node *c = n->first; c; c = c->next) {
            if (!compile(re, c))
                return false;
        }
        return true;
    case RE_ALTERNATE:
        return compile_alternate(re, n);
    case RE_REPEAT:
        return compile_repeat(re, n);
    case RE_GROUP:
        emit_next(re, (struct inst){ .op = OP_SAVE, .y = (uint32_t)n->group * 2 });
        if (!compile(re, n->first))
            return false;
        emit_next(re, (struct inst){ .op = OP_SAVE, .y = (uint32_t)n->group * 2 + 1 });
        return true;
    default:
        emit_next(re, (struct inst){ .op = OP_ASSERT, .assertion = (uint8_t)n->kind });
        return true;
    }
}

int sw_regex_compile(const char *expr, size_t len, struct sw_regex **out, struct sw_err *err)
{
    SW_AUTO(sw_regex) *re = sw_zalloc(1, sizeof *re);
    struct regex_node *tree;
    SW_ERR(local);
    re->arena = sw_arena_new();
    if (len > LONGEST)
        return sw_err_set(err, SW_INVALID, "error parsing regexp: expression too large");
    int rc = sw_regex_parse(re->arena, expr, len, &tree, &re->names, &local);
    if (rc == 0) {
        emit_next(re, (struct inst){ .op = OP_SAVE, .y = 0 });
        if (!compile(re, tree))
            rc = sw_err_set(&local, SW_INVALID,
                            "error parsing regexp: expression too large: `%.*s`", (int)len, expr);
    }
    if (rc < 0)
        return sw_err_move(err, &local);
    emit_next(re, (struct inst){ .op = OP_SAVE, .y = 1 });
    emit(re, (struct inst){ .op = OP_MATCH });
    size_t pc = 0, cap = 0; /* the runes that the program must begin with */
    while (re->prog[pc].op == OP_SAVE)
        pc++;
    re->anchored = re->prog[pc].op == OP_ASSERT && re->prog[pc].assertion == RE_BEGIN_TEXT;
    for (; re->prog[pc].op == OP_RUNE && re->prog[pc].rune != SW_RUNE_ERROR; pc++) {
        char utf8[4];
        size_t w = sw_utf8_encode(re->prog[pc].rune, utf8);
        for (size_t i = 0; i < w; i++) {
            SW_GROW(re->prefix, re->prefix_len, cap);
            re->prefix[re->prefix_len++] = utf8[i];
        }
    }
    *out = SW_TAKE(re);
    return 0;
}

void sw_regex_free(struct sw_regex *re)
{
    if (!re)
        return;
    sw_arena_free(re->arena);
    for (size_t i = 0; i < re->names.n; i++)
        free(re->names.names[i]);
    free(re->names.names);
    free(re->prog);
    free(re->prefix);
    free(re);
}

size_t sw_regex_n_groups(const struct sw_regex *re)
{
    return re->names.n;
}

size_t sw_regex_size(const struct sw_regex *re)
{
    return re->n;
}

long sw_regex_group(const struct sw_regex *re, const char *name, size_t len, const long *spans)
{
    for (size_t i = 1; i < re->names.n; i++) {
        const char *have = re->names.names[i];
        if (have && sw_is_text(name, len, have) && spans[2 * i] >= 0)
            return (long)i;
    }
    return -1;
}

/* ---- matching ---- */

/* The threads of one position, in their order of preference, without duplicates. */
struct threads {
    uint32_t *pcs;    /* dense */
    uint32_t *sparse; /* pc -> place in pcs */
    long *spans;      /* of each thread */
    size_t n;
};

/* A step left while a thread is added: an instruction to follow, or a slot to restore. */
struct pending {
    uint32_t pc;
    int32_t slot; /* -1: follow pc */
    long old;
};

struct machine {
    const struct sw_regex *re;
    const char *s;
    size_t len;
    size_t slots;
    struct threads lists[2];
    struct pending *stack;
    long *now; /* the spans of the thread being added */
    void *memory;
};

static bool is_word(uint32_t r)
{
    return (r >= '0' && r <= '9') || (r >= 'A' && r <= 'Z') || r == '_' || (r >= 'a' && r <= 'z');
}

static bool holds(const struct machine *m, enum regex_kind kind, size_t at)
{
    const char *s = m->s;
    bool before = at > 0 && is_word((unsigned char)s[at - 1]);
    bool after = at < m->len && is_word((unsigned char)s[at]);
    switch (kind) {
    case RE_BEGIN_TEXT:
        return at == 0;
    case RE_END_TEXT:
        return at == m->len;
    case RE_BEGIN_LINE:
        return at == 0 || s[at - 1] == '\n';
    case RE_END_LINE:
        return at == m->len || s[at] == '\n';
    case RE_WORD:
        return before != after;
    default:
        return before == after;
    }
}

/* Follow jumps, splits, saves and assertions from @pc. m->now holds the thread's spans. */
static void add_thread(struct machine *m, struct threads *t, uint32_t pc, size_t at)
{
    size_t top = 0;
    m->stack[top++] = (struct pending){ pc, -1, 0 };
    while (top > 0) {
        struct pending p = m->stack[--top];
        if (p.slot >= 0) {
            m->now[p.slot] = p.old;
            continue;
        }
        if (t->sparse[p.pc] < t->n && t->pcs[t->sparse[p.pc]] == p.pc)
            continue; /* it is in the list */
        t->sparse[p.pc] = (uint32_t)t->n;
        t->pcs[t->n++] = p.pc;
        const struct inst *i = &m->re->prog[p.pc];
        switch (i->op) {
        case OP_JUMP:
            m->stack[top++] = (struct pending){ i->x, -1, 0 };
            break;
        case OP_SPLIT:
            m->stack[top++] = (struct pending){ i->y, -1, 0 };
            m->stack[top++] = (struct pending){ i->x, -1, 0 };
            break;
        case OP_ASSERT:
            if (holds(m, i->assertion, at))
                m->stack[top++] = (struct pending){ i->x, -1, 0 };
            break;
        case OP_SAVE:
            m->stack[top++] = (struct pending){ 0, (int32_t)i->y, m->now[i->y] };
            m->now[i->y] = (long)at;
            m->stack[top++] = (struct pending){ i->x, -1, 0 };
            break;
        default:
            memcpy(t->spans + (t->n - 1) * m->slots, m->now, m->slots * sizeof *m->now);
            break;
        }
    }
}

/* Move all threads over a rune. @return whether one of them has matched, in @spans; those that come
 * after it are dropped */
static bool step(struct machine *m, const struct threads *now, struct threads *then, uint32_t rune,
                 bool at_end, size_t next_at, long *spans)
{
    then->n = 0;
    for (size_t i = 0; i < now->n; i++) {
        const struct inst *inst = &m->re->prog[now->pcs[i]];
        const long *of_thread = now->spans + i * m->slots;
        if (inst->op == OP_MATCH) {
            memcpy(spans, of_thread, m->slots * sizeof *spans);
            return true;
        }
        if (at_end || inst->op > OP_CLASS ||
            !(inst->op == OP_RUNE ? inst->rune == rune : sw_runes_has(inst->runes, rune)))
            continue;
        memcpy(m->now, of_thread, m->slots * sizeof *m->now);
        add_thread(m, then, inst->x, next_at);
    }
    return false;
}

size_t sw_regex_search_bytes(const struct sw_regex *re)
{
    size_t n = re->n, slots = re->names.n * 2;
    return (2 * n * slots + slots) * sizeof(long) + (2 * n + 2) * sizeof(struct pending) +
           4 * n * sizeof(uint32_t);
}

static void machine_init(struct machine *m, const struct sw_regex *re, const char *s, size_t len)
{
    size_t n = re->n, slots = re->names.n * 2;
    *m = (struct machine){ .re = re, .s = s, .len = len, .slots = slots };
    size_t longs = 2 * n * slots + slots, pendings = 2 * n + 2;
    m->memory = sw_zalloc(1, sw_regex_search_bytes(re));
    long *l = m->memory;
    m->lists[0].spans = l;
    m->lists[1].spans = l + n * slots;
    m->now = l + 2 * n * slots;
    m->stack = (struct pending *)(l + longs);
    uint32_t *w = (uint32_t *)(m->stack + pendings);
    for (size_t i = 0; i < 2; i++) {
        m->lists[i].pcs = w + 2 * i * n;
        m->lists[i].sparse = w + (2 * i + 1) * n;
    }
}

/* Take @n units of work. @return whether they were there */
static bool take(uint64_t *work, uint64_t n)
{
    bool enough = *work >= n;
    *work = enough ? *work - n : 0;
    return enough;
}

bool sw_regex_find_within(const struct sw_regex *re, const char *s, size_t len, size_t from,
                          long *spans, uint64_t *work)
{
    struct machine m;
    struct threads *now = &m.lists[0], *then = &m.lists[1];
    bool matched = false;
    if ((re->anchored && from > 0) || !take(work, 1 + sw_regex_search_bytes(re) / 64))
        return false;
    machine_init(&m, re, s, len);
    for (size_t at = from;;) {
        if (now->n == 0) {
            if (matched || (re->anchored && at > 0))
                break;
            size_t passed = 0;
            if (re->prefix_len) {
                const char *next = memmem(s + at, len - at, re->prefix, re->prefix_len);
                passed = (next ? (size_t)(next - s) : len) - at;
            }
            at += passed;
            (void)take(work, passed / 64);
        }
        if (!matched) {
            memset(m.now, -1, m.slots * sizeof *m.now);
            add_thread(&m, now, 0, at);
        }
        uint32_t rune = 0;
        size_t w = sw_rune_decode(s + at, len - at, &rune);
        if (!take(work, 1 + now->n)) {
            matched = false;
            break;
        }
        matched = step(&m, now, then, rune, w == 0, at + w, spans) || matched;
        if (w == 0)
            break;
        at += w;
        struct threads *swap = now;
        now = then;
        then = swap;
    }
    free(m.memory);
    return matched;
}

bool sw_regex_find(const struct sw_regex *re, const char *s, size_t len, size_t from, long *spans)
{
    uint64_t work = UINT64_MAX;
    return sw_regex_find_within(re, s, len, from, spans, &work);
}
