#include "net/serve/request.h"

#include <string.h>
#include <strings.h>

#include "base/base.h"

enum { MAX_TRAILER = 16 * 1024 }; /* bytes of a trailer's line, of all sizes of chunks */

static const struct {
    int status;
    const char *reason;
} reasons[] = {
    { 200, "OK" },
    { 201, "Created" },
    { 202, "Accepted" },
    { 301, "Moved Permanently" },
    { 304, "Not Modified" },
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 406, "Not Acceptable" },
    { 409, "Conflict" },
    { 410, "Gone" },
    { 413, "Request Entity Too Large" },
    { 415, "Unsupported Media Type" },
    { 422, "Unprocessable Entity" },
    { 429, "Too Many Requests" },
    { 431, "Request Header Fields Too Large" },
    { 500, "Internal Server Error" },
    { 501, "Not Implemented" },
    { 503, "Service Unavailable" },
    { 504, "Gateway Timeout" },
    { 505, "HTTP Version Not Supported" },
};

const char *sw_serve_reason(int status)
{
    for (size_t i = 0; i < SW_COUNT(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Unknown";
}

/* ---- the head ----------------------------------------------------------------------------------
 */

struct text {
    const char *at;
    size_t len;
};

static bool is_text(struct text t, const char *what)
{
    return t.len == strlen(what) && strncasecmp(t.at, what, t.len) == 0;
}

/* The next line without its line end; @*at moves behind it. */
static struct text next_line(const char **at, const char *end)
{
    const char *p = *at, *nl = memchr(p, '\n', (size_t)(end - p));
    *at = nl ? nl + 1 : end;
    const char *stop = nl ? nl : end;
    if (stop > p && stop[-1] == '\r')
        stop--;
    return (struct text){ p, (size_t)(stop - p) };
}

/* "POST /mutate-pod?timeout=10s HTTP/1.1" */
static int read_request_line(struct text line, struct sw_serve_request *r)
{
    const char *end = line.at + line.len;
    const char *sp = memchr(line.at, ' ', line.len);
    const char *target = sp ? sp + 1 : end;
    const char *sp2 = memchr(target, ' ', (size_t)(end - target));
    if (!sp || !sp2 || sp == line.at || memchr(line.at, '\0', line.len))
        return 400;
    for (const char *c = line.at; c < sp; c++)
        if (*c < 'A' || *c > 'Z')
            return 400;
    if (sp2 - target > 7 && strncmp(target, "http://", 7) == 0) /* the absolute form, to a proxy */
        target = memchr(target + 7, '/', (size_t)(sp2 - target - 7));
    if (!target || *target != '/')
        return 400;
    const struct text version = { sp2 + 1, (size_t)(end - sp2 - 1) };
    if (!is_text(version, "HTTP/1.1") && !is_text(version, "HTTP/1.0"))
        return version.len > 5 && strncmp(version.at, "HTTP/", 5) == 0 ? 505 : 400;
    r->method = line.at;
    r->method_len = (size_t)(sp - line.at);
    r->path = target;
    r->target_len = (size_t)(sp2 - target);
    const char *query = memchr(target, '?', r->target_len);
    r->path_len = query ? (size_t)(query - target) : r->target_len;
    r->is_head = is_text((struct text){ r->method, r->method_len }, "HEAD");
    r->keep_alive = is_text(version, "HTTP/1.1");
    return 0;
}

static int read_length(struct text value, size_t *out)
{
    size_t n = 0;
    if (!value.len || value.len > 15)
        return 400;
    for (size_t i = 0; i < value.len; i++) {
        if (value.at[i] < '0' || value.at[i] > '9')
            return 400;
        n = n * 10 + (size_t)(value.at[i] - '0');
    }
    *out = n;
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* "Name: value". @return false: @line is not a header */
static bool split_header(struct text line, struct text *name, struct text *value)
{
    const char *colon = memchr(line.at, ':', line.len);
    if (!colon || colon == line.at)
        return false;
    const char *from = colon + 1, *to = line.at + line.len;
    while (from < to && is_blank(*from))
        from++;
    while (from < to && is_blank(to[-1]))
        to--;
    *name = (struct text){ line.at, (size_t)(colon - line.at) };
    *value = (struct text){ from, (size_t)(to - from) };
    return !memchr(name->at, ' ', name->len) && !memchr(name->at, '\t', name->len);
}

char *sw_serve_header(const struct sw_serve_request *r, const char *name)
{
    return sw_serve_header_nth(r, name, 0);
}

char *sw_serve_header_nth(const struct sw_serve_request *r, const char *name, size_t n)
{
    for (const char *at = r->head, *end = at + r->head_len; at < end;) {
        struct text key, value;
        if (split_header(next_line(&at, end), &key, &value) && is_text(key, name) && n-- == 0)
            return sw_strndup(value.at, value.len);
    }
    return NULL;
}

struct framing {
    bool has_length, has_coding;
};

static int read_header(struct text line, struct sw_serve_progress *p, struct framing *f,
                       struct sw_serve_request *r)
{
    struct text name, value;
    if (!split_header(line, &name, &value))
        return 400;
    if (is_text(name, "Content-Length")) {
        if (f->has_length)
            return 400; /* two of them: request smuggling */
        f->has_length = true;
        return read_length(value, &p->content_len);
    }
    if (is_text(name, "Transfer-Encoding")) {
        f->has_coding = true;
        p->chunked = is_text(value, "chunked");
        return p->chunked ? 0 : 501;
    }
    if (is_text(name, "Connection")) {
        if (is_text(value, "close"))
            r->keep_alive = false;
        else if (is_text(value, "keep-alive"))
            r->keep_alive = true;
    } else if (is_text(name, "Expect")) {
        p->wants_continue = is_text(value, "100-continue");
    } else if (is_text(name, "Content-Type")) {
        r->not_json = value.len < 16 || strncasecmp(value.at, "application/json", 16) != 0;
    }
    return 0;
}

static int read_head(struct sw_serve_progress *p, const char *bytes, size_t max_body,
                     struct sw_serve_request *r)
{
    const char *at = bytes, *end = bytes + p->head_len - 2; /* without the empty line */
    struct framing f = { 0 };
    int status = read_request_line(next_line(&at, end), r);
    r->head = at;
    r->head_len = (size_t)(end - at);
    while (status == 0 && at < end) {
        const struct text line = next_line(&at, end);
        if (line.len)
            status = read_header(line, p, &f, r);
    }
    if (status == 0 && f.has_length && f.has_coding)
        status = 400;
    if (status == 0 && p->content_len > max_body)
        status = 413;
    return status;
}

/* ---- chunked bodies ----------------------------------------------------------------------------
 */

/* "1a;extension" */
static bool read_chunk_size(struct text line, size_t *out)
{
    size_t n = 0, i = 0;
    for (; i < line.len && i < 8; i++) {
        const char c = line.at[i];
        int digit = c >= '0' && c <= '9'                 ? c - '0'
                    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                         : -1;
        if (digit < 0)
            break;
        n = n << 4 | (size_t)digit;
    }
    *out = n;
    return i > 0 && (i == line.len || line.at[i] == ';' || line.at[i] == ' ');
}

/* The trailer: lines up to an empty one. @return 1 done, 0 more, 400 */
static int skip_trailer(struct sw_serve_progress *p, char *bytes, size_t len, size_t at)
{
    for (;;) {
        const char *nl = memchr(bytes + at, '\n', len - at);
        if (!nl)
            return len - at > MAX_TRAILER ? 400 : 0;
        const size_t line_len = (size_t)(nl - bytes) - at;
        at = (size_t)(nl - bytes) + 1;
        if (line_len == 0 || (line_len == 1 && nl[-1] == '\r')) {
            p->chunk_at = at;
            return 1;
        }
    }
}

/* @return 1 done, 0 more, or a status */
static int decode_chunks(struct sw_serve_progress *p, char *bytes, size_t len, size_t max_body)
{
    for (;;) {
        const char *nl = memchr(bytes + p->chunk_at, '\n', len - p->chunk_at);
        if (!nl)
            return len - p->chunk_at > 256 ? 400 : 0;
        const char *at = bytes + p->chunk_at;
        const struct text line = next_line(&at, nl + 1);
        size_t size;
        if (!read_chunk_size(line, &size))
            return 400;
        const size_t begin = (size_t)(nl - bytes) + 1;
        if (size == 0)
            return skip_trailer(p, bytes, len, begin);
        if (p->decoded_end - p->head_len + size > max_body)
            return 413;
        if (len < begin + size + 2)
            return 0;
        if (memcmp(bytes + begin + size, "\r\n", 2) != 0)
            return 400;
        memmove(bytes + p->decoded_end, bytes + begin, size);
        p->decoded_end += size;
        p->chunk_at = begin + size + 2;
    }
}

/* ---- a request ---------------------------------------------------------------------------------
 */

/* @return 1: head_len is set; 0; 400; 431 */
static int find_head(struct sw_serve_progress *p, const char *bytes, size_t len, size_t max_head)
{
    if (len && (bytes[0] < 'A' || bytes[0] > 'Z'))
        return 400; /* no method begins so; a client that speaks TLS waits for an answer */
    const size_t from = p->scanned > 3 ? p->scanned - 3 : 0;
    const char *end = memmem(bytes + from, len - from, "\r\n\r\n", 4);
    p->scanned = len;
    if (end)
        p->head_len = (size_t)(end - bytes) + 4;
    if ((end ? p->head_len : len) > max_head)
        return 431;
    return end != NULL;
}

int sw_serve_next(struct sw_serve_progress *p, char *bytes, size_t len_bytes,
                  struct sw_serve_limits limits, struct sw_serve_request *out)
{
    const bool known = p->head_len > 0;
    int rc = known ? 1 : find_head(p, bytes, len_bytes, limits.head);
    if (rc != 1)
        return rc;
    struct sw_serve_request r = { 0 };
    struct sw_serve_progress again = *p; /* the head is read anew: its bytes may have moved */
    rc = read_head(known ? &again : p, bytes, limits.body, &r);
    if (rc)
        return rc;
    r.body = bytes + p->head_len;
    if (p->chunked) {
        if (!known)
            p->chunk_at = p->decoded_end = p->head_len;
        rc = decode_chunks(p, bytes, len_bytes, limits.body);
        if (rc == 0 && len_bytes - p->head_len > limits.body + MAX_TRAILER)
            rc = 413; /* sizes and extensions, hardly a body */
        if (rc != 1)
            return rc;
        r.body_len = p->decoded_end - p->head_len;
        r.total_len = p->chunk_at;
    } else {
        if (len_bytes - p->head_len < p->content_len)
            return 0;
        r.body_len = p->content_len;
        r.total_len = p->head_len + p->content_len;
    }
    *out = r;
    return 1;
}
