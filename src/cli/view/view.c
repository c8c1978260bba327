/* The report as text: the live view, and the tables at the end. */
#include "cli/recipe/absent_charts.h"
#include "cli/view/report.h"
#include "cli/view/text.h"

#include "data/data.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

enum {
    BAR = 10,
    GAP = 2,
    MAX_NODE_ROWS = 40,
    MAX_NODE_NAMES = 3,
    MAX_NAME = 40,
    MAX_STATE_LIVE = 30, /* of a state's name in the live view, which has messages beside it */
    MAX_STATE = 60,
    MAX_STATES = 6, /* rows of states; where there are more those with nothing to tell share one */
    MAX_BUT = 2     /* states that a node lacks, for "all but" */
};

/* A state. Strings are borrowed. */
struct row {
    const char *name, *phase, *class, *message;
    const char *note;          /* what the state has chosen; "": nothing */
    struct json_object *state; /* borrowed */
    int64_t ready, total, labelled, nodes;
    bool started, finished;
    bool is_plain; /* Ready, with no sentence of its own */
    int64_t elapsed_ms;
};

struct table {
    struct json_object *status; /* borrowed */
    bool packs;
    bool packs_empty; /* states without objects, too, as there are several */
    struct row *rows;
    size_t n, n_ready;
    int name_width, phase_width;
};

static int64_t time_of(struct json_object *state, const char *key, bool *there)
{
    int64_t ms = 0;
    SW_ERR(err);
    *there = sw_time_parse(sw_json_str(state, "", key, NULL), &ms, &err) == 0;
    return ms;
}

static int wider(int a, int b)
{
    return a > b ? a : b;
}

static void read_rows(const struct sw_report *report, int max_name, struct table *t)
{
    struct json_object *states = sw_json_get(report->status, "states");
    *t = (struct table){
        .status = report->status,
        .packs = report->packs,
        .n = sw_json_len(states),
        .name_width = 5,
        .phase_width = 5,
    };
    t->rows = sw_zalloc(t->n, sizeof *t->rows);
    for (size_t i = 0; i < t->n; i++) {
        struct json_object *state = sw_json_at(states, i);
        struct row *r = &t->rows[i];
        *r = (struct row){
            .name = sw_json_str(state, "", "name", NULL),
            .phase = sw_json_str(state, "Waiting", "phase", NULL),
            .class = sw_json_str(state, "", "class", NULL),
            .message = sw_json_str(state, "", "message", NULL),
            .note = sw_json_str(state, "", "note", NULL),
            .ready = sw_json_int(state, 0, "objects", "ready", NULL),
            .total = sw_json_int(state, 0, "objects", "total", NULL),
            .labelled = sw_json_int(state, 0, "nodes", "labelled", NULL),
            .nodes = sw_json_int(state, 0, "nodes", "total", NULL),
        };
        if (!*r->message)
            r->message = sw_json_str(state, "", "rolledBack", NULL);
        r->state = state;
        int64_t started_ms = time_of(state, "startedAt", &r->started),
                ready_ms = time_of(state, "readyAt", &r->finished);
        bool is_ready = sw_streq(r->phase, "Ready"), knows_since;
        int64_t since_ms = time_of(state, "since", &knows_since);
        if (r->finished && !is_ready) /* it was Ready once: how long it has not been since */
            r->elapsed_ms = knows_since ? report->now_ms - since_ms : 0;
        else if (r->started)
            r->elapsed_ms = (r->finished ? ready_ms : report->now_ms) - started_ms;
        t->n_ready += sw_streq(r->phase, "Ready");
        t->name_width = wider(t->name_width, sw_text_width(r->name));
        t->phase_width = wider(t->phase_width, sw_text_width(r->phase));
    }
    t->name_width = t->name_width > max_name ? max_name : t->name_width;
}

static enum sw_colour colour_of(const struct row *r)
{
    if (sw_streq(r->phase, "Ready"))
        return SW_GREEN;
    if (sw_streq(r->class, "Failed") || sw_streq(r->phase, "Failed"))
        return SW_RED;
    if (sw_streq(r->class, "Retrying"))
        return SW_YELLOW;
    return r->started ? SW_BLUE : SW_DIM;
}

