/* fix: the rules, each of which changes one line. */
#include "cli/lint/fix.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lint/fields.h"
#include "cli/lint/lint.h"
#include "cli/lint/own_kinds.h"
#include "cli/lint/source_lines.h"
#include "data/data.h"
#include "data/text/nearest.h"
#include "data/text/semver.h"
#include "kube/deprecated/deprecated.h"
#include "operator/engine/readiness/gate.h"
#include "operator/manifests/hooks.h"

void sw_fixes_done(struct sw_fixes *fixes)
{
    for (size_t i = 0; i < fixes->n; i++) {
        free(fixes->items[i].path);
        free(fixes->items[i].text);
    }
    free(fixes->items);
    *fixes = (struct sw_fixes){ 0 };
}

/* A file as its lines are gone through. */
struct fixing {
    const char *path;
    enum sw_fix_kind kind;
    const struct sw_fix_opts *opts;
    struct sw_fixes *fixes;
    struct sw_source_lines lines; /* of the text of now */
    char **texts;                 /* a line's new text, by its head; NULL: it stays */
    struct sw_fields *fields;     /* owned; NULL: not asked for yet */
    struct sw_own_kinds *own;     /* the same */
};

enum { MAX_PATH = 32 };

static void __attribute__((format(printf, 3, 4)))
note(const struct fixing *f, size_t line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = sw_vprintf(fmt, ap);
    va_end(ap);
    SW_GROW(f->fixes->items, f->fixes->n, f->fixes->cap);
    f->fixes->items[f->fixes->n++] = (struct sw_fix){ sw_strdup(f->path), (int)line, text };
}

/* Put @text in the place of @piece of line @i. Only one rule changes a line at a time. */
static void replace(struct fixing *f, size_t i, struct sw_source_piece piece, const char *text)
{
    const struct sw_source_line *line = &f->lines.items[i];
    const size_t before = (size_t)(piece.at - line->at);
    f->texts[line->head] = sw_printf("%.*s%s%.*s", (int)before, line->at, text,
                                     (int)(line->len - before - piece.len), piece.at + piece.len);
}

static char *piece_text(struct sw_source_piece piece)
{
    return sw_strndup(piece.at, piece.len);
}

/* The line of the field @key at the top of the document of line @i; -1: there is none, or several.
 */
static int top_field(const struct sw_source_lines *lines, size_t i, const char *key)
{
    size_t end;
    int found = -1;
    for (size_t k = sw_source_document(lines, i, &end); k < end; k++) {
        if (lines->items[k].indent || !sw_source_is(lines->items[k].key, key))
            continue;
        if (found >= 0)
            return -1;
        found = (int)k;
    }
    return found;
}

/* Whether the document of line @i has a field @key; one at @indent, if that is not -1. */
static bool has_field(const struct sw_source_lines *lines, size_t i, const char *key, int indent)
{
    size_t end;
    for (size_t k = sw_source_document(lines, i, &end); k < end; k++)
        if (sw_source_is(lines->items[k].key, key) &&
            (indent < 0 || lines->items[k].indent == (size_t)indent))
            return true;
    return false;
}

/* ---- API versions that go -----------------------------------------------------------------------
 */

static bool holds(const struct sw_source_lines *lines, size_t i, enum sw_deprecated_if condition)
{
    size_t end, k = sw_source_document(lines, i, &end);
    switch (condition) {
    case SW_DEPRECATED_ALWAYS:
        return true;
    case SW_DEPRECATED_MATCHES:
        return has_field(lines, i, "matchLabels", -1) ||
               has_field(lines, i, "matchExpressions", -1);
    case SW_DEPRECATED_SELECTOR:
        for (; k < end; k++)
            if (sw_source_is(lines->items[k].key, "template"))
                return has_field(lines, i, "selector", (int)lines->items[k].indent) &&
                       !has_field(lines, i, "rollbackTo", -1) &&
                       !has_field(lines, i, "templateGeneration", -1);
        return false;
    }
    return false;
}

