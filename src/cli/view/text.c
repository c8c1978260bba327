#include "cli/view/text.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static const char *const codes[] = {
    [SW_PLAIN] = "",        [SW_BOLD] = "\033[1m",   [SW_DIM] = "\033[2m",
    [SW_RED] = "\033[31m",  [SW_GREEN] = "\033[32m", [SW_YELLOW] = "\033[33m",
    [SW_BLUE] = "\033[34m",
};

/* Bytes of the first code point; invalid UTF-8 counts byte by byte. */
static size_t point_len(const char *s)
{
    unsigned char c = (unsigned char)*s;
    size_t len = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
    for (size_t i = 1; i < len; i++)
        if (((unsigned char)s[i] & 0xc0) != 0x80)
            return 1;
    return len;
}

int sw_text_width(const char *text)
{
    int width = 0;
    for (; *text; text += point_len(text))
        width++;
    return width;
}

static void put(struct sw_line *line, const char *text, size_t len)
{
    (void)printbuf_memappend(line->out, text, (int)len);
}

void sw_line_put(struct sw_line *line, enum sw_colour colour, const char *text)
{
    const struct sw_style *style = line->style;
    if (line->cut || !*text)
        return;
    int room = style->width > 0 ? style->width - line->at : INT32_MAX;
    bool fits = sw_text_width(text) <= room;
    bool coloured = style->colour && colour != SW_PLAIN;
    if (coloured)
        put(line, codes[colour], strlen(codes[colour]));
    for (int i = 0; i < (fits ? room : room - 1) && *text; i++) {
        size_t len = point_len(text);
        bool control = (unsigned char)*text < 0x20 || *text == 0x7f;
        put(line, control ? " " : text, control ? 1 : len);
        text += len;
        line->at++;
    }
    if (!fits && room > 0) {
        const char *ellipsis = style->utf8 ? "…" : "~";
        put(line, ellipsis, strlen(ellipsis));
        line->at++;
    }
    line->cut = !fits;
    if (coloured)
        put(line, "\033[0m", 4);
}

void sw_line_printf(struct sw_line *line, enum sw_colour colour, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    sw_line_put(line, colour, text);
}

void sw_line_pad(struct sw_line *line, int column)
{
    do
        sw_line_put(line, SW_PLAIN, " ");
    while (line->at < column && !line->cut);
}

static void put_cells(struct sw_line *line, enum sw_colour colour, const char *cell, int n)
{
    char cells[256] = "";
    size_t len = strlen(cell), at = 0;
    for (int i = 0; i < n && at + len < sizeof cells; i++, at += len)
        memcpy(cells + at, cell, len + 1);
    sw_line_put(line, colour, cells);
}

void sw_line_bar(struct sw_line *line, int width, int64_t done, int64_t total)
{
    int full = total > 0 ? (int)(done * width / total) : 0;
    bool utf8 = line->style->utf8;
    put_cells(line, SW_GREEN, utf8 ? "█" : "#", full);
    put_cells(line, SW_DIM, utf8 ? "░" : ".", width - full);
}

void sw_line_end(struct sw_line *line)
{
    put(line, "\n", 1);
    line->at = 0;
    line->cut = false;
}

/* The bytes of one column at @s, with the colours before it; 0 at the end of the line. */
static size_t cell_len(const char *s)
{
    size_t at = 0;
    while (s[at] == '\033') {
        at += strcspn(s + at, "m");
        at += s[at] == 'm';
    }
    return s[at] && s[at] != '\n' ? at + point_len(s + at) : 0;
}

/* How many bytes of the line fit into @width columns, up to a blank; a word that is longer is not
 * broken. @*all: the rest of the line fits. */
static size_t fitting(const char *s, int width, bool *all)
{
    size_t at = 0, blank = 0;
    bool in_word = false;
    int columns = 0;
    for (size_t len; (len = cell_len(s + at)) > 0; at += len, columns++) {
        const bool is_blank = s[at + len - 1] == ' ';
        if (is_blank && in_word && (columns <= width || !blank))
            blank = at;
        if (columns >= width && blank)
            break;
        in_word = in_word || !is_blank;
    }
    *all = cell_len(s + at) == 0;
    return *all ? strcspn(s, "\n") : blank;
}

char *sw_text_break(const char *text, int width)
{
    enum { HANGING = 2, LEAST = 20 };
    char *broken = sw_strdup("");
    while (*text) {
        const int indent = (int)strspn(text, " "), hanging = indent + HANGING;
        bool all = width < hanging + LEAST;
        size_t len = all ? strcspn(text, "\n") : fitting(text, width, &all);
        sw_append(&broken, "%.*s", (int)len, text);
        for (text += len; !all; text += len) {
            text += strspn(text, " ");
            len = fitting(text, width - hanging, &all);
            sw_append(&broken, "\n%*s%.*s", hanging, "", (int)len, text);
        }
        if (*text == '\n')
            sw_append(&broken, "\n");
        text += *text == '\n';
    }
    return broken;
}

/* The object that @text begins with, "Deployment web/api: " or "Deployment web/api ", without its
 * kind and namespace; its name's length in @len. NULL: it begins with none. */
static const char *object_name(const char *text, size_t *len)
{
    const char *blank = strchr(text, ' '), *name = blank ? blank + 1 : "";
    *len = strcspn(name, " ");
    const char *slash = memchr(name, '/', *len);
    const bool has_colon = *len && name[*len - 1] == ':';
    if (*text < 'A' || *text > 'Z' || !name[*len] || (!slash && !has_colon))
        return NULL;
    *len -= (size_t)(slash ? slash + 1 - name : 0);
    return slash ? slash + 1 : name;
}

/* What a message may begin with that another column, or the line above, says as well. */
static const struct {
    const char *start, *end;
} repeated[] = {
    { "state '", "': " },    { "not ready within ", ": " },
    { NULL, NULL }, /* the object */
    { "apply ", "': " },     { "", " is not served yet: " },
    { "", " is invalid: " }, { "", " pods are ready; " },
    { "pod ", ": " },
};

char *sw_text_shorter(const char *message, int room)
{
    SW_AUTO_CHARS *line = sw_strndup(message, strcspn(message, "\n"));
    const char *text = line;
    for (size_t i = 0; i < SW_COUNT(repeated) && room > 0 && sw_text_width(text) > room; i++) {
        size_t len = 0;
        const char *start = repeated[i].start, *name = start ? NULL : object_name(text, &len),
                   *end = start && sw_starts_with(text, start) ? strstr(text, repeated[i].end)
                                                               : NULL;
        if (end && end[strlen(repeated[i].end)])
            text = end + strlen(repeated[i].end);
        if (name && sw_text_width(name) > room)
            name += len + 1;
        text = name ? name : text;
    }
    return sw_strdup(text);
}