/* "2/3", or "-" before the state has started. */
static void put_count(struct sw_line *line, const struct row *r, int64_t n, int64_t total)
{
    if (total || r->started)
        sw_line_printf(line, n == total ? SW_PLAIN : SW_BOLD, "%lld/%lld", (long long)n,
                       (long long)total);
    else
        sw_line_put(line, SW_DIM, "-");
}

/* Kubernetes' times are whole seconds. */
static void put_elapsed(struct sw_line *line, const struct row *r)
{
    char buf[16];
    if (!r->started)
        sw_line_put(line, SW_DIM, "-");
    else if (r->elapsed_ms < 1000)
        sw_line_put(line, SW_PLAIN, "<1s");
    else if (r->elapsed_ms < 60000)
        sw_line_printf(line, SW_PLAIN, "%ds", (int)(r->elapsed_ms / 1000));
    else
        sw_line_put(line, SW_PLAIN, sw_report_duration(r->elapsed_ms, buf));
}

/* Has it a sentence in the live view? */
static bool has_message(const struct row *r)
{
    return !sw_streq(r->phase, "Ready") && *r->message && r->started;
}

/* Its row in the live view, with the sentence beside it unless @n_below lines have that. */
static void put_state(struct sw_line *line, const struct table *t, const struct row *r,
                      size_t n_below)
{
    int at = 2 + t->name_width + GAP;
    bool utf8 = line->style->utf8;
    enum sw_colour colour = colour_of(r);
    const char *mark = colour == SW_GREEN ? (utf8 ? "✔" : "+")
                       : colour == SW_RED ? (utf8 ? "✘" : "x")
                       : colour == SW_DIM ? (utf8 ? "·" : " ")
                                          : (utf8 ? "▶" : ">");
    sw_line_put(line, colour, mark);
    sw_line_put(line, SW_PLAIN, " ");
    sw_line_put(line, SW_PLAIN, r->name);
    sw_line_pad(line, at);
    sw_line_put(line, colour, r->phase);
    sw_line_pad(line, at += t->phase_width + GAP);
    sw_line_put(line, SW_DIM, "objects ");
    put_count(line, r, r->ready, r->total);
    sw_line_pad(line, at += 8 + 5 + GAP);
    sw_line_put(line, SW_DIM, "nodes ");
    put_count(line, r, r->labelled, r->nodes);
    sw_line_pad(line, at += 6 + 7 + GAP);
    put_elapsed(line, r);
    if (has_message(r) && !n_below) {
        sw_line_pad(line, at + 6 + GAP);
        sw_line_put(line, colour == SW_RED ? SW_RED : SW_DIM, r->message);
    }
    sw_line_end(line);
}

/* The sentence of a row in lines of its own, where it does not fit beside it; heap, NULL: it does,
 * or there is none. */
static char *broken_message(const struct table *t, const struct row *r, int width)
{
    const int column = 2 + t->name_width + GAP + t->phase_width + GAP + 8 + 5 + GAP + 6 + 7 + GAP +
                       6 + GAP;
    if (!has_message(r) || width <= 0 || column + sw_text_width(r->message) <= width)
        return NULL;
    SW_AUTO_CHARS *indented = sw_printf("    %s", r->message);
    return sw_text_break(indented, width);
}

/* How many lines a text has; 0: it is NULL. */
static size_t lines_of(const char *text)
{
    size_t n = text ? 1 : 0;
    while (text && (text = strchr(text, '\n')))
        n++, text++;
    return n;
}

/* The first @n lines of it; the last has the rest, cut off at its end. */
static void put_below(struct sw_line *line, const struct row *r, const char *text, size_t n)
{
    const enum sw_colour colour = colour_of(r) == SW_RED ? SW_RED : SW_DIM;
    size_t at = 0;
    while (*text) {
        SW_AUTO_CHARS *one = sw_strndup(text, strcspn(text, "\n"));
        text += strlen(one);
        text += *text == '\n';
        at++;
        sw_line_put(line, colour, at > n ? one + strspn(one, " ") : one);
        if (at < n)
            sw_line_end(line);
        else if (*text)
            sw_line_put(line, colour, " ");
    }
    if (at >= n)
        sw_line_end(line);
}