/* Whether the chart is for a Kubernetes that does not serve 1.@minor's APIs yet. */
static bool is_for_older(const char *range_text, int minor)
{
    SW_AUTO(sw_semver_range) *range = NULL;
    struct sw_semver older;
    SW_ERR(ignored); /* lint tells of it */
    SW_AUTO_CHARS *text = sw_printf("1.%d.99", minor - 1);
    if (!range_text || minor <= 20) /* the oldest that slipway knows */
        return false;
    if (sw_semver_range_parse(range_text, strlen(range_text), &range, &ignored) < 0 ||
        sw_semver_parse(text, strlen(text), &older, &ignored) < 0) {
        sw_err_done(&ignored);
        return true;
    }
    return sw_semver_range_has(range, &older);
}

static void fix_api_version(struct fixing *f, size_t i)
{
    const struct sw_source_line *line = &f->lines.items[i];
    if (line->indent || line->is_chosen || top_field(&f->lines, i, "apiVersion") != (int)i)
        return;
    const int kind_line = top_field(&f->lines, i, "kind");
    if (kind_line < 0)
        return;
    SW_AUTO_CHARS *version = piece_text(line->value);
    SW_AUTO_CHARS *kind = piece_text(f->lines.items[kind_line].value);
    const struct sw_deprecated *d = sw_deprecated_find(version, kind);
    if (!d || !d->same || f->opts->kube_minor < d->since || !holds(&f->lines, i, d->same_if) ||
        f->opts->kube_minor < d->same_since || is_for_older(f->opts->kube_range, d->same_since))
        return;
    replace(f, i, line->value, d->same);
    note(f, f->lines.items[i].number, "%s of %s is now %s", version, kind, d->same);
}

/* ---- annotations --------------------------------------------------------------------------------
 */

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (sw_streq(*names, name))
            return true;
    return false;
}

/* Whether the map of line @i has the key already. */
static bool has_sibling(const struct sw_source_lines *lines, size_t i, const char *key)
{
    const int parent = sw_source_parent(lines, i);
    size_t end;
    (void)sw_source_document(lines, i, &end);
    for (size_t k = (size_t)(parent + 1); k < end; k++)
        if (sw_source_is(lines->items[k].key, key) && sw_source_parent(lines, k) == parent)
            return true;
    return false;
}

/* The key of line @i becomes the one of @names that it is near to. */
static void fix_key(struct fixing *f, size_t i, const char *const *names)
{
    const struct sw_source_line *line = &f->lines.items[i];
    SW_AUTO_CHARS *key = piece_text(line->key);
    if (is_among(key, names))
        return;
    const char *meant = sw_text_nearest_only(key, names);
    const char *slash = strchr(key, '/');
    enum { SHORT = 6 }; /* of which two letters more or less make another word */
    if (!meant || has_sibling(&f->lines, i, meant) ||
        (strlen(slash ? slash + 1 : key) < SHORT &&
         sw_text_distance(key, strlen(key), meant, strlen(meant), true) > 1))
        return;
    replace(f, i, line->key, meant);
    note(f, line->number, "%s is now %s", key, meant);
}

static void fix_name(struct fixing *f, size_t i, const char *const *names)
{
    SW_AUTO_CHARS *key = piece_text(f->lines.items[i].key);
    if (sw_starts_with(key, "slipway.dev/") || sw_starts_with(key, SW_SRO_PREFIX))
        fix_key(f, i, names);
}

