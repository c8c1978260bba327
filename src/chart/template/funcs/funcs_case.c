/* sprig's functions that change letters' case. */
#include "chart/template/funcs/funcs.h"
#include "data/text/unicode.h"

enum { LOWER, UPPER };

static int fn_upper_lower(struct call *c)
{
    struct sw_value s = c->args[0];
    uint32_t r;
    for (size_t i = 0; i < s.len;) {
        i += sw_rune_decode(s.as.s + i, s.len - i, &r);
        sw_text_rune(c->text,
                     c->func->variant == UPPER ? sw_rune_upper_of(r) : sw_rune_lower_of(r));
    }
    return sw_return_text(c);
}

enum { TITLE, UNTITLE };

/* The first letter of each word in title case, or (UNTITLE) in lower case. */
static int fn_title(struct call *c)
{
    struct sw_value s = c->args[0];
    bool title = c->func->variant == TITLE;
    uint32_t r, before = ' ';
    for (size_t i = 0; i < s.len; before = r) {
        i += sw_rune_decode(s.as.s + i, s.len - i, &r);
        bool is_first = sw_rune_is_space(before);
        if (title) /* the separators of strings.Title */
            is_first = !sw_rune_is_letter(before) && !sw_rune_is_digit(before) &&
                       (before < 0x80 ? before != '_' : is_first);
        sw_text_rune(c->text, !is_first ? r : title ? sw_rune_title_of(r) : sw_rune_lower_of(r));
    }
    return sw_return_text(c);
}

static int fn_swapcase(struct call *c)
{
    struct sw_value s = c->args[0];
    bool space = true;
    uint32_t r;
    for (size_t i = 0; i < s.len;) {
        i += sw_rune_decode(s.as.s + i, s.len - i, &r);
        if (sw_rune_is_upper(r) || (r >= 0x80 && sw_rune_in(r, &sw_rune_lt)))
            sw_text_rune(c->text, sw_rune_lower_of(r));
        else if (sw_rune_is_lower(r))
            sw_text_rune(c->text, space ? sw_rune_title_of(r) : sw_rune_upper_of(r));
        else
            sw_text_rune(c->text, r);
        space = sw_rune_is_space(r);
    }
    return sw_return_text(c);
}

/* goutils.Initials goes by bytes and takes each for a rune. */
static int fn_initials(struct call *c)
{
    struct sw_value s = c->args[0];
    bool first = true;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char b = (unsigned char)s.as.s[i];
        bool space = sw_rune_is_space(b);
        if (first && !space)
            sw_text_rune(c->text, b);
        first = space;
    }
    return sw_return_text(c);
}

/* ---- words, as xstrings 1.5 finds them ---- */

static bool is_connector(uint32_t r)
{
    return r == '-' || r == '_' || sw_rune_is_space(r);
}

/* A letter of a script that has words of many letters. */
static bool is_alphabet(uint32_t r)
{
    if (!sw_rune_is_letter(r))
        return false;
    return !((r >= 0x3400 && r <= 0x4D85) || (r >= 0x4E00 && r <= 0x9FCC) ||
             (r >= 0x20000 && r <= 0x2B81D));
}

static int fn_camelcase(struct call *c)
{
    struct sw_value s = c->args[0];
    size_t at = 0;
    struct text *t = c->text;
    uint32_t now = 0, before;
    bool found = false, upper = false; /* the word has begun in upper case and has gone on so */
    while (at < s.len && !found) {     /* connectors in front are kept */
        at += sw_rune_decode(s.as.s + at, s.len - at, &now);
        found = !is_connector(now);
        upper = sw_rune_is_upper(now);
        if (found)
            now = sw_rune_upper_of(now);
        else
            sw_text_rune(t, now);
    }
    while (at < s.len) {
        before = now;
        at += sw_rune_decode(s.as.s + at, s.len - at, &now);
        if (is_connector(now) && is_connector(before)) {
            sw_text_rune(t, before);
        } else if (is_connector(before)) {
            upper = sw_rune_is_upper(now);
            now = sw_rune_upper_of(now);
        } else {
            upper = upper && sw_rune_is_upper(now);
            if (upper)
                now = sw_rune_lower_of(now);
            sw_text_rune(t, before);
        }
    }
    if (s.len > 0)
        sw_text_rune(t, now);
    return sw_return_text(c);
}

enum word_kind { W_NONE, W_NUMBER, W_UPPER, W_ALPHABET, W_CONNECTOR, W_PUNCT, W_OTHER };

struct word_scanner {
    const char *at, *end;
    uint32_t connector;
    struct text *out;
    enum word_kind kind; /* the current word */
    const char *word;
    size_t len;
};

/* The next valid rune; its width includes the invalid bytes before it. @before where there is none.
 */
static uint32_t valid_rune(const char *s, const char *end, uint32_t before, size_t *width)
{
    *width = 0;
    while (s < end) {
        uint32_t r;
        size_t w = sw_rune_decode(s, (size_t)(end - s), &r);
        *width += w;
        if (r != SW_RUNE_ERROR)
            return r;
        s += w;
    }
    return before;
}

/* The kind of word that @r begins, when it is no upper case letter. */
static enum word_kind kind_of(uint32_t r)
{
    if (is_connector(r))
        return W_CONNECTOR;
    if (sw_rune_in_group(r, 'P'))
        return W_PUNCT;
    if (is_alphabet(r))
        return W_ALPHABET;
    return sw_rune_in_group(r, 'N') ? W_NUMBER : W_OTHER;
}

