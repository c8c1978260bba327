#include "base/output.h"

#include <errno.h>
#include <json-c/printbuf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

/* ---- bytes -------------------------------------------------------------------------------------
 */

/* @return the length of the character, 0: it is not complete, -1: no UTF-8 */
static int read_char(const unsigned char *at, size_t len, uint32_t *out)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const int n = *at < 0x80 ? 1 : *at < 0xc2 ? -1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
    uint32_t c = n == 1 ? *at : *at & (0xffu >> (n + 1));
    if (n < 0 || *at > 0xf4)
        return -1;
    for (int i = 1; i < n; i++) {
        if ((size_t)i >= len)
            return 0;
        if ((at[i] & 0xc0) != 0x80)
            return -1;
        c = c << 6 | (at[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return -1;
    *out = c;
    return n;
}

static bool is_harmless(uint32_t c)
{
    if (c < 0x20)
        return c == '\t' || c == '\n';
    if (c < 0x7f)
        return true;
    if (c < 0xa0)
        return false;
    return c != 0x061c && c != 0x200e && c != 0x200f && !(c >= 0x2028 && c <= 0x202e) &&
           !(c >= 0x2066 && c <= 0x2069);
}

/* "\033[1m", "\033[31m". @return its length, 0: it is none */
static size_t colour_len(const unsigned char *at, size_t len)
{
    size_t n = 2;
    if (len < 4 || at[0] != '\033' || at[1] != '[')
        return 0;
    if (at[2] == '3' && at[3] >= '1' && at[3] <= '6')
        n = 4;
    else if (at[2] >= '0' && at[2] <= '2')
        n = 3;
    return n > 2 && n < len && at[n] == 'm' ? n + 1 : 0;
}

/* @return how many bytes at the end are the beginning of a character: they are left out */
static size_t put(struct printbuf *out, const char *bytes, size_t len, bool colours)
{
    const unsigned char *at = (const unsigned char *)bytes, *end = at + len, *from = at;
    while (at < end) {
        uint32_t c = 0;
        const size_t rest = (size_t)(end - at), colour = colours ? colour_len(at, rest) : 0;
        const int n = read_char(at, rest, &c);
        if (colour || (n > 0 && is_harmless(c)) || (c == '\r' && rest > 1 && at[1] == '\n')) {
            at += colour ? colour : (size_t)n;
            continue;
        }
        (void)printbuf_memappend(out, (const char *)from, (int)(at - from));
        if (n == 0)
            return rest;
        (void)sprintbuf(out, n < 0 ? "\\x%02x" : "\\u%04x", n < 0 ? *at : c);
        from = at += n < 0 ? 1 : n;
    }
    (void)printbuf_memappend(out, (const char *)from, (int)(at - from));
    return 0;
}

/* The same for what is known not to go on. */
static void put_rest(struct printbuf *out, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        (void)sprintbuf(out, "\\x%02x", (unsigned char)bytes[i]);
}

void sw_output_put(struct printbuf *out, const char *bytes, size_t len_bytes, bool colours)
{
    const size_t rest = put(out, bytes, len_bytes, colours);
    put_rest(out, bytes + len_bytes - rest, rest);
}

/* ---- streams -----------------------------------------------------------------------------------
 */

struct stream {
    int fd;
    bool terminal;
    bool as_it_is; /* a document */
    bool written;  /* anything at all */
    char rest[4];  /* of a character whose end is in the next write */
    size_t n_rest;
    char last[4096]; /* of stderr: the lines of the last message, as far as they fit */
    size_t n_last;
};

/* A process has one stdout and one stderr. */
static struct stream out_stream = { .fd = STDOUT_FILENO }, err_stream = { .fd = STDERR_FILENO };

static bool write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        const ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* A message is a line that begins with the program's name, and what follows it. */
static void keep_line(struct stream *s, const char *line, size_t len)
{
    const bool begins_line = s->n_last == 0 || s->last[s->n_last - 1] == '\n';
    if (begins_line && len > 7 && memcmp(line, "slipway", 7) == 0)
        s->n_last = 0;
    if (len < sizeof(s->last) - s->n_last) {
        memcpy(s->last + s->n_last, line, len);
        s->n_last += len;
    }
}

static void keep(struct stream *s, const char *bytes, size_t len)
{
    while (len > 0) {
        const char *end = memchr(bytes, '\n', len);
        const size_t n = end ? (size_t)(end - bytes) + 1 : len;
        keep_line(s, bytes, n);
        bytes += n;
        len -= n;
    }
}

static ssize_t on_write(void *cookie, const char *bytes, size_t len)
{
    struct stream *s = cookie;
    s->written = true;
    if (s->fd == STDERR_FILENO)
        keep(s, bytes, len);
    if (s->as_it_is)
        return write_all(s->fd, bytes, len) ? (ssize_t)len : 0;
    struct printbuf *whole = printbuf_new(), *text = printbuf_new();
    (void)printbuf_memappend(whole, s->rest, (int)s->n_rest);
    (void)printbuf_memappend(whole, bytes, (int)len);
    s->n_rest = put(text, whole->buf, (size_t)whole->bpos, s->terminal);
    memcpy(s->rest, whole->buf + whole->bpos - s->n_rest, s->n_rest);
    const bool ok = write_all(s->fd, text->buf, (size_t)text->bpos);
    printbuf_free(whole);
    printbuf_free(text);
    return ok ? (ssize_t)len : 0;
}

static FILE *guarded(struct stream *s, int mode, FILE *otherwise)
{
    FILE *f = fopencookie(s, "w", (cookie_io_functions_t){ .write = on_write });
    if (!f)
        return otherwise;
    s->terminal = isatty(s->fd);
    (void)setvbuf(f, NULL, s->terminal && mode == _IOFBF ? _IOLBF : mode, BUFSIZ);
    return f;
}

void sw_output_guard(void)
{
    const int was = errno;
    stdout = guarded(&out_stream, _IOFBF, stdout);
    stderr = guarded(&err_stream, _IONBF, stderr);
    errno = was;
}

void sw_output_as_it_is(bool on)
{
    on = on && !out_stream.terminal;
    if (on == out_stream.as_it_is)
        return;
    sw_output_end();
    out_stream.as_it_is = on;
}

bool sw_output_is_empty(void)
{
    (void)fflush(stdout);
    return !out_stream.written;
}

char *sw_output_last_message(void)
{
    const char *text = err_stream.last, *end = text + err_stream.n_last;
    const char *line_end = memchr(text, '\n', err_stream.n_last);
    const char *at = text;
    if (err_stream.n_last > 7 && memcmp(text, "slipway", 7) == 0)
        for (const char *c = text; c + 1 < (line_end ? line_end : end) && at == text; c++)
            if (c[0] == ':' && c[1] == ' ')
                at = c + 2;
    while (end > at && end[-1] == '\n')
        end--;
    return sw_strndup(at, (size_t)(end - at));
}

void sw_output_end(void)
{
    struct printbuf *text = printbuf_new();
    (void)fflush(stdout);
    put_rest(text, out_stream.rest, out_stream.n_rest);
    if (out_stream.n_rest)
        (void)write_all(out_stream.fd, text->buf, (size_t)text->bpos);
    out_stream.n_rest = 0;
    printbuf_free(text);
}