/* "5 minutes", "1 hour and 30 minutes" as a duration; NULL: it is none. Owned. */
static char *plain_duration(const char *text)
{
    static const struct {
        const char *word;
        int64_t seconds;
    } units[] = { { "s", 1 },       { "sec", 1 },      { "secs", 1 },     { "second", 1 },
                  { "seconds", 1 }, { "m", 60 },       { "min", 60 },     { "mins", 60 },
                  { "minute", 60 }, { "minutes", 60 }, { "h", 3600 },     { "hr", 3600 },
                  { "hrs", 3600 },  { "hour", 3600 },  { "hours", 3600 }, { "d", 86400 },
                  { "day", 86400 }, { "days", 86400 } };
    int64_t total = 0;
    while (*text) {
        size_t digits = strspn(text, "0123456789"), n = 0, u = 0;
        if (!digits || digits > 6)
            return NULL;
        const int64_t number = strtol(text, NULL, 10);
        text += digits;
        text += strspn(text, " ");
        while ((text[n] >= 'a' && text[n] <= 'z') || (text[n] >= 'A' && text[n] <= 'Z'))
            n++;
        while (u < SW_COUNT(units) &&
               (strlen(units[u].word) != n || strncasecmp(units[u].word, text, n) != 0))
            u++;
        if (u == SW_COUNT(units))
            return NULL;
        total += number * units[u].seconds;
        text += n;
        text += strspn(text, ", ");
        if (sw_starts_with(text, "and "))
            text += strlen("and ");
    }
    if (!total)
        return NULL;
    char *out = sw_strdup("");
    if (total / 3600)
        sw_append(&out, "%dh", (int)(total / 3600));
    if (total / 60 % 60)
        sw_append(&out, "%dm", (int)(total / 60 % 60));
    if (total % 60)
        sw_append(&out, "%ds", (int)(total % 60));
    return out;
}

static void fix_duration(struct fixing *f, size_t i)
{
    const struct sw_source_line *line = &f->lines.items[i];
    int64_t ms;
    SW_ERR(ignored);
    SW_AUTO_CHARS *text = piece_text(line->value);
    if (!*text || sw_span_parse(text, &ms, &ignored) == 0)
        return;
    sw_err_done(&ignored);
    SW_AUTO_CHARS *duration = plain_duration(text);
    if (!duration)
        return;
    replace(f, i, line->value, duration);
    note(f, f->lines.items[i].number, "'%s' is now %s", text, duration);
}

/* A number, or true or false, which "yes" is in YAML as well: what it does not take for a text. */
static bool is_no_text(struct sw_source_piece value)
{
    enum { LONGEST = 64 };
    SW_AUTO_JSON *doc = NULL;
    SW_ERR(ignored);
    if (!value.len || value.len > LONGEST)
        return false;
    if (sw_yaml_parse(value.at, value.len, &(struct sw_yaml_opts){ 0 }, &doc, &ignored) < 0)
        sw_err_done(&ignored);
    return json_object_is_type(doc, json_type_int) || json_object_is_type(doc, json_type_double) ||
           json_object_is_type(doc, json_type_boolean);
}

static void fix_quotes(struct fixing *f, size_t i)
{
    const struct sw_source_line *line = &f->lines.items[i];
    if (line->quote || !is_no_text(line->value))
        return;
    SW_AUTO_CHARS *text = piece_text(line->value), *quoted = sw_printf("\"%s\"", text);
    SW_AUTO_CHARS *key = piece_text(line->key);
    replace(f, i, line->value, quoted);
    note(f, f->lines.items[i].number, "%s: %s is in quotes now: it must be text", key, text);
}

static void fix_metadata(struct fixing *f, size_t i, bool is_annotation)
{
    const struct sw_source_line *line = &f->lines.items[i];
    if (is_annotation)
        fix_name(f, i, sw_hook_annotations());
    if (!f->texts[line->head] && is_annotation && sw_source_is(line->key, SW_ANN_TIMEOUT))
        fix_duration(f, i);
    if (!f->texts[line->head])
        fix_quotes(f, i);
}

/* ---- fields that must be text -------------------------------------------------------------------
 */

/* What the document of line @i is: its field @key ("kind"); owned, "" where that is not plain. */
static char *head_of(const struct fixing *f, size_t i, const char *key)
{
    const int line = top_field(&f->lines, i, key);
    return line < 0 ? sw_strdup("") : piece_text(f->lines.items[line].value);
}

