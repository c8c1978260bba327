#include "data/text/diff.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/text/buffer.h"

enum {
    CONTEXT = 3,
    MAX_EDITS = 1000, /* more than these are not searched for: the memory is their square */
};

struct line {
    const char *text;
    size_t len; /* with its line end, if it has one */
    uint64_t hash;
};

struct lines {
    struct line *at;
    size_t n, cap;
    bool *changed; /* removed from this text, or added in it */
};

static struct lines split(const char *text)
{
    enum { FIRST = 64 };
    struct lines lines = { .at = sw_alloc(FIRST * sizeof *lines.at), .cap = FIRST };
    while (*text) {
        const char *end = strchr(text, '\n');
        size_t len = end ? (size_t)(end - text) + 1 : strlen(text);
        SW_GROW(lines.at, lines.n, lines.cap);
        lines.at[lines.n++] =
            (struct line){ .text = text, .len = len, .hash = sw_fnv64a(text, len) };
        text += len;
    }
    lines.changed = sw_zalloc(lines.n, sizeof *lines.changed);
    return lines;
}

static void lines_done(struct lines *lines)
{
    free(lines->at);
    free(lines->changed);
}

static bool same(const struct line *a, const struct line *b)
{
    return a->hash == b->hash && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/* ---- what changed ------------------------------------------------------------------------------
 */

/* The parts of both texts between what they have in common at the beginning and at the end. */
struct middle {
    const struct line *a, *b;
    bool *a_changed, *b_changed;
    int n, m;
};

/* Go back over the furthest points that were reached with 0, 1, ... @d edits and mark the edits.
 * @trace: for each number of edits k the 2k+1 points. */
static void backtrack(const struct middle *t, int *const *trace, int d)
{
    int x = t->n, y = t->m;
    for (; d > 0; d--) {
        const int *before = trace[d - 1] + (d - 1); /* its diagonals are -(d-1)..d-1 */
        int k = x - y;
        bool down = k == -d || (k != d && before[k - 1] < before[k + 1]);
        int from = down ? k + 1 : k - 1;
        x = before[from];
        y = x - from;
        if (down)
            t->b_changed[y] = true;
        else
            t->a_changed[x] = true;
    }
}

/* The furthest point on diagonal @k with @d edits, from those with one less. */
static int furthest(const struct middle *t, const int *before, int d, int k)
{
    int x;
    if (d == 0)
        x = 0;
    else if (k == -d || (k != d && before[k - 1] < before[k + 1]))
        x = before[k + 1];
    else
        x = before[k - 1] + 1;
    while (x < t->n && x - k < t->m && same(&t->a[x], &t->b[x - k]))
        x++;
    return x;
}

/* E. Myers, "An O(ND) Difference Algorithm and Its Variations": the shortest list of edits, as long
 * as it has at most MAX_EDITS. */
static bool find_edits(const struct middle *t)
{
    int **trace = sw_zalloc(MAX_EDITS + 1, sizeof *trace);
    bool found = false;
    int d;
    for (d = 0; d <= MAX_EDITS && !found; d++) {
        trace[d] = sw_alloc((2 * (size_t)d + 1) * sizeof **trace);
        for (int k = -d; k <= d && !found; k += 2) {
            /* a diagonal outside of both texts is not walked, and never the better way */
            int x = k < -t->m || k > t->n ? -1 : furthest(t, d ? trace[d - 1] + d - 1 : NULL, d, k);
            trace[d][k + d] = x;
            if (k + d > 0)
                trace[d][k + d - 1] = -1; /* of the other parity: no point */
            found = x >= t->n && x - k >= t->m;
        }
    }
    if (found)
        backtrack(t, trace, d - 1);
    for (int i = 0; i < d; i++)
        free(trace[i]);
    free(trace);
    return found;
}

static void compare(struct lines *a, struct lines *b)
{
    size_t head = 0, tail = 0, least = a->n < b->n ? a->n : b->n;
    while (head < least && same(&a->at[head], &b->at[head]))
        head++;
    while (tail < least - head && same(&a->at[a->n - 1 - tail], &b->at[b->n - 1 - tail]))
        tail++;
    const struct middle t = {
        .a = a->at + head,
        .b = b->at + head,
        .a_changed = a->changed + head,
        .b_changed = b->changed + head,
        .n = (int)(a->n - head - tail),
        .m = (int)(b->n - head - tail),
    };
    if (find_edits(&t))
        return;
    memset(t.a_changed, true, (size_t)t.n);
    memset(t.b_changed, true, (size_t)t.m);
}

/* ---- printing ----------------------------------------------------------------------------------
 */

/* Lines @a to @a_end of one text stand against @b to @b_end of the other. */
struct hunk {
    size_t a, a_end, b, b_end;
};

/* The next run of changed lines from @h's end on. @return false: there is none */
static bool next_change(const struct lines *a, const struct lines *b, struct hunk *h)
{
    size_t i = h->a_end, k = h->b_end;
    while (i < a->n && k < b->n && !a->changed[i] && !b->changed[k]) {
        i++;
        k++;
    }
    h->a = i;
    h->b = k;
    while (i < a->n && a->changed[i])
        i++;
    while (k < b->n && b->changed[k])
        k++;
    h->a_end = i;
    h->b_end = k;
    return h->a_end > h->a || h->b_end > h->b;
}

static void put_line(struct sw_buffer *out, char sign, const struct line *line)
{
    static const char no_end[] = "\n\\ No newline at end of file\n";
    sw_buffer_char(out, sign);
    sw_buffer_put(out, line->text, line->len);
    if (line->text[line->len - 1] != '\n')
        sw_buffer_put(out, no_end, sizeof no_end - 1);
}

/* "12,3": where the lines begin, from 1, and how many; of none, the line before. */
static char *range(size_t from, size_t n)
{
    return n == 1 ? sw_printf("%zu", from + 1) : sw_printf("%zu,%zu", from + (n > 0), n);
}

static void put_hunk(struct sw_buffer *out, const struct lines *a, const struct lines *b,
                     const struct hunk *h)
{
    SW_AUTO_CHARS *old = range(h->a, h->a_end - h->a);
    SW_AUTO_CHARS *now = range(h->b, h->b_end - h->b);
    SW_AUTO_CHARS *head = sw_printf("@@ -%s +%s @@\n", old, now);
    sw_buffer_put(out, head, strlen(head));
    for (size_t i = h->a, k = h->b; i < h->a_end || k < h->b_end;) {
        if (i < h->a_end && a->changed[i])
            put_line(out, '-', &a->at[i++]);
        else if (k < h->b_end && b->changed[k])
            put_line(out, '+', &b->at[k++]);
        else {
            put_line(out, ' ', &a->at[i++]);
            k++;
        }
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void put_hunks(struct sw_buffer *out, const struct lines *a, const struct lines *b)
{
    struct hunk change = { 0 }, open = { 0 };
    bool any = false;
    while (next_change(a, b, &change)) {
        size_t before = least(CONTEXT, least(change.a, change.b));
        size_t after = least(CONTEXT, least(a->n - change.a_end, b->n - change.b_end));
        const struct hunk h = { change.a - before, change.a_end + after, change.b - before,
                                change.b_end + after };
        if (any && h.a <= open.a_end) { /* they touch: one hunk */
            open.a_end = h.a_end;
            open.b_end = h.b_end;
            continue;
        }
        if (any)
            put_hunk(out, a, b, &open);
        open = h;
        any = true;
    }
    if (any)
        put_hunk(out, a, b, &open);
}

char *sw_diff(const char *from, const char *to, const char *from_name, const char *to_name)
{
    if (strcmp(from, to) == 0)
        return NULL;
    struct lines a = split(from), b = split(to);
    struct sw_buffer out = { 0 };
    compare(&a, &b);
    SW_AUTO_CHARS *head = sw_printf("--- %s\n+++ %s\n", from_name, to_name);
    sw_buffer_put(&out, head, strlen(head));
    put_hunks(&out, &a, &b);
    lines_done(&a);
    lines_done(&b);
    return sw_buffer_take(&out, NULL);
}
