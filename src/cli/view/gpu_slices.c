#include "cli/view/gpu_slices.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/view/text.h"
#include "data/data.h"

enum { MAX_SLICES = 64, UNIT = 9 /* columns of a memory slice, with the line on its left */ };

static int64_t number(struct json_object *doc, const char *key)
{
    return sw_json_int(doc, 0, key, NULL);
}

static const char *text(struct json_object *doc, const char *key)
{
    return sw_json_str(doc, "", key, NULL);
}

/* "2", "0-3" */
static char *place(int64_t start, int64_t size)
{
    return size > 1 ? sw_printf("%lld-%lld", (long long)start, (long long)(start + size - 1))
                    : sw_printf("%lld", (long long)start);
}

/* Who has it: "default/a, default/b"; heap */
static char *holders(struct json_object *slice)
{
    struct json_object *pods = sw_json_get(slice, "pods");
    char *names = *text(slice, "keptFor") ? sw_printf("for %s", text(slice, "keptFor"))
                                          : sw_strdup("");
    for (size_t i = 0; i < sw_json_len(pods); i++)
        sw_append(&names, "%s%s", *names ? ", " : "", json_object_get_string(sw_json_at(pods, i)));
    return names;
}

/* Memory slices that are taken, as a bit set. */
static uint64_t taken(struct json_object *gpu)
{
    struct json_object *slices = sw_json_get(gpu, "slices");
    uint64_t mask = 0;
    for (size_t i = 0; i < sw_json_len(slices); i++) {
        struct json_object *s = sw_json_at(slices, i);
        for (int64_t k = 0; k < number(s, "size"); k++)
            if (number(s, "start") + k < MAX_SLICES)
                mask |= UINT64_C(1) << (number(s, "start") + k);
    }
    return mask;
}

static int64_t size_of(struct json_object *gpu)
{
    const int64_t n = number(gpu, "memorySlices");
    return n > MAX_SLICES ? MAX_SLICES : n;
}

/* ---- the pods that wait ------------------------------------------------------------------------
 */

static void put_waiting_pod(char **out, struct json_object *w)
{
    struct json_object *asks = sw_json_get(w, "asksFor"), *moves = sw_json_get(w, "move"),
                       *evict = sw_json_get(w, "evict");
    sw_append(out, "%s waits for ", text(w, "pod"));
    for (size_t i = 0; i < sw_json_len(asks); i++)
        sw_append(out, "%s%s", i ? ", " : "", json_object_get_string(sw_json_at(asks, i)));
    sw_append(out, "\n  scheduler: %s\n", text(w, "message"));
    if (*text(w, "why"))
        sw_append(out, "  %s%s%s%s\n", *text(w, "node") ? "node " : "", text(w, "node"),
                  *text(w, "node") ? ": " : "", text(w, "why"));
    for (size_t i = 0; i < sw_json_len(moves); i++) {
        struct json_object *m = sw_json_at(moves, i);
        sw_append(out, "  would have to move: %s to %s%s\n", text(m, "pod"), text(m, "to"),
                  sw_json_bool(m, false, "mayMove", NULL) ? ""
                                                          : " (it has no slipway.dev/may-move)");
    }
    for (size_t i = 0; i < sw_json_len(evict); i++)
        sw_append(out, "%s%s",
                  i ? ", " : "  would be evicted: ", json_object_get_string(sw_json_at(evict, i)));
    if (sw_json_len(evict))
        sw_append(out, "\n");
}

static void put_waiting(char **out, struct json_object *doc)
{
    struct json_object *waiting = sw_json_get(doc, "waiting");
    if (sw_json_len(waiting))
        sw_append(out, "\n");
    for (size_t i = 0; i < sw_json_len(waiting); i++)
        put_waiting_pod(out, sw_json_at(waiting, i));
}

/* ---- the table ---------------------------------------------------------------------------------
 */

enum { N_COLUMNS = 7 };

struct rows {
    char *(*list)[N_COLUMNS];
    size_t n, cap;
};

static void add_row(struct rows *rows, struct json_object *gpu, const char *profile, char *where,
                    const char *state, const char *claim, char *holder)
{
    SW_GROW(rows->list, rows->n, rows->cap);
    char **row = rows->list[rows->n++];
    row[0] = sw_strdup(text(gpu, "node"));
    row[1] = number(gpu, "gpu") < 0 ? sw_strdup(text(gpu, "uuid"))
                                    : sw_printf("%lld", (long long)number(gpu, "gpu"));
    row[2] = where;
    row[3] = sw_strdup(profile);
    row[4] = sw_strdup(state);
    row[5] = sw_strdup(*claim ? claim : "-");
    row[6] = holder;
}