/* The end of the runes of one kind from @s on. */
static const char *run_of(const char *s, const char *end, enum word_kind kind, uint32_t r)
{
    size_t w;
    while (s < end) {
        r = valid_rune(s, end, r, &w);
        bool same = kind == W_PUNCT ? sw_rune_in_group(r, 'P') /* - and _ too */
                                    : kind_of(r) == kind && !sw_rune_is_upper(r);
        if (w == 0 || !same)
            break;
        s += w;
    }
    return s;
}

/* From an upper case letter: "HTTP" of "HTTPServer", "Server". */
static const char *upper_run(const char *s, const char *end, uint32_t r)
{
    size_t w;
    if (s == end)
        return s;
    r = valid_rune(s, end, r, &w);
    if (!sw_rune_is_upper(r))
        return is_alphabet(r) ? run_of(s + w, end, W_ALPHABET, r) : s;
    size_t last = w;
    s += w;
    while (s < end) {
        r = valid_rune(s, end, r, &w);
        if (!sw_rune_is_upper(r))
            break;
        last = w;
        s += w;
    }
    return s < end && is_alphabet(r) ? s - last : s;
}

static void next_word(struct word_scanner *w)
{
    size_t width;
    w->word = w->at;
    w->len = 0;
    w->kind = W_NONE;
    if (w->at == w->end)
        return;
    uint32_t r = valid_rune(w->at, w->end, SW_RUNE_ERROR, &width);
    const char *s = w->at + width;
    if (sw_rune_is_upper(r)) {
        w->kind = W_UPPER;
        s = upper_run(s, w->end, r);
    } else if (r != SW_RUNE_ERROR) {
        w->kind = kind_of(r);
        s = run_of(s, w->end, w->kind, r);
    }
    w->len = (size_t)(s - w->at);
    w->at = s;
}

static void put_word(struct word_scanner *w, enum word_kind kind, const char *s, size_t len)
{
    if (kind != W_UPPER && kind != W_CONNECTOR) {
        sw_text_put(w->out, s, len);
        return;
    }
    for (size_t i = 0; i < len;) {
        uint32_t r;
        i += sw_rune_decode(s + i, len - i, &r);
        sw_text_rune(w->out, is_connector(r)       ? w->connector
                             : sw_rune_is_upper(r) ? sw_rune_lower_of(r)
                                                   : r);
    }
}

static bool is_break(enum word_kind kind)
{
    return kind == W_CONNECTOR || kind == W_PUNCT;
}

/* Letters in lower case and numbers after a number belong to it: "2m3s". */
static void put_number_tail(struct word_scanner *w)
{
    while (w->kind == W_ALPHABET || w->kind == W_NUMBER) {
        put_word(w, w->kind, w->word, w->len);
        next_word(w);
    }
    if (w->kind != W_NONE && !is_break(w->kind))
        sw_text_rune(w->out, w->connector);
}

/* After a word of letters comes another: a number belongs to the word before it, unless lower case
 * letters follow it. */
static void after_letters(struct word_scanner *w)
{
    if (w->kind == W_NUMBER) {
        const char *number = w->word;
        size_t len = w->len;
        if (w->at == w->end)
            return;
        next_word(w);
        bool own_word = w->kind == W_ALPHABET;
        if (own_word)
            sw_text_rune(w->out, w->connector);
        put_word(w, W_NUMBER, number, len);
        if (own_word) {
            put_number_tail(w);
            return;
        }
    }
    if (!is_break(w->kind))
        sw_text_rune(w->out, w->connector);
}

static int fn_snakecase(struct call *c)
{
    const char *s = c->args[0].as.s;
    struct word_scanner w = {
        .at = s, .end = s + c->args[0].len, .connector = c->func->variant, .out = c->text
    };
    next_word(&w);
    while (w.at < w.end) {
        enum word_kind kind = w.kind;
        const char *word = w.word;
        size_t len = w.len;
        if (kind != W_CONNECTOR)
            put_word(&w, kind, word, len);
        next_word(&w);
        if (kind == W_NUMBER)
            put_number_tail(&w);
        else if (kind == W_CONNECTOR)
            put_word(&w, kind, word, len);
        else if (kind != W_PUNCT)
            after_letters(&w);
    }
    put_word(&w, w.kind, w.word, w.len);
    return sw_return_text(c);
}

const struct func sw_funcs_case[] = {
    { "upper", fn_upper_lower, "s", "in upper case", UPPER, 0 },
    { "lower", fn_upper_lower, "s", "in lower case", LOWER, 0 },
    { "title", fn_title, "s", "each word's first letter in title case", TITLE, 0 },
    { "untitle", fn_title, "s", "each word's first letter in lower case", UNTITLE, 0 },
    { "swapcase", fn_swapcase, "s", "upper for lower case and the other way round", 0, 0 },
    { "initials", fn_initials, "s", "the words' first letters", 0, 0 },
    { "snakecase", fn_snakecase, "s", "words in lower case with _ between", '_', 0 },
    { "kebabcase", fn_snakecase, "s", "words in lower case with - between", '-', 0 },
    { "camelcase", fn_camelcase, "s", "words in title case, nothing between", 0, 0 },
    { 0 },
};