/* Of a resource. */
static enum sw_colour colour_of_phase(const char *phase)
{
    return sw_streq(phase, "Ready")     ? SW_GREEN
           : sw_streq(phase, "Errored") ? SW_RED
           : sw_streq(phase, "Paused")  ? SW_YELLOW
                                        : SW_BLUE;
}

static const char *phase_of(const struct sw_report *report)
{
    return report->is_deleting ? "Deleting"
           : report->is_paused ? "Paused"
                               : sw_report_phase(report);
}

/* "paused when it was Ready: slipway resume NAME goes on"; heap, NULL: it is not. */
static char *pause_of(const struct sw_report *report)
{
    return report->is_paused && !report->is_deleting
               ? sw_printf("paused when it was %s: slipway resume %s goes on",
                           sw_report_phase(report), report->name)
               : NULL;
}

static void put_head(struct sw_line *line, const struct sw_report *report, const struct table *t)
{
    char buf[16];
    const char *phase = phase_of(report);
    enum sw_colour colour = colour_of_phase(phase);
    SW_AUTO_CHARS *pause = pause_of(report);
    sw_line_put(line, SW_BOLD, report->name);
    sw_line_put(line, SW_PLAIN, "  ");
    sw_line_put(line, colour, phase);
    sw_line_put(line, SW_PLAIN, "  ");
    sw_line_bar(line, 2 * BAR, (int64_t)t->n_ready, (int64_t)t->n);
    sw_line_printf(line, SW_PLAIN, "  %zu/%zu states", t->n_ready, t->n);
    if (report->started_ms)
        sw_line_printf(line, SW_PLAIN, "  %s",
                       sw_report_duration(report->now_ms - report->started_ms, buf));
    if (pause)
        sw_line_printf(line, SW_PLAIN, "  %s", pause);
    sw_line_end(line);
}

static char *finish(struct sw_line *line)
{
    char *text = sw_strndup(line->out->buf, (size_t)line->out->bpos);
    printbuf_free(line->out);
    return text;
}

/* Share @room lines out for the sentences of rows that are shown, to what has failed first. */
static void share_room(const struct table *t, char *const *below, size_t room, size_t *n_below)
{
    for (int failed = 1; failed >= 0; failed--)
        for (size_t i = 0; i < t->n; i++) {
            if (!below[i] || (colour_of(&t->rows[i]) == SW_RED) != failed)
                continue;
            const size_t n = lines_of(below[i]);
            n_below[i] = n < room ? n : room;
            room -= n_below[i];
        }
}

char *sw_report_frame(const struct sw_report *report, const struct sw_style *style)
{
    struct sw_line line = { .out = printbuf_new(), .style = style };
    struct table t;
    read_rows(report, MAX_STATE_LIVE, &t);
    size_t room = style->height > 1 ? (size_t)style->height - 1 : SIZE_MAX, n_shown = 0;
    size_t n_to_hide = t.n > room ? t.n - room : 0; /* first of those that are Ready */
    bool *is_shown = sw_zalloc(t.n, sizeof *is_shown);
    char **below = sw_zalloc(t.n, sizeof *below);
    size_t *n_below = sw_zalloc(t.n, sizeof *n_below);
    for (size_t i = 0; i < t.n; i++) {
        if (n_to_hide && sw_streq(t.rows[i].phase, "Ready"))
            n_to_hide--;
        else if (n_shown < room && ++n_shown)
            is_shown[i] = true;
        below[i] = is_shown[i] ? broken_message(&t, &t.rows[i], style->width) : NULL;
    }
    share_room(&t, below, room - n_shown, n_below);
    put_head(&line, report, &t);
    for (size_t i = 0; i < t.n; i++) {
        if (is_shown[i])
            put_state(&line, &t, &t.rows[i], n_below[i]);
        if (n_below[i])
            put_below(&line, &t.rows[i], below[i], n_below[i]);
        free(below[i]);
    }
    free(is_shown);
    free(below);
    free(n_below);
    free(t.rows);
    return finish(&line);
}