static void fix_text_field(struct fixing *f, size_t i)
{
    char *names[MAX_PATH];
    size_t n = 0, first = MAX_PATH;
    if (f->lines.items[i].quote || !is_no_text(f->lines.items[i].value))
        return;
    SW_AUTO_CHARS *version = head_of(f, i, "apiVersion"), *kind = head_of(f, i, "kind");
    for (int at = (int)i; at >= 0 && first > 0; at = sw_source_parent(&f->lines, (size_t)at), n++)
        names[--first] = piece_text(f->lines.items[at].key);
    f->fields = f->fields ? f->fields : sw_fields_new();
    if (sw_fields_is_text(f->fields, version, kind, (const char *const *)names + first, n))
        fix_quotes(f, i);
    for (; first < MAX_PATH; first++)
        free(names[first]);
}

/* ---- slipway's own kinds ------------------------------------------------------------------------
 */

/* The schema of the document of line @i, if that is of slipway's own kinds; borrowed. NULL: it is
 * none. */
static struct json_object *own_schema(struct fixing *f, size_t i)
{
    const char *version;
    SW_AUTO_CHARS *api = head_of(f, i, "apiVersion"), *kind = head_of(f, i, "kind");
    if (!*api || !*kind || !strchr(api, '.'))
        return NULL;
    f->own = f->own ? f->own : sw_own_kinds_new();
    struct json_object *crd = sw_own_kinds_find(f->own, kind);
    SW_AUTO_CHARS *group = sw_printf("%s/", sw_json_str(crd, "", "spec", "group", NULL));
    return crd && sw_starts_with(api, group) ? sw_own_kinds_schema(crd, &version) : NULL;
}

/* The schema of the field of line @i; @i -1: the document's, @top. */
static struct json_object *schema_of(struct fixing *f, int i, struct json_object *top, int depth)
{
    if (i < 0 || depth == MAX_PATH)
        return i < 0 ? top : NULL;
    struct json_object *above = schema_of(f, sw_source_parent(&f->lines, (size_t)i), top,
                                          depth + 1);
    SW_AUTO_CHARS *key = piece_text(f->lines.items[i].key);
    return sw_own_kinds_below(above, key);
}

/* A name that is none of those of @above, the schema of the map of line @i. */
static void fix_own_name(struct fixing *f, size_t i, struct json_object *above)
{
    struct json_object *items = sw_json_get(above, "items"), *of = items ? items : above,
                       *properties = sw_json_get(of, "properties");
    const char *names[256] = { 0 };
    size_t n = 0;
    if (!properties || sw_json_bool(of, false, "x-kubernetes-preserve-unknown-fields", NULL))
        return;
    json_object_object_foreach(properties, name, property)
    {
        (void)property;
        if (n + 1 < SW_COUNT(names))
            names[n++] = name;
    }
    fix_key(f, i, names);
}

/* A line of a document with the schema @top. */
static void fix_own_line(struct fixing *f, size_t i, struct json_object *top)
{
    const struct sw_source_line *line = &f->lines.items[i];
    const int parent = sw_source_parent(&f->lines, i);
    if (parent < 0)
        return;
    struct json_object *schema = schema_of(f, (int)i, top, 0);
    const char *pattern = sw_json_str(schema, NULL, "pattern", NULL);
    if (!schema) {
        fix_own_name(f, i, schema_of(f, parent, top, 0));
        return;
    }
    SW_AUTO_CHARS *text = piece_text(line->value);
    if (!sw_streq(sw_json_str(schema, "", "type", NULL), "string") || !*text)
        return;
    SW_AUTO_CHARS *duration = pattern && !sw_own_kinds_match(pattern, text) ? plain_duration(text)
                                                                            : NULL;
    if (duration && sw_own_kinds_match(pattern, duration))
        fix_duration(f, i);
    else
        fix_quotes(f, i);
}

/* ---- one line -----------------------------------------------------------------------------------
 */

static void fix_manifest_line(struct fixing *f, size_t i)
{
    if (sw_source_is(f->lines.items[i].key, "apiVersion")) {
        fix_api_version(f, i);
        return;
    }
    struct json_object *own = own_schema(f, i);
    if (own)
        fix_own_line(f, i, own);
    else
        fix_text_field(f, i);
    const int map = sw_source_parent(&f->lines, i);
    const int metadata = map < 0 ? -1 : sw_source_parent(&f->lines, (size_t)map);
    if (f->texts[f->lines.items[i].head] || metadata < 0 ||
        !sw_source_is(f->lines.items[metadata].key, "metadata"))
        return;
    const bool is_annotation = sw_source_is(f->lines.items[map].key, "annotations");
    if (is_annotation || sw_source_is(f->lines.items[map].key, "labels"))
        fix_metadata(f, i, is_annotation);
}

