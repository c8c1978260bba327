#include "data/yaml/yaml_source.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/utf8.h"
#include "data/yaml/yaml_mend.h"
#include "data/yaml/yaml_quick.h"

enum {
    MAX_ANCHORS = 4096, /* aliases look through them */
    /* With each token libyaml looks through the open flow collections, so text that only opens them
     * takes time by the square of its length. */
    MAX_FLOW_DEPTH = 1000,
    MAX_FLOW_WORK = 1 << 25,
};

static struct sw_yaml_source new_source(const char *text, size_t len, const char *file,
                                        int first_line, struct sw_err *err)
{
    return (struct sw_yaml_source){
        .text = text,
        .len = len,
        .file = file,
        .first_line = first_line > 0 ? first_line : 1,
        .replay_at = SIZE_MAX,
        .err = err,
    };
}

static void init_slow(struct sw_yaml_source *s)
{
    size_t mended_len;
    s->bytes = sw_yaml_mend(s->text, s->len, &mended_len);
    if (s->bytes) {
        s->text = s->bytes;
        s->len = mended_len;
    }
    const char *text = s->text;
    bool utf16 = s->len >= 2 && ((text[0] == '\xff' && text[1] == '\xfe') ||
                                 (text[0] == '\xfe' && text[1] == '\xff'));
    s->look.bangs = !utf16 && s->len && memchr(text, '!', s->len);
    s->look.slashes = !utf16 && sw_has_escape(text, s->len, '/');
    if (s->len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        s->look.byte = 3;
    if (!yaml_parser_initialize(&s->parser))
        abort(); /* out of memory */
    yaml_parser_set_input_string(&s->parser, (const unsigned char *)text, s->len);
}

void sw_yaml_source_init_slow(struct sw_yaml_source *s, const char *text, size_t len_bytes,
                              const char *file, int first_line, struct sw_err *err)
{
    *s = new_source(text, len_bytes, file, first_line, err);
    init_slow(s);
}

void sw_yaml_source_init(struct sw_yaml_source *s, const char *text, size_t len_bytes,
                         const char *file, int first_line, struct sw_err *err)
{
    *s = new_source(text, len_bytes, file, first_line, err);
    if (!sw_yaml_quick(text, len_bytes, s->first_line, &s->quick, &s->n_quick, &s->bytes))
        init_slow(s);
}

void sw_yaml_source_done(struct sw_yaml_source *s)
{
    if (!s->quick) {
        yaml_event_delete(&s->event);
        yaml_parser_delete(&s->parser);
    }
    sw_arena_free(s->arena);
    free(s->quick);
    free(s->bytes);
    free(s->recorded);
    free(s->anchors);
}

bool sw_yaml_source_is_broken(const struct sw_yaml_source *s)
{
    return s->failed || (!s->quick && s->parser.error != YAML_NO_ERROR);
}

void sw_yaml_source_reset(struct sw_yaml_source *s)
{
    if (s->arena)
        sw_arena_reset(s->arena);
    s->n_recorded = s->n_anchors = 0;
}

/* ---- errors ------------------------------------------------------------------------------------
 */

static struct sw_place place_of(const struct sw_yaml_source *s, yaml_mark_t mark)
{
    return (struct sw_place){
        .line = (int)mark.line + s->first_line,
        .column = (int)mark.column + 1,
    };
}

int sw_yaml_source_fail(struct sw_yaml_source *s, const struct sw_yaml_event *event,
                        const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    sw_err_vset(s->err, SW_INVALID, fmt, ap);
    va_end(ap);
    if (s->go_words)
        return sw_err_wrap(s->err, SW_INVALID, "yaml");
    return sw_place_wrap(s->err, SW_INVALID, s->file, event->place);
}

/* libyaml's message. "found character that cannot start any token" is replaced by one that says
 * which character, since a tab cannot be seen. */
static char *scanner_message(const struct sw_yaml_source *s)
{
    const char *problem = s->parser.problem ? s->parser.problem : "not YAML";
    const char *encoding = s->file ? sw_utf16_name(s->text, s->len) : NULL;
    if (encoding)
        return sw_printf("the file is in %s; it must be in UTF-8: %s", encoding, problem);
    if (!sw_streq(problem, "found character that cannot start any token"))
        return sw_strdup(problem);
    const yaml_mark_t mark = s->parser.problem_mark; /* its line is ASCII up to there */
    const char *at = s->text, *end = s->text + s->len;
    for (size_t line = 0; line < mark.line && at; line++)
        if ((at = memchr(at, '\n', (size_t)(end - at))))
            at++;
    char c = at && mark.column < (size_t)(end - at) ? at[mark.column] : '\0';
    return c == '\t'                          ? sw_strdup("a tab: YAML is indented by blanks only")
           : c == '@' || c == '`' || c == '%' ? sw_printf("no value begins with '%c': quote it", c)
                                              : sw_strdup(problem);
}

/* The parser's error, with the place where the node began that it could not finish. */
static void fail_parser(struct sw_yaml_source *s)
{
    const yaml_parser_t *p = &s->parser;
    if (p->error == YAML_MEMORY_ERROR)
        abort();
    if (s->go_words && p->problem) {
        /* go-yaml's: no column, lines counted from 0 except the scanner's; line 0 is left out */
        size_t line = p->problem_mark.line;
        if (line && p->error == YAML_SCANNER_ERROR)
            line++;
        else if (!line)
            line = p->context_mark.line;
        if (line)
            sw_err_set(s->err, SW_INVALID, "yaml: line %zu: %s", line, p->problem);
        else
            sw_err_set(s->err, SW_INVALID, "yaml: %s", p->problem);
        return;
    }
    SW_AUTO_CHARS *problem = scanner_message(s);
    struct sw_place place = place_of(s, p->problem_mark);
    if (p->error == YAML_READER_ERROR) {
        place = sw_place_at(s->text, s->len, p->problem_offset);
        place.line += s->first_line - 1;
    }
    if (p->context && p->context_mark.line != p->problem_mark.line)
        sw_err_set(s->err, SW_INVALID, "%s (%s that begins at line %d)", problem, p->context,
                   place_of(s, p->context_mark).line);
    else if (p->context)
        sw_err_set(s->err, SW_INVALID, "%s (%s)", problem, p->context);
    else
        sw_err_set(s->err, SW_INVALID, "%s", problem);
    sw_place_wrap(s->err, SW_INVALID, s->file, place);
}

/* ---- what go-yaml reads otherwise --------------------------------------------------------------
 */

/* The text from a mark on. Marks are asked for in order, so the walk is short. */
static const char *text_at(struct sw_yaml_source *s, yaml_mark_t mark)
{
    if (mark.index < s->look.character) {
        s->look.character = 0;
        s->look.byte = s->len >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    }
    while (s->look.character < mark.index && s->look.byte < s->len) {
        do
            s->look.byte++;
        while (s->look.byte < s->len && ((unsigned char)s->text[s->look.byte] & 0xc0) == 0x80);
        s->look.character++;
    }
    return s->text + s->look.byte;
}

/* A plain scalar with the tag "!" alone: libyaml hides the tag, go-yaml takes the scalar as text.
 */
static bool has_bare_bang(struct sw_yaml_source *s, const yaml_event_t *e)
{
    if (e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return e->data.scalar.plain_implicit; /* quotes and plain: nothing else gives both */
    if (!s->look.bangs)
        return false;
    const char *p = text_at(s, e->start_mark), *end = s->text + s->len;
    if (p < end && *p == '&') {
        while (p < end && !strchr(" \t\r\n", *p))
            p++;
        while (p < end && strchr(" \t\r\n", *p))
            p++;
    }
    return p < end && *p == '!';
}

/* libyaml knows the escape \/ of YAML 1.2, go-yaml does not. */
static int check_slashes(struct sw_yaml_source *s, const yaml_event_t *e,
                         const struct sw_yaml_event *out)
{
    const char *p = text_at(s, e->start_mark), *end = text_at(s, e->end_mark); /* in order */
    for (; p + 1 < end; p++) {
        if (*p != '\\')
            continue;
        if (p[1] == '/')
            return sw_yaml_source_fail(s, out, "found unknown escape character '/'");
        p++;
    }
    return 0;
}

static enum sw_yaml_tag read_tag(const char *tag)
{
    static const struct {
        const char *name;
        enum sw_yaml_tag tag;
    } names[] = {
        { "str", SW_TAG_STR },       { "bool", SW_TAG_BOOL },   { "int", SW_TAG_INT },
        { "float", SW_TAG_FLOAT },   { "null", SW_TAG_NULL },   { "timestamp", SW_TAG_TIMESTAMP },
        { "binary", SW_TAG_BINARY }, { "merge", SW_TAG_MERGE },
    };
    static const char prefix[] = "tag:yaml.org,2002:";
    if (!tag)
        return SW_TAG_NONE;
    if (sw_starts_with(tag, prefix))
        for (size_t i = 0; i < SW_COUNT(names); i++)
            if (strcmp(names[i].name, tag + sizeof prefix - 1) == 0)
                return names[i].tag;
    return SW_TAG_OTHER;
}

/* ---- anchors -----------------------------------------------------------------------------------
 */

static struct sw_arena *arena(struct sw_yaml_source *s)
{
    if (!s->arena)
        s->arena = sw_arena_new();
    return s->arena;
}

static uint64_t hash_of(const char *name)
{
    return sw_fnv64a(name, strlen(name));
}

static int open_anchor(struct sw_yaml_source *s, const yaml_char_t *name, struct sw_yaml_event *out)
{
    if (!name)
        return 0;
    if (s->n_anchors == MAX_ANCHORS)
        return sw_yaml_source_fail(s, out, "more than %d anchors", MAX_ANCHORS);
    SW_GROW(s->anchors, s->n_anchors, s->cap_anchors);
    s->anchors[s->n_anchors++] = (struct sw_yaml_anchor){
        .name = sw_arena_strdup(arena(s), (const char *)name),
        .hash = hash_of((const char *)name),
        .first = s->n_recorded,
        .type = out->type,
    };
    out->anchor = s->n_anchors;
    s->recording++;
    return 0;
}

void sw_yaml_source_close(struct sw_yaml_source *s, const struct sw_yaml_event *event)
{
    if (event->anchor == 0 || event->type == YAML_ALIAS_EVENT)
        return;
    s->anchors[event->anchor - 1].end = s->n_recorded;
    s->recording--;
}

static int find_anchor(struct sw_yaml_source *s, const char *name, struct sw_yaml_event *out)
{
    s->failed = true;
    uint64_t hash = hash_of(name);
    size_t i = s->n_anchors;
    while (i > 0 && (s->anchors[i - 1].hash != hash || strcmp(s->anchors[i - 1].name, name) != 0))
        i--;
    if (i == 0)
        return sw_yaml_source_fail(s, out, "unknown anchor '%s' referenced", name);
    if (s->anchors[i - 1].end == 0)
        return sw_yaml_source_fail(s, out, "anchor '%s' value contains itself", name);
    out->anchor = i;
    s->failed = false;
    return 0;
}

/* ---- events ------------------------------------------------------------------------------------
 */

static int read_scalar(struct sw_yaml_source *s, const yaml_event_t *e, struct sw_yaml_event *out)
{
    out->text = (const char *)e->data.scalar.value;
    out->len = e->data.scalar.length;
    out->tag = read_tag((const char *)e->data.scalar.tag);
    out->plain = e->data.scalar.plain_implicit;
    if (out->tag == SW_TAG_NONE && has_bare_bang(s, e))
        out->tag = SW_TAG_OTHER;
    int rc = open_anchor(s, e->data.scalar.anchor, out);
    if (rc < 0)
        return rc;
    /* in a flow collection a '?' ends go-yaml's plain scalar and begins a key: one too many */
    if (s->flow_depth > 0 && e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
        memchr(out->text, '?', out->len))
        return sw_yaml_source_fail(s, out, "found '?' in a flow collection outside of quotes");
    if (s->look.slashes && e->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE)
        return check_slashes(s, e, out);
    return 0;
}

/* Within a flow collection there are only flow collections. */
static int enter_flow(struct sw_yaml_source *s, bool flow, const struct sw_yaml_event *out)
{
    s->flow_depth += flow || s->flow_depth > 0;
    if (s->flow_depth <= MAX_FLOW_DEPTH)
        return 0;
    s->failed = true;
    return sw_yaml_source_fail(s, out, "exceeded max depth of %d", MAX_FLOW_DEPTH);
}

static int read_live(struct sw_yaml_source *s, struct sw_yaml_event *out)
{
    yaml_event_t *e = &s->event;
    yaml_event_delete(e);
    if (!yaml_parser_parse(&s->parser, e)) {
        *e = (yaml_event_t){ 0 };
        fail_parser(s);
        return SW_INVALID;
    }
    *out = (struct sw_yaml_event){ .type = e->type, .place = place_of(s, e->start_mark) };
    const yaml_version_directive_t *version;
    s->flow_work += (uint64_t)s->flow_depth;
    if (s->flow_work > MAX_FLOW_WORK) {
        s->failed = true;
        return sw_yaml_source_fail(s, out, "flow collections are too large and too deep");
    }
    int rc;
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return read_scalar(s, e, out);
    case YAML_DOCUMENT_START_EVENT:
        version = e->data.document_start.version_directive;
        if (!version || (version->major == 1 && version->minor == 1))
            return 0;
        return sw_yaml_source_fail(s, out,
                                   "found incompatible YAML document: version %d.%d, not 1.1",
                                   version->major, version->minor);
    case YAML_ALIAS_EVENT:
        return find_anchor(s, (const char *)e->data.alias.anchor, out);
    case YAML_MAPPING_START_EVENT:
        rc = enter_flow(s, e->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE, out);
        return rc < 0 ? rc : open_anchor(s, e->data.mapping_start.anchor, out);
    case YAML_SEQUENCE_START_EVENT:
        rc = enter_flow(s, e->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE, out);
        return rc < 0 ? rc : open_anchor(s, e->data.sequence_start.anchor, out);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        s->flow_depth -= s->flow_depth > 0;
        return 0;
    default:
        return 0;
    }
}

int sw_yaml_source_next(struct sw_yaml_source *s, struct sw_yaml_event *out)
{
    if (s->replay_at != SIZE_MAX) {
        *out = s->recorded[s->replay_at++];
        return 0;
    }
    if (s->quick) { /* no anchors: nothing to record. The last one is the end of the stream. */
        *out = s->quick[s->quick_at];
        s->quick_at += s->quick_at + 1 < s->n_quick;
        return 0;
    }
    int rc = read_live(s, out);
    if (rc < 0 || s->recording == 0)
        return rc;
    SW_GROW(s->recorded, s->n_recorded, s->cap_recorded);
    struct sw_yaml_event *copy = &s->recorded[s->n_recorded++];
    *copy = *out;
    if (out->text)
        copy->text = sw_arena_strndup(arena(s), out->text, out->len);
    if (out->type != YAML_ALIAS_EVENT)
        copy->anchor = 0; /* played again, it opens nothing */
    return 0;
}

int sw_yaml_source_skip(struct sw_yaml_source *s, const struct sw_yaml_event *event, int max_depth)
{
    if (max_depth <= 0 || !sw_stack_has_room())
        return sw_yaml_source_fail(s, event, "nested too deep");
    int rc = 0;
    bool opens = event->type == YAML_MAPPING_START_EVENT ||
                 event->type == YAML_SEQUENCE_START_EVENT;
    while (opens && rc == 0) {
        struct sw_yaml_event inner;
        rc = sw_yaml_source_next(s, &inner);
        if (rc < 0 || inner.type == YAML_MAPPING_END_EVENT || inner.type == YAML_SEQUENCE_END_EVENT)
            break;
        rc = sw_yaml_source_skip(s, &inner, max_depth - 1);
    }
    sw_yaml_source_close(s, event);
    return rc;
}