/* ---- the tables --------------------------------------------------------------------------------
 */

/* Of a vendor's chart that is not installed, and of a state that has chosen; heap, NULL: nothing.
 */
static char *note_of(const struct table *t, const struct row *r)
{
    char *chart = sw_chart_note(t->status, r->state);
    const char *observes = sw_json_str(r->state, "", "observes", NULL);
    if (chart || *r->note)
        return chart ? chart : sw_strdup(r->note);
    return *observes ? sw_printf("observes %s, somebody else's", observes) : NULL;
}

static void put_row(struct sw_line *line, const struct row *r, const int columns[5],
                    const char *note)
{
    sw_line_put(line, SW_PLAIN, r->name);
    sw_line_pad(line, columns[1]);
    sw_line_put(line, colour_of(r), r->phase);
    sw_line_pad(line, columns[2]);
    put_count(line, r, r->ready, r->total);
    sw_line_pad(line, columns[3]);
    put_count(line, r, r->labelled, r->nodes);
    sw_line_pad(line, columns[4]);
    put_elapsed(line, r);
    if (note) {
        sw_line_pad(line, columns[4] + 6 + GAP);
        sw_line_put(line, SW_DIM, note);
    }
    sw_line_end(line);
}

static bool is_plain(const struct table *t, const struct row *r)
{
    SW_AUTO_CHARS *note = note_of(t, r);
    return sw_streq(r->phase, "Ready") && !note && !*r->message;
}

/* Is it Ready, with nothing to tell? A state without objects is Ready at once, which is not to be
 * taken for one that works: it has a row of its own, or several are named as such in one. */
static bool is_dull(const struct table *t, const struct row *r)
{
    return r->is_plain && (r->total || t->packs_empty);
}

/* One row for all of those, where the table is long: what is left is seen at once. */
static void put_dull(struct sw_line *line, const struct table *t, size_t n_dull,
                     const int columns[5])
{
    SW_AUTO_CHARS *name = sw_printf("%zu states", n_dull);
    SW_AUTO_CHARS *names = sw_strdup(""), *empty = sw_strdup("");
    struct row all = { .name = name, .phase = "Ready", .class = "", .started = true };
    int64_t labelled = INT64_MAX;
    for (size_t i = 0; i < t->n; i++) {
        const struct row *r = &t->rows[i];
        char **list = r->total ? &names : &empty;
        if (!is_dull(t, r))
            continue;
        sw_append(list, "%s%s", **list ? ", " : "", r->name);
        all.ready += r->ready;
        all.total += r->total;
        all.nodes = r->nodes > all.nodes ? r->nodes : all.nodes;
        labelled = r->nodes && r->labelled < labelled ? r->labelled : labelled;
        all.elapsed_ms = r->elapsed_ms > all.elapsed_ms ? r->elapsed_ms : all.elapsed_ms;
    }
    all.labelled = all.nodes ? labelled : 0;
    if (*empty)
        sw_append(&names, "%snothing to apply here: %s", *names ? "; " : "", empty);
    put_row(line, &all, columns, names);
}

/* How many rows share one; 0: none. */
static size_t count_packed(const struct table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += is_dull(t, &t->rows[i]);
    return t->packs && t->n > MAX_STATES && n > 1 ? n : 0;
}

/* Of those that have a row of their own, and of the title. */
static int width_of_names(const struct table *t, size_t n_packed)
{
    int width = n_packed ? (int)strlen("99 states") : 5;
    for (size_t i = 0; i < t->n; i++)
        if (!n_packed || !is_dull(t, &t->rows[i]))
            width = wider(width, sw_text_width(t->rows[i].name));
    return width > MAX_STATE ? MAX_STATE : width;
}