static void fix_chart_line(struct fixing *f, size_t i)
{
    const struct sw_source_line *line = &f->lines.items[i];
    const int parent = sw_source_parent(&f->lines, i);
    if (parent >= 0) {
        if (f->lines.items[parent].indent ||
            !sw_source_is(f->lines.items[parent].key, "annotations"))
            return;
        fix_name(f, i, sw_chart_annotation_names());
        if (!f->texts[line->head])
            fix_quotes(f, i);
    } else if (sw_source_is(line->key, "version") || sw_source_is(line->key, "appVersion")) {
        fix_quotes(f, i);
    } else if (sw_source_is(line->key, "apiVersion") && sw_source_is(line->value, "v1") &&
               !f->opts->has_requirements && top_field(&f->lines, i, "dependencies") >= 0) {
        replace(f, i, line->value, "v2");
        note(f, f->lines.items[i].number, "apiVersion v1 is now v2, which has dependencies");
    }
}

/* The text with what has changed; owned. */
static char *apply(const struct fixing *f, size_t len)
{
    size_t size = len + 1;
    for (size_t i = 0; i < f->lines.n; i++)
        size += f->texts[i] ? strlen(f->texts[i]) : 0;
    char *out = sw_alloc(size), *to = out;
    for (size_t i = 0; i < f->lines.n; i++) {
        const struct sw_source_line *line = &f->lines.items[i];
        if (line->head != i)
            continue;
        const char *text = f->texts[i] ? f->texts[i] : line->at;
        const size_t n = f->texts[i] ? strlen(f->texts[i]) : line->len;
        to = mempcpy(to, text, n);
        to = mempcpy(to, line->at + line->len, line->end);
    }
    *to = '\0';
    return out;
}

/* The text with what the rules of lines change, once. NULL: they change nothing. */
static char *fix_lines(struct fixing *f, const char *text, size_t len)
{
    bool is_changed = false;
    char *out = NULL;
    sw_source_lines_read(text, len, &f->lines);
    f->texts = sw_zalloc(f->lines.n + 1, sizeof *f->texts);
    for (size_t i = 0; i < f->lines.n; i++) {
        const size_t head = f->lines.items[i].head; /* a line has one change at a time */
        if (!f->lines.items[i].key.len || f->kind == SW_FIX_VALUES || f->texts[head])
            continue;
        if (f->kind == SW_FIX_CHART)
            fix_chart_line(f, i);
        else
            fix_manifest_line(f, i);
        is_changed = is_changed || f->texts[head];
    }
    if (is_changed)
        out = apply(f, len);
    for (size_t i = 0; i < f->lines.n; i++)
        free(f->texts[i]);
    free(f->texts);
    sw_source_lines_done(&f->lines);
    return out;
}

/* ---- the whole text -----------------------------------------------------------------------------
 */

/* What the documents of @text say, as one text; NULL: it is no YAML. Owned. */
static char *meaning(const char *text, size_t len)
{
    struct sw_yaml_docs docs = { 0 };
    SW_ERR(ignored);
    if (sw_yaml_parse_all(text, len, &(struct sw_yaml_opts){ 0 }, &docs, &ignored) < 0) {
        sw_err_done(&ignored);
        return NULL;
    }
    char *out = sw_strdup("");
    for (size_t i = 0; i < docs.n_docs; i++) {
        SW_AUTO_CHARS *one = sw_json_text(docs.docs[i].object, SW_JSON_PLAIN, NULL);
        sw_append(&out, "%s\n", one);
    }
    sw_yaml_docs_done(&docs);
    return out;
}