static void add_gpu_rows(struct rows *rows, struct json_object *gpu)
{
    struct json_object *slices = sw_json_get(gpu, "slices");
    const uint64_t in_use = taken(gpu);
    const bool healthy = sw_json_bool(gpu, true, "healthy", NULL);
    for (size_t i = 0; i < sw_json_len(slices); i++) {
        struct json_object *s = sw_json_at(slices, i);
        add_row(rows, gpu, text(s, "profile"), place(number(s, "start"), number(s, "size")),
                text(s, "state"), text(s, "claim"), holders(s));
    }
    for (int64_t at = 0, n; at < size_of(gpu); at += n) {
        for (n = 0; at + n < size_of(gpu) && !(in_use >> (at + n) & 1); n++)
            ;
        if (n)
            add_row(rows, gpu, "-", place(at, n), healthy ? "free" : "unhealthy", "",
                    sw_strdup(""));
        else
            n = 1;
    }
    if (!size_of(gpu))
        add_row(rows, gpu, "GPU", sw_strdup("-"), healthy ? "free" : "unhealthy", "",
                sw_strdup(""));
}

static void put_row(char **out, const char *const *cells, const int *widths)
{
    for (size_t k = 0; k + 1 < N_COLUMNS; k++)
        sw_append(out, "%-*s  ", widths[k], cells[k]);
    sw_append(out, "%s\n", cells[N_COLUMNS - 1]);
}

char *sw_gpu_slices_table(struct json_object *doc)
{
    static const char *const titles[N_COLUMNS] = { "NODE",  "GPU",   "MEMORY", "PROFILE",
                                                   "STATE", "CLAIM", "POD" };
    struct json_object *gpus = sw_json_get(doc, "gpus");
    struct rows rows = { 0 };
    int widths[N_COLUMNS];
    char *out = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(gpus); i++)
        add_gpu_rows(&rows, sw_json_at(gpus, i));
    for (size_t k = 0; k < N_COLUMNS; k++)
        widths[k] = (int)strlen(titles[k]);
    for (size_t i = 0; i < rows.n; i++)
        for (size_t k = 0; k < N_COLUMNS; k++) {
            const int width = sw_text_width(rows.list[i][k]);
            widths[k] = width > widths[k] ? width : widths[k];
        }
    if (rows.n)
        put_row(&out, titles, widths);
    for (size_t i = 0; i < rows.n; i++) {
        put_row(&out, (const char *const *)rows.list[i], widths);
        for (size_t k = 0; k < N_COLUMNS; k++)
            free(rows.list[i][k]);
    }
    free(rows.list);
    if (!sw_json_len(gpus))
        sw_append(&out, "no node publishes GPUs that can be sliced\n");
    put_waiting(&out, doc);
    return out;
}

/* ---- the drawing -------------------------------------------------------------------------------
 */

/* Write @label into the row, cut to its box. */
static void put_label(char *row, int64_t start, int64_t size, const char *label)
{
    const size_t room = (size_t)(size * UNIT - 1), len = strlen(label);
    memset(row + start * UNIT + 1, ' ', room);
    memcpy(row + start * UNIT + 1, label, len < room ? len : room);
}

static void draw_gpu(char **out, struct json_object *gpu)
{
    struct json_object *slices = sw_json_get(gpu, "slices");
    const int64_t n = size_of(gpu);
    const size_t width = (size_t)(n * UNIT) + 1;
    SW_AUTO_CHARS *profiles = sw_zalloc(width + 1, 1);
    SW_AUTO_CHARS *names = sw_zalloc(width + 1, 1);
    for (size_t i = 0; i < width; i++)
        profiles[i] = names[i] = i % UNIT ? '.' : '|';
    memset(names, ' ', width);
    for (size_t i = 0; i < sw_json_len(slices); i++) {
        struct json_object *s = sw_json_at(slices, i);
        const int64_t start = number(s, "start"), size = number(s, "size");
        SW_AUTO_CHARS *who = holders(s);
        if (start < 0 || size < 1 || start + size > n)
            continue;
        const char *slash = strchr(who, '/');
        put_label(profiles, start, size, text(s, "profile"));
        put_label(names, start, size, slash ? slash + 1 : who);
    }
    sw_append(out, "node %s, GPU %lld: %s, by %s%s\n", text(gpu, "node"),
              (long long)number(gpu, "gpu"), text(gpu, "product"), text(gpu, "by"),
              sw_json_bool(gpu, true, "healthy", NULL) ? "" : ", unhealthy");
    size_t end = width; /* without the blanks at the end */
    while (end && names[end - 1] == ' ')
        names[--end] = '\0';
    if (n)
        sw_append(out, "  %s\n", profiles);
    if (end)
        sw_append(out, "  %s\n", names);
}

char *sw_gpu_slices_drawing(struct json_object *doc)
{
    struct json_object *gpus = sw_json_get(doc, "gpus");
    char *out = sw_strdup(sw_json_len(gpus) ? "" : "no node publishes GPUs that can be sliced\n");
    for (size_t i = 0; i < sw_json_len(gpus); i++)
        draw_gpu(&out, sw_json_at(gpus, i));
    put_waiting(&out, doc);
    return out;
}
