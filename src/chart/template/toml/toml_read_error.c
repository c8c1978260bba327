/* The errors of BurntSushi/toml 1.5, which Helm shows. That library reads one character ahead: a
 * line end that it has passed counts as the next line, except in its errors about line ends. */
#include <string.h>

#include "chart/template/toml/toml_read.h"
#include "data/go/strconv.h"
#include "data/text/unicode.h"
#include "data/text/utf8.h"

static size_t line_of(const struct toml_reader *r, const char *at)
{
    size_t line = 1;
    for (const char *p = r->start; p < at && p < r->end; p++)
        line += *p == '\n';
    return line;
}

static int fail(struct toml_reader *r, size_t line, const char *what)
{
    struct toml_key c = r->context, k = r->key; /* "table.key", or what there is of it */
    const char *key = sw_arena_printf(r->arena, "%.*s%s%.*s", (int)c.len, c.s,
                                      c.len && k.len ? "." : "", (int)k.len, k.s);
    if (!*key)
        return sw_err_set(r->err, SW_INVALID, "toml: line %zu: %s", line, what);
    return sw_err_set(r->err, SW_INVALID, "toml: line %zu (last key %s): %s", line,
                      sw_quoted(r->arena, key, strlen(key)), what);
}

/* The character that ended the reading. */
static int fail_cut(struct toml_reader *r)
{
    unsigned char c = (unsigned char)*r->end;
    bool is_control = c < 0x20 || c == 0x7F;
    return fail(r, line_of(r, r->end),
                sw_arena_printf(r->arena,
                                is_control ? "TOML files cannot contain control characters: "
                                             "'0x%02x'"
                                           : "invalid UTF-8 byte: 0x%02x",
                                c));
}

static bool is_cut(const struct toml_reader *r)
{
    return r->p >= r->end && r->end < r->full_end;
}

/* The line of the reading place; at the end of the text, that of its last line end. */
static size_t line_here(const struct toml_reader *r)
{
    bool behind = r->p >= r->end && r->p > r->start && r->p[-1] == '\n';
    return line_of(r, r->p) - behind;
}

int sw_toml_fail(struct toml_reader *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *what = sw_vprintf(fmt, ap);
    va_end(ap);
    return is_cut(r) ? fail_cut(r) : fail(r, line_here(r), what);
}

int sw_toml_fail_key(struct toml_reader *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *what = sw_vprintf(fmt, ap);
    va_end(ap);
    return fail(r, line_of(r, r->key_at), what);
}

int sw_toml_fail_newline(struct toml_reader *r, const char *what)
{
    return fail(r, line_of(r, r->p) - (*r->p == '\r'), what);
}

int sw_toml_fail_rune(struct toml_reader *r, const char *before, const char *after)
{
    struct text t = { .limit = 64 };
    uint32_t rune = 0;
    bool newline = r->p < r->end && *r->p == '\n';
    if (is_cut(r))
        return fail_cut(r);
    if (r->p < r->end)
        (void)sw_rune_decode(r->p, (size_t)(r->end - r->p), &rune);
    sw_quote_rune(&t, rune, 0);
    const char *shown = sw_text_end(&t, r->arena);
    return fail(r, line_here(r) + newline,
                sw_arena_printf(r->arena, "%s%s%s", before, shown, after));
}

int sw_toml_fail_rune_or_end(struct toml_reader *r, const char *before, const char *after)
{
    uint32_t rune;
    if (r->p >= r->end)
        return sw_toml_fail(r, "%send of file%s", before, after);
    size_t n = sw_rune_decode(r->p, (size_t)(r->end - r->p), &rune);
    return fail(r, line_of(r, r->p) + (*r->p == '\n'),
                sw_arena_printf(r->arena, "%s'%.*s'%s", before, (int)n, r->p, after));
}