static void put_state_table(struct sw_line *line, struct table *t)
{
    static const char *const titles[] = { "STATE", "PHASE", "OBJECTS", "NODES", "TIME", NULL };
    size_t n_empty = 0;
    for (size_t i = 0; i < t->n; i++) {
        t->rows[i].is_plain = is_plain(t, &t->rows[i]);
        n_empty += t->rows[i].is_plain && !t->rows[i].total;
    }
    t->packs_empty = n_empty > 1;
    const size_t n_packed = count_packed(t);
    int c[5] = { 0, width_of_names(t, n_packed) + GAP };
    c[2] = c[1] + t->phase_width + GAP;
    c[3] = c[2] + 7 + GAP;
    c[4] = c[3] + 7 + GAP;
    for (size_t i = 0; titles[i]; i++) {
        if (i)
            sw_line_pad(line, c[i]);
        sw_line_put(line, SW_BOLD, titles[i]);
    }
    sw_line_end(line);
    if (n_packed)
        put_dull(line, t, n_packed, c);
    for (size_t i = 0; i < t->n; i++) {
        const struct row *r = &t->rows[i];
        if (n_packed && is_dull(t, r))
            continue;
        SW_AUTO_CHARS *note = note_of(t, r);
        /* one without objects is Ready at once: that is not to be taken for one that works */
        const bool is_empty = !note && sw_streq(r->phase, "Ready") && !r->total;
        put_row(line, r, c, is_empty ? "it has nothing to apply here" : note);
    }
}

/* "all", or "all but a b" where @node lacks few of all @states; heap. NULL: neither. */
static char *all_states(struct json_object *states, struct json_object *node, const char *prefix)
{
    size_t n = sw_json_len(states), n_ready = 0;
    SW_AUTO_CHARS *lacks = sw_strdup("all but");
    for (size_t i = 0; i < n; i++) {
        struct json_object *state = sw_json_at(states, i);
        const char *name = sw_json_str(state, "", "name", NULL);
        SW_AUTO_CHARS *key = sw_printf("%s%s", prefix, name);
        const char *label = sw_json_str(state, key, "label", NULL);
        if (sw_streq(sw_json_str(node, "", "labels", label, NULL), "Ready"))
            n_ready++;
        else
            sw_append(&lacks, " %s", name);
    }
    if (n < 2 || n - n_ready > MAX_BUT || 2 * n_ready <= n)
        return NULL;
    return n_ready == n ? sw_strdup("all") : SW_TAKE(lacks);
}

/* The states that are ready on @node: "0000 1000", with others' phases, "" for none; heap. */
static char *ready_states(struct json_object *states_of, struct json_object *node,
                          const char *prefix)
{
    char *all = all_states(states_of, node, prefix);
    if (all)
        return all;
    char *states = sw_strdup("");
    json_object_object_foreach(sw_json_get(node, "labels"), key, value)
    {
        const char *phase = json_object_get_string(value);
        bool ready = sw_streq(phase, "Ready");
        const char *slash = strchr(key, '/'), *short_name = slash ? slash + 1 : key;
        sw_append(&states, "%s%s%s%s", *states ? " " : "",
                  sw_starts_with(key, prefix) ? key + strlen(prefix) : short_name, ready ? "" : "=",
                  ready ? "" : phase);
    }
    return states;
}

/* Nodes that are equally far. */
struct node_group {
    char *states, *names; /* owned */
    size_t n;
};

static void add_node(struct node_group *g, const char *name)
{
    if (g->n++ < MAX_NODE_NAMES)
        sw_append(&g->names, "%s%s", *g->names ? ", " : "", name);
}

