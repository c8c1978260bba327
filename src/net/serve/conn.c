#include "net/serve/conn.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"

enum {
    READ_BYTES = 16 * 1024,  /* a TLS record */
    SPARE_BYTES = 32 * 1024, /* a larger block is not kept */
};

static void reset(struct sw_conn_buffer *b, struct sw_conn_buffer *spare)
{
    if (!spare->bytes && b->cap <= SPARE_BYTES)
        *spare = (struct sw_conn_buffer){ .bytes = b->bytes, .cap = b->cap };
    else
        free(b->bytes);
    *b = (struct sw_conn_buffer){ 0 };
}

void sw_conn_spare_done(struct sw_conn_spare *spare)
{
    free(spare->in.bytes);
    free(spare->out.bytes);
    *spare = (struct sw_conn_spare){ 0 };
}

void sw_conn_init(struct sw_conn *c, int fd, const struct sw_conn_tls *tls,
                  struct sw_conn_spare *spare)
{
    *c = (struct sw_conn){ .fd = fd, .tls = tls, .spare = spare };
}

void sw_conn_done(struct sw_conn *c)
{
    if (c->session)
        c->tls->free(c->session);
    (void)close(c->fd);
    reset(&c->in, &c->spare->in);
    reset(&c->out, &c->spare->out);
    *c = (struct sw_conn){ .fd = -1 };
}

static enum sw_conn_result plain_result(bool writing)
{
    if (errno == EAGAIN || errno == EINTR)
        return writing ? SW_CONN_WANT_WRITE : SW_CONN_WANT_READ;
    return SW_CONN_CLOSED;
}

enum sw_conn_result sw_conn_handshake(struct sw_conn *c)
{
    return c->tls ? c->tls->handshake(c->session) : SW_CONN_OK;
}

static void need(struct sw_conn_buffer *b, size_t more, struct sw_conn_buffer *spare)
{
    if (!b->bytes) {
        *b = *spare;
        *spare = (struct sw_conn_buffer){ 0 };
    }
    /* moved only where that frees half: a backlog is not moved for each write */
    if (b->at && (b->at == b->len || (b->len + more > b->cap && b->at >= b->len / 2))) {
        memmove(b->bytes, b->bytes + b->at, b->len - b->at);
        b->len -= b->at;
        b->at = 0;
    }
    if (b->len + more <= b->cap)
        return;
    b->cap = b->cap * 2 > b->len + more ? b->cap * 2 : b->len + more;
    b->bytes = sw_realloc(b->bytes, b->cap, 1);
}

enum sw_conn_result sw_conn_read(struct sw_conn *c)
{
    need(&c->in, READ_BYTES, &c->spare->in);
    char *to = c->in.bytes + c->in.len;
    enum sw_conn_result rc = SW_CONN_CLOSED;
    const ssize_t n = c->tls ? c->tls->read(c->session, to, READ_BYTES, &rc)
                             : recv(c->fd, to, READ_BYTES, 0);
    c->filled = n == READ_BYTES;
    if (n > 0) {
        c->in.len += (size_t)n;
        return SW_CONN_OK;
    }
    if (!c->tls && n < 0)
        rc = plain_result(false);
    sw_conn_consume(c, 0); /* a buffer without a byte goes back */
    return rc;
}

void sw_conn_trim(struct sw_conn *c)
{
    struct sw_conn_buffer *b = &c->in;
    const size_t len = b->len - b->at;
    if (b->cap <= READ_BYTES / 4 + len || len >= READ_BYTES)
        return; /* a large body grows by doubling */
    memmove(b->bytes, b->bytes + b->at, len);
    *b = (struct sw_conn_buffer){ sw_realloc(b->bytes, len, 1), 0, len, len };
}

enum sw_conn_result sw_conn_flush(struct sw_conn *c)
{
    struct sw_conn_buffer *b = &c->out;
    while (b->at < b->len) {
        const size_t left = b->len - b->at < INT_MAX ? b->len - b->at : INT_MAX;
        enum sw_conn_result rc = SW_CONN_CLOSED;
        const ssize_t n = c->tls ? c->tls->write(c->session, b->bytes + b->at, left, &rc)
                                 : send(c->fd, b->bytes + b->at, left, MSG_NOSIGNAL);
        if (n <= 0)
            return c->tls ? rc : plain_result(true);
        b->at += (size_t)n;
    }
    reset(b, &c->spare->out);
    return SW_CONN_OK;
}

bool sw_conn_has_more(const struct sw_conn *c)
{
    return c->filled || (c->tls && c->tls->has_more(c->session));
}

void sw_conn_put(struct sw_conn *c, const char *bytes, size_t len_bytes)
{
    need(&c->out, len_bytes, &c->spare->out);
    memcpy(c->out.bytes + c->out.len, bytes, len_bytes);
    c->out.len += len_bytes;
}

void sw_conn_consume(struct sw_conn *c, size_t len_bytes)
{
    struct sw_conn_buffer *b = &c->in;
    b->at += len_bytes;
    if (b->at == b->len)
        reset(b, &c->spare->in);
}
