#include "emulator/api/http.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

enum state { IN_HEAD, IN_BODY, IN_CHUNK_SIZE, IN_CHUNK, IN_CHUNK_END, IN_TRAILER, FINISHED };

struct sw_http_parser {
    enum state state;
    char *head; /* request line and headers; the request's strings point into it */
    size_t head_len, head_cap;
    size_t line_len;  /* of a chunk's size line or a trailer */
    char line[32];    /* a chunk's size line */
    size_t remaining; /* of the body or the chunk */
    size_t body_cap;
    struct sw_http_request req;
    char *path; /* own copy, cut at '?' */
};

struct sw_http_parser *sw_http_parser_new(void)
{
    return sw_zalloc(1, sizeof(struct sw_http_parser));
}

void sw_http_parser_free(struct sw_http_parser *p)
{
    if (!p)
        return;
    free(p->head);
    free(p->req.body);
    free(p->path);
    free(p);
}

struct sw_http_request *sw_http_parser_request(struct sw_http_parser *p)
{
    return &p->req;
}

const char *sw_http_header(const struct sw_http_request *req, const char *name)
{
    for (size_t i = 0; i < req->n_headers; i++)
        if (strcmp(req->headers[i].name, name) == 0)
            return req->headers[i].value;
    return NULL;
}

static bool parse_request_line(struct sw_http_parser *p, char *line)
{
    struct sw_http_request *req = &p->req;
    char *target = strchr(line, ' '), *version = target ? strchr(target + 1, ' ') : NULL;
    if (!version || target == line)
        return false;
    *target++ = *version++ = '\0';
    for (const char *c = line; *c; c++)
        if (!isupper((unsigned char)*c))
            return false;
    if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
        return false;
    if (strncmp(target, "http://", 7) == 0) { /* the absolute form, as a proxy is asked */
        target = strchr(target + 7, '/');
        if (!target)
            return false;
    }
    if (target[0] != '/')
        return false;
    req->method = line;
    req->target = target;
    req->keep_alive = strcmp(version, "HTTP/1.1") == 0;
    p->path = sw_strdup(target);
    char *query = strchr(p->path, '?');
    if (query)
        *query++ = '\0';
    req->path = p->path;
    req->query = query ? query : p->path + strlen(p->path);
    return true;
}