/* @text with @width blanks for each tab that a line begins with. @line: the first that has one. */
static char *without_tabs(const char *text, int width, size_t *line)
{
    char *out = sw_strdup("");
    size_t n = 0, first = SIZE_MAX;
    for (const char *at = text; *at; n++) {
        const char *nl = strchr(at, '\n'), *end = nl ? nl + 1 : at + strlen(at);
        for (; *at == ' ' || *at == '\t'; at++) {
            if (*at == '\t' && first == SIZE_MAX)
                first = n;
            sw_append(&out, "%*s", *at == '\t' ? width : 1, "");
        }
        sw_append(&out, "%.*s", (int)(end - at), at);
        at = end;
    }
    *line = first;
    return out;
}

/* How much of @text, of @len, there is up to the field at the top that follows the last line which
 * begins with a tab: what is behind has no part in what the tabs mean. */
static size_t tabs_end(const char *text, size_t len)
{
    size_t end = 0;
    bool is_open = false; /* a line with a tab has been, and no field at the top since */
    for (size_t at = 0; at < len;) {
        const char *nl = memchr(text + at, '\n', len - at);
        const size_t blanks = strspn(text + at, " \t"), next = nl ? (size_t)(nl + 1 - text) : len;
        is_open = is_open || memchr(text + at, '\t', blanks);
        if (is_open && !blanks && text[at] != '#' && text[at] != '\n' && text[at] != '\r')
            is_open = false;
        end = is_open ? next : end;
        at = next;
    }
    return end;
}

/* Tabs at the beginning of lines, which YAML does not allow: where the text is YAML without them,
 * and says the same whatever a tab is wide; what follows them may be none. NULL: that is not so. */
static char *fix_tabs(const struct fixing *f, const char *text, size_t len)
{
    static const int widths[] = { 2, 4, 8 };
    char *out = NULL;
    SW_AUTO_CHARS *first_meaning = NULL, *before = meaning(text, len);
    const size_t end = tabs_end(text, len);
    size_t line;
    if (before || strlen(text) != len || memmem(text, len, "{{", 2))
        return NULL;
    for (size_t i = 0; i < SW_COUNT(widths); i++) {
        SW_AUTO_CHARS *changed = without_tabs(text, widths[i], &line);
        SW_AUTO_CHARS *means = meaning(changed, strlen(changed) - (len - end));
        if (line == SIZE_MAX || (means && first_meaning && !sw_streq(means, first_meaning))) {
            free(out);
            return NULL;
        }
        if (!means || first_meaning)
            continue;
        first_meaning = SW_TAKE(means);
        out = SW_TAKE(changed);
    }
    if (out)
        note(f, line + 1, "tabs at the beginning of lines are blanks now");
    return out;
}

/* A line end behind the last line, where that does not change what the text says. */
static char *fix_end(const struct fixing *f, const char *text, size_t len)
{
    if (!len || text[len - 1] == '\n' || strlen(text) != len || memmem(text, len, "{{", 2))
        return NULL;
    char *out = sw_printf("%s\n", text);
    SW_AUTO_CHARS *before = meaning(text, len), *after = meaning(out, len + 1);
    size_t n = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        n++;
    if (before && after && sw_streq(before, after)) {
        note(f, n + 1, "the last line ends with a line end now");
        return out;
    }
    free(out);
    return NULL;
}

char *sw_fix_text(const char *path, enum sw_fix_kind kind, const char *text, size_t len,
                  const struct sw_fix_opts *opts, struct sw_fixes *fixes)
{
    struct fixing f = { .path = path, .kind = kind, .opts = opts, .fixes = fixes };
    SW_AUTO_CHARS *now = sw_strndup(text, len);
    bool is_changed = false;
    if (strlen(now) != len)
        return NULL; /* no text */
    for (char *next; (next = fix_tabs(&f, now, strlen(now))) ||
                     (next = fix_lines(&f, now, strlen(now))) ||
                     (next = fix_end(&f, now, strlen(now)));) {
        free(now);
        now = next;
        is_changed = true;
    }
    sw_fields_free(f.fields);
    sw_own_kinds_free(f.own);
    return is_changed ? SW_TAKE(now) : NULL;
}