/* A row for nodes on which the same states are ready, so that thousands fit on a screen. */
static void put_node_table(struct sw_line *line, struct json_object *states_of,
                           struct json_object *doc)
{
    struct json_object *nodes = sw_json_get(doc, "nodes");
    SW_AUTO_CHARS *prefix = sw_printf("specialresource.openshift.io/state-%s-",
                                      sw_json_str(doc, "", "name", NULL));
    struct node_group groups[MAX_NODE_ROWS];
    size_t n_groups = 0, n_more = 0;
    int column = 12;
    for (size_t i = 0; i < sw_json_len(nodes); i++) {
        struct json_object *node = sw_json_at(nodes, i);
        char *states = ready_states(states_of, node, prefix);
        size_t k = 0;
        while (k < n_groups && !sw_streq(groups[k].states, states))
            k++;
        if (k == n_groups && k < MAX_NODE_ROWS) {
            groups[n_groups++] = (struct node_group){ SW_TAKE(states), sw_strdup(""), 0 };
            column = wider(column, sw_text_width(groups[k].states));
        }
        free(states);
        if (k < MAX_NODE_ROWS)
            add_node(&groups[k], sw_json_str(node, "", "name", NULL));
        else
            n_more++;
    }
    column = (column > MAX_NAME ? MAX_NAME : column) + 5 + 2 * GAP;
    sw_line_put(line, SW_BOLD, "NODES");
    sw_line_pad(line, 5 + GAP);
    sw_line_put(line, SW_BOLD, "READY STATES");
    sw_line_pad(line, column);
    sw_line_printf(line, SW_DIM, "label %s<state>", prefix);
    sw_line_end(line);
    for (size_t i = 0; i < n_groups; i++) {
        struct node_group *g = &groups[i];
        sw_line_printf(line, SW_PLAIN, "%zu", g->n);
        sw_line_pad(line, 5 + GAP);
        sw_line_put(line, *g->states ? SW_GREEN : SW_DIM, *g->states ? g->states : "-");
        sw_line_pad(line, column);
        sw_line_put(line, SW_PLAIN, g->names);
        if (g->n > MAX_NODE_NAMES)
            sw_line_printf(line, SW_DIM, " and %zu more", g->n - MAX_NODE_NAMES);
        sw_line_end(line);
        free(g->states);
        free(g->names);
    }
    if (n_more) {
        sw_line_printf(line, SW_DIM, "and %zu more", n_more);
        sw_line_end(line);
    }
}

/* Nodes whose driver is being replaced, where that failed, or that wait for it. */
static void put_upgrade_table(struct sw_line *line, struct json_object *upgrade)
{
    struct json_object *nodes = sw_json_get(upgrade, "nodes");
    size_t n = sw_json_len(nodes);
    int column = 4;
    for (size_t i = 0; i < n; i++)
        column = wider(column, sw_text_width(sw_json_str(sw_json_at(nodes, i), "", "name", NULL)));
    sw_line_end(line);
    sw_line_put(line, SW_BOLD, "UPGRADE");
    sw_line_printf(line, SW_PLAIN, "  %d of %d nodes have the new driver",
                   (int)sw_json_int(upgrade, 0, "upToDate", NULL),
                   (int)sw_json_int(upgrade, 0, "total", NULL));
    sw_line_end(line);
    for (size_t i = 0; i < n && i < MAX_NODE_ROWS; i++) {
        struct json_object *node = sw_json_at(nodes, i);
        const char *step = sw_json_str(node, "", "step", NULL);
        bool failed = sw_streq(step, "drain-failed") || sw_streq(step, "restart-failed");
        sw_line_put(line, SW_PLAIN, sw_json_str(node, "", "name", NULL));
        sw_line_pad(line, column + GAP);
        sw_line_put(line, failed ? SW_RED : SW_YELLOW, step);
        sw_line_pad(line, column + GAP + 16);
        sw_line_put(line, SW_PLAIN, sw_json_str(node, "", "message", NULL));
        sw_line_end(line);
    }
}

char *sw_report_tables(const struct sw_report *report, const struct sw_style *style)
{
    struct sw_line line = { .out = printbuf_new(), .style = style };
    struct table t;
    read_rows(report, MAX_STATE, &t);
    struct json_object *doc = sw_report_json(report);
    put_head(&line, report, &t);
    if (t.n) {
        sw_line_end(&line);
        put_state_table(&line, &t);
    }
    if (t.n && sw_json_len(report->nodes)) {
        sw_line_end(&line);
        put_node_table(&line, sw_json_get(report->status, "states"), doc);
    }
    struct json_object *upgrade = sw_json_get(report->status, "upgrade");
    if (sw_json_len(sw_json_get(upgrade, "nodes")))
        put_upgrade_table(&line, upgrade);
    json_object_put(doc);
    free(t.rows);
    return finish(&line);
}

/* ---- all resources -----------------------------------------------------------------------------
 */

enum { PHASE_WIDTH = 11, STATES_WIDTH = 6, NODES_WIDTH = 7, AGE_WIDTH = 5 };