static bool parse_header(struct sw_http_request *req, char *line)
{
    char *colon = strchr(line, ':');
    if (!colon || colon == line || req->n_headers == SW_HTTP_MAX_HEADERS)
        return false;
    *colon = '\0';
    for (char *c = line; *c; c++) {
        if (isspace((unsigned char)*c))
            return false;
        *c = (char)tolower((unsigned char)*c);
    }
    char *value = colon + 1 + strspn(colon + 1, " \t");
    size_t len = strlen(value);
    while (len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t'))
        value[--len] = '\0';
    req->headers[req->n_headers++] = (struct sw_http_header){ line, value };
    return true;
}

/* What the headers say about the body. @return a status code, 0: fine. */
static int plan_body(struct sw_http_parser *p)
{
    struct sw_http_request *req = &p->req;
    const char *connection = sw_http_header(req, "connection");
    if (connection && strcasecmp(connection, "close") == 0)
        req->keep_alive = false;
    const char *coding = sw_http_header(req, "transfer-encoding");
    const char *length = sw_http_header(req, "content-length");
    if (coding) {
        if (strcasecmp(coding, "chunked") != 0)
            return 501;
        p->state = IN_CHUNK_SIZE;
        return length ? 400 : 0;
    }
    if (!length) {
        p->state = FINISHED;
        return 0;
    }
    char *end;
    unsigned long long n = strtoull(length, &end, 10);
    if (!isdigit((unsigned char)length[0]) || *end)
        return 400;
    if (n > SW_HTTP_MAX_BODY)
        return 413;
    p->remaining = n;
    p->state = n ? IN_BODY : FINISHED;
    return 0;
}

static int parse_head(struct sw_http_parser *p)
{
    if (memchr(p->head, '\0', p->head_len))
        return 400;
    p->head[p->head_len] = '\0';
    char *line = p->head;
    for (bool first = true; *line; first = false) {
        char *end = strchr(line, '\n');
        char *next = end + 1;
        if (end > line && end[-1] == '\r')
            end--;
        *end = '\0';
        if (line == end)
            break;
        if (first ? !parse_request_line(p, line) : !parse_header(&p->req, line))
            return 400;
        line = next;
    }
    return plan_body(p);
}

static bool head_ends(const struct sw_http_parser *p)
{
    size_t n = p->head_len;
    return (n >= 4 && memcmp(p->head + n - 4, "\r\n\r\n", 4) == 0) ||
           (n >= 2 && memcmp(p->head + n - 2, "\n\n", 2) == 0);
}

static int feed_head(struct sw_http_parser *p, char c)
{
    if (p->head_len == 0 && (c == '\r' || c == '\n'))
        return 0; /* blank lines before a request are allowed (RFC 9112, 2.2) */
    if (p->head_len == 0 && !isupper((unsigned char)c))
        return 400; /* no method begins so; a client that speaks TLS waits for an answer */
    if (p->head_len >= SW_HTTP_MAX_HEAD)
        return 431;
    if (p->head_len + 1 >= p->head_cap) {
        p->head_cap = p->head_cap ? p->head_cap * 2 : 1024;
        p->head = sw_realloc(p->head, p->head_cap, 1);
    }
    p->head[p->head_len++] = c;
    return c == '\n' && head_ends(p) ? parse_head(p) : 0;
}

static void append_body(struct sw_http_parser *p, const char *bytes, size_t len)
{
    struct sw_http_request *req = &p->req;
    if (req->body_len + len + 1 > p->body_cap) {
        p->body_cap = (req->body_len + len) * 2 + 1;
        req->body = sw_realloc(req->body, p->body_cap, 1);
    }
    memcpy(req->body + req->body_len, bytes, len);
    req->body_len += len;
    req->body[req->body_len] = '\0';
}

/* The line before a chunk: its size in hex, perhaps with extensions, which nobody uses. */
static int chunk_size_done(struct sw_http_parser *p)
{
    p->line[p->line_len] = '\0';
    p->line_len = 0;
    char *end;
    unsigned long n = strtoul(p->line, &end, 16);
    if (!isxdigit((unsigned char)p->line[0]) || (*end && *end != ';' && *end != '\r'))
        return 400;
    if (n > SW_HTTP_MAX_BODY - p->req.body_len)
        return 413;
    p->remaining = n;
    p->state = n ? IN_CHUNK : IN_TRAILER;
    return 0;
}

static int feed_line(struct sw_http_parser *p, char c)
{
    switch (p->state) {
    case IN_CHUNK_SIZE:
        if (c == '\n')
            return chunk_size_done(p);
        if (p->line_len + 1 >= sizeof p->line)
            return 400;
        p->line[p->line_len++] = c;
        return 0;
    case IN_CHUNK_END:
        if (c == '\n')
            p->state = IN_CHUNK_SIZE;
        return c == '\n' || c == '\r' ? 0 : 400;
    default: /* IN_TRAILER: read over it, up to an empty line */
        if (c == '\n' && p->line_len == 0)
            p->state = FINISHED;
        else if (c == '\n')
            p->line_len = 0;
        else if (c != '\r' && ++p->line_len > SW_HTTP_MAX_HEAD)
            return 431;
        return 0;
    }
}

static int feed(struct sw_http_parser *p, const char *bytes, size_t len, size_t *used)
{
    while (*used < len && p->state != FINISHED) {
        int code = 0;
        if (p->state == IN_BODY || p->state == IN_CHUNK) {
            size_t n = len - *used < p->remaining ? len - *used : p->remaining;
            append_body(p, bytes + *used, n);
            *used += n;
            p->remaining -= n;
            if (p->remaining == 0)
                p->state = p->state == IN_BODY ? FINISHED : IN_CHUNK_END;
            continue;
        }
        code = p->state == IN_HEAD ? feed_head(p, bytes[*used]) : feed_line(p, bytes[*used]);
        ++*used;
        if (code)
            return code;
    }
    return 0;
}

enum sw_http_progress sw_http_parser_feed(struct sw_http_parser *p, const char *bytes, size_t len,
                                          size_t *used, int *code)
{
    bool had_head = p->state != IN_HEAD;
    *used = 0;
    *code = feed(p, bytes, len, used);
    if (*code)
        return SW_HTTP_BAD;
    if (p->state == FINISHED) {
        if (!p->req.body)
            append_body(p, "", 0);
        return SW_HTTP_DONE;
    }
    const char *expect = had_head || p->state == IN_HEAD ? NULL : sw_http_header(&p->req, "expect");
    return expect && strcasecmp(expect, "100-continue") == 0 && p->req.body_len == 0
               ? SW_HTTP_CONTINUE
               : SW_HTTP_MORE;
}
