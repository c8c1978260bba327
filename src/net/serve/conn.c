#include "net/serve/conn.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
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

void sw_conn_init(struct sw_conn *c, int fd, SSL_CTX *ctx, struct sw_conn_spare *spare)
{
    *c = (struct sw_conn){ .fd = fd, .spare = spare };
    if (!ctx)
        return;
    c->ssl = SSL_new(ctx);
    if (!c->ssl || SSL_set_fd(c->ssl, fd) != 1)
        abort(); /* no memory */
    SSL_set_accept_state(c->ssl);
}

void sw_conn_done(struct sw_conn *c)
{
    if (c->ssl) {
        if (SSL_is_init_finished(c->ssl))
            (void)SSL_shutdown(c->ssl); /* says goodbye where that works at once */
        ERR_clear_error();
        SSL_free(c->ssl);
    }
    (void)close(c->fd);
    reset(&c->in, &c->spare->in);
    reset(&c->out, &c->spare->out);
    *c = (struct sw_conn){ .fd = -1 };
}

static enum sw_conn_result ssl_result(struct sw_conn *c, int n)
{
    const int why = SSL_get_error(c->ssl, n);
    ERR_clear_error();
    return why == SSL_ERROR_WANT_READ    ? SW_CONN_WANT_READ
           : why == SSL_ERROR_WANT_WRITE ? SW_CONN_WANT_WRITE
                                         : SW_CONN_CLOSED;
}

static enum sw_conn_result plain_result(bool writing)
{
    if (errno == EAGAIN || errno == EINTR)
        return writing ? SW_CONN_WANT_WRITE : SW_CONN_WANT_READ;
    return SW_CONN_CLOSED;
}

enum sw_conn_result sw_conn_handshake(struct sw_conn *c)
{
    if (!c->ssl)
        return SW_CONN_OK;
    const int n = SSL_do_handshake(c->ssl);
    return n == 1 ? SW_CONN_OK : ssl_result(c, n);
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
    const ssize_t n = c->ssl ? SSL_read(c->ssl, to, READ_BYTES) : recv(c->fd, to, READ_BYTES, 0);
    if (n > 0) {
        c->in.len += (size_t)n;
        return SW_CONN_OK;
    }
    const enum sw_conn_result rc = c->ssl   ? ssl_result(c, (int)n)
                                   : n == 0 ? SW_CONN_CLOSED
                                            : plain_result(false);
    sw_conn_consume(c, 0); /* a buffer without a byte goes back */
    return rc;
}

enum sw_conn_result sw_conn_flush(struct sw_conn *c)
{
    struct sw_conn_buffer *b = &c->out;
    while (b->at < b->len) {
        const size_t left = b->len - b->at < INT_MAX ? b->len - b->at : INT_MAX;
        const ssize_t n = c->ssl ? SSL_write(c->ssl, b->bytes + b->at, (int)left)
                                 : send(c->fd, b->bytes + b->at, left, MSG_NOSIGNAL);
        if (n <= 0)
            return c->ssl ? ssl_result(c, (int)n) : plain_result(true);
        b->at += (size_t)n;
    }
    reset(b, &c->spare->out);
    return SW_CONN_OK;
}

bool sw_conn_has_more(const struct sw_conn *c)
{
    return c->ssl && SSL_has_pending(c->ssl);
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