/* A resource in the overview. */
struct summary {
    const char *phase;
    size_t n_ready, n;
    int64_t labelled, nodes; /* nodes with the labels of all states, of those that get some */
    char *message;           /* owned */
};

static struct summary summary_of(const struct sw_report *report)
{
    struct table t;
    read_rows(report, MAX_STATE, &t);
    char *pause = pause_of(report);
    struct summary s = {
        phase_of(report), t.n_ready, t.n, -1, 0, pause ? pause : sw_report_message(report)
    };
    for (size_t i = 0; i < t.n; i++) {
        s.nodes = t.rows[i].nodes > s.nodes ? t.rows[i].nodes : s.nodes;
        if (t.rows[i].nodes && (s.labelled < 0 || t.rows[i].labelled < s.labelled))
            s.labelled = t.rows[i].labelled;
    }
    s.labelled = s.labelled < 0 ? 0 : s.labelled;
    free(t.rows);
    return s;
}

static void put_resource(struct sw_line *line, const struct sw_report *report, int name_width,
                         bool wide)
{
    char age[16] = "-";
    struct summary s = summary_of(report);
    enum sw_colour colour = colour_of_phase(s.phase);
    int at = name_width + GAP;
    if (!wide) {
        const int column = name_width + PHASE_WIDTH + STATES_WIDTH + NODES_WIDTH + AGE_WIDTH +
                           5 * GAP;
        SW_AUTO_CHARS *whole = s.message;
        s.message = sw_text_shorter(whole, wider(1, line->style->width - column));
    }
    sw_line_put(line, SW_PLAIN, report->name);
    sw_line_pad(line, at);
    sw_line_put(line, colour, s.phase);
    sw_line_pad(line, at += PHASE_WIDTH + GAP);
    sw_line_printf(line, s.n_ready == s.n ? SW_PLAIN : SW_BOLD, "%zu/%zu", s.n_ready, s.n);
    sw_line_pad(line, at += STATES_WIDTH + GAP);
    if (s.nodes)
        sw_line_printf(line, SW_PLAIN, "%lld/%lld", (long long)s.labelled, (long long)s.nodes);
    else
        sw_line_put(line, SW_DIM, "-");
    sw_line_pad(line, at += NODES_WIDTH + GAP);
    if (report->created_ms)
        (void)sw_report_age(report->now_ms - report->created_ms, age);
    sw_line_put(line, SW_PLAIN, age);
    if (*s.message) {
        sw_line_pad(line, at + AGE_WIDTH + GAP);
        sw_line_put(line, colour == SW_RED ? SW_RED : SW_DIM, s.message);
    }
    sw_line_end(line);
    free(s.message);
}

char *sw_report_line(const struct sw_report *report)
{
    struct summary s = summary_of(report);
    SW_AUTO_CHARS *message = s.message;
    return sw_printf("%s %zu/%zu %lld/%lld %s", s.phase, s.n_ready, s.n, (long long)s.labelled,
                     (long long)s.nodes, message);
}

char *sw_report_overview(const struct sw_report *reports, size_t n, const struct sw_style *style,
                         bool wide)
{
    static const char *const titles[] = { "NAME", "STATUS", "STATES", "NODES", "AGE", "MESSAGE" };
    const struct sw_style uncut = { .colour = style->colour, .utf8 = style->utf8 };
    struct sw_line line = { .out = printbuf_new(), .style = wide ? &uncut : style };
    int name_width = 4;
    wide = wide || !style->width; /* in a pipe nothing is cut */
    for (size_t i = 0; i < n; i++)
        name_width = wider(name_width, sw_text_width(reports[i].name));
    const int widths[] = { name_width, PHASE_WIDTH, STATES_WIDTH, NODES_WIDTH, AGE_WIDTH };
    for (size_t i = 0, at = 0; i < SW_COUNT(titles); i++) {
        if (i)
            sw_line_pad(&line, (int)at);
        sw_line_put(&line, SW_BOLD, titles[i]);
        at += i < SW_COUNT(widths) ? (size_t)widths[i] + GAP : 0;
    }
    sw_line_end(&line);
    for (size_t i = 0; i < n; i++)
        put_resource(&line, &reports[i], name_width, wide);
    return finish(&line);
}
