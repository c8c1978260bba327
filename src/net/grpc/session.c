/* HTTP/2 streams with gRPC's messages in them: five bytes (compressed or not, length), then the
 * message; the status in trailers. */
#include "net/grpc/session.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/text/percent.h"
#include "net/grpc/grpc.h"

enum { MAX_HEADER_BYTES = 16 * 1024, MAX_PATH = 512 };

#define FIELD(n, v, len)                                                                           \
    ((nghttp2_nv){ (uint8_t *)(uintptr_t)(n), (uint8_t *)(uintptr_t)(v), strlen(n), (len),         \
                   NGHTTP2_NV_FLAG_NONE })

/* ---- streams -----------------------------------------------------------------------------------
 */

static struct grpc_stream *new_stream(struct grpc_session *s, int32_t id)
{
    struct grpc_stream *st = sw_zalloc(1, sizeof *st);
    st->session = s;
    st->id = id;
    st->grpc_status = -1;
    STAILQ_INIT(&st->out);
    LIST_INSERT_HEAD(&s->streams, st, link);
    return st;
}

static void drop_chunks(struct grpc_stream *st, bool begun_too)
{
    struct grpc_chunk *c, *next;
    for (c = STAILQ_FIRST(&st->out); c; c = next) {
        next = STAILQ_NEXT(c, link);
        if (c->at && !begun_too)
            continue;
        STAILQ_REMOVE(&st->out, c, grpc_chunk, link);
        free(c);
    }
}

static void free_stream(struct grpc_stream *st)
{
    LIST_REMOVE(st, link);
    drop_chunks(st, true);
    if (st->session->held)
        *st->session->held -= st->held;
    free(st->path);
    free(st->words);
    free(st->body);
    free(st->end_words);
    free(st);
}

static struct grpc_stream *stream_of(nghttp2_session *h2, int32_t id)
{
    return nghttp2_session_get_stream_user_data(h2, id);
}

/* ---- what goes out -----------------------------------------------------------------------------
 */

/* What grpc-message may hold as it is. Source: gRPC over HTTP2, Status-Message. */
#define PLAIN_IN_MESSAGE " !\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~"

static char *decode_message(const uint8_t *text, size_t len)
{
    char *out = sw_alloc(len + 1);
    (void)sw_percent_decode((const char *)text, len, out);
    return out;
}

/* "grpc-status" and "grpc-message" into @nv. @return how many */
static size_t status_fields(struct grpc_stream *st, char number[12], char **encoded,
                            nghttp2_nv nv[2])
{
    (void)snprintf(number, 12, "%d", st->end_status);
    nv[0] = FIELD("grpc-status", number, strlen(number));
    if (!st->end_words)
        return 1;
    *encoded = sw_percent_encode(st->end_words, PLAIN_IN_MESSAGE);
    nv[1] = FIELD("grpc-message", *encoded, strlen(*encoded));
    return 2;
}

static ssize_t on_read(nghttp2_session *h2, int32_t id, uint8_t *buf, size_t length,
                       uint32_t *flags, nghttp2_data_source *source, void *user SW_UNUSED)
{
    struct grpc_stream *st = source->ptr;
    size_t n = 0;
    struct grpc_chunk *c;
    while (n < length && (c = STAILQ_FIRST(&st->out))) {
        const size_t part = c->len - c->at < length - n ? c->len - c->at : length - n;
        memcpy(buf + n, c->bytes + c->at, part);
        n += part;
        c->at += part;
        if (c->at == c->len) {
            STAILQ_REMOVE_HEAD(&st->out, link);
            free(c);
        }
    }
    if (!STAILQ_EMPTY(&st->out))
        return (ssize_t)n;
    if (!st->ending)
        return n ? (ssize_t)n : NGHTTP2_ERR_DEFERRED;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!st->session->is_server)
        return (ssize_t)n;
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    char number[12];
    SW_AUTO_CHARS *encoded = NULL;
    nghttp2_nv nv[2];
    const size_t n_nv = status_fields(st, number, &encoded, nv);
    return nghttp2_submit_trailer(h2, id, nv, n_nv) == 0 ? (ssize_t)n
                                                         : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static void answer(struct grpc_stream *st)
{
    if (st->answering)
        return;
    st->answering = true;
    const nghttp2_nv nv[] = { FIELD(":status", "200", 3),
                              FIELD("content-type", "application/grpc", 16) };
    const nghttp2_data_provider data = { { .ptr = st }, on_read };
    (void)nghttp2_submit_response(st->session->h2, st->id, nv, SW_COUNT(nv), &data);
}

void grpc_stream_send(struct grpc_stream *st, const uint8_t *message, size_t len, bool instead)
{
    struct grpc_chunk *c = sw_alloc(sizeof *c + 5 + len);
    c->len = 5 + len;
    c->at = 0;
    c->bytes[0] = 0; /* not compressed */
    for (int i = 0; i < 4; i++)
        c->bytes[1 + i] = (uint8_t)(len >> (8 * (3 - i)));
    if (len)
        memcpy(c->bytes + 5, message, len);
    if (instead)
        drop_chunks(st, false);
    STAILQ_INSERT_TAIL(&st->out, c, link);
    if (!st->session->is_server)
        return;
    answer(st);
    (void)nghttp2_session_resume_data(st->session->h2, st->id); /* it may not be waiting */
}

void grpc_stream_end(struct grpc_stream *st, int status, const char *words)
{
    st->ending = true;
    st->end_status = status;
    sw_text_set(&st->end_words, words);
    if (st->answering) {
        (void)nghttp2_session_resume_data(st->session->h2, st->id);
        return;
    }
    st->answering = true;
    char number[12];
    SW_AUTO_CHARS *encoded = NULL;
    nghttp2_nv nv[4] = { FIELD(":status", "200", 3),
                         FIELD("content-type", "application/grpc", 16) };
    const size_t n = status_fields(st, number, &encoded, nv + 2);
    (void)nghttp2_submit_response(st->session->h2, st->id, nv, 2 + n, NULL);
}

void grpc_stream_cancel(struct grpc_stream *st)
{
    (void)nghttp2_submit_rst_stream(st->session->h2, NGHTTP2_FLAG_NONE, st->id, NGHTTP2_CANCEL);
}

struct grpc_stream *grpc_stream_open(struct grpc_session *s, const char *path,
                                     const uint8_t *message, size_t len, void *user)
{
    struct grpc_stream *st = new_stream(s, -1);
    st->user = user;
    st->ending = true;
    grpc_stream_send(st, message, len, false);
    const nghttp2_nv nv[] = {
        FIELD(":method", "POST", 4),
        FIELD(":scheme", "http", 4),
        FIELD(":path", path, strlen(path)),
        FIELD(":authority", "localhost", 9),
        FIELD("content-type", "application/grpc", 16),
        FIELD("te", "trailers", 8),
        FIELD("user-agent", "slipway", 7),
    };
    const nghttp2_data_provider data = { { .ptr = st }, on_read };
    st->id = nghttp2_submit_request(s->h2, NULL, nv, SW_COUNT(nv), &data, st);
    if (st->id >= 0)
        return st;
    free_stream(st);
    return NULL;
}

/* ---- what comes in -----------------------------------------------------------------------------
 */

static int on_begin_headers(nghttp2_session *h2, const nghttp2_frame *frame, void *user)
{
    struct grpc_session *s = user;
    if (!s->is_server || frame->hd.type != NGHTTP2_HEADERS ||
        frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    return nghttp2_session_set_stream_user_data(h2, frame->hd.stream_id,
                                                new_stream(s, frame->hd.stream_id));
}

static bool is(const uint8_t *text, size_t len, const char *what)
{
    return strlen(what) == len && memcmp(text, what, len) == 0;
}

static int on_header(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len,
                     uint8_t flags SW_UNUSED, void *user SW_UNUSED)
{
    struct grpc_stream *st = stream_of(h2, frame->hd.stream_id);
    if (!st)
        return 0;
    st->n_headers += name_len + value_len + 32;
    if (st->n_headers > MAX_HEADER_BYTES || value_len > MAX_HEADER_BYTES)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* resets the stream */
    SW_AUTO_CHARS *text = NULL;
    if (is(name, name_len, ":path") && value_len <= MAX_PATH) {
        free(st->path);
        st->path = sw_strndup((const char *)value, value_len);
    } else if (is(name, name_len, "content-type")) {
        st->is_grpc = value_len >= 16 && memcmp(value, "application/grpc", 16) == 0;
    } else if (is(name, name_len, ":status")) {
        text = sw_strndup((const char *)value, value_len);
        st->http_status = (int)strtol(text, NULL, 10);
    } else if (is(name, name_len, "grpc-status")) {
        text = sw_strndup((const char *)value, value_len);
        st->grpc_status = (int)strtol(text, NULL, 10);
    } else if (is(name, name_len, "grpc-message")) {
        free(st->words);
        st->words = decode_message(value, value_len);
    }
    return 0;
}

/* A message's length is known. @return a status other than 0 to end the stream */
static int begin_message(struct grpc_stream *st)
{
    const uint8_t *p = st->prefix;
    st->need = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
    st->got = 0;
    if (p[0] != 0)
        return SW_GRPC_UNIMPLEMENTED; /* compressed, and nobody was told that it may be */
    if (st->need > st->session->max_message_bytes)
        return SW_GRPC_RESOURCE_EXHAUSTED;
    return 0;
}

static int finish_message(struct grpc_stream *st)
{
    uint8_t *body = SW_TAKE(st->body);
    st->n_prefix = 0;
    const int status = st->session->ops->on_message(st, body, st->need);
    free(body);
    return status;
}

/* The memory of a message grows with what has really come. @return as begin_message() */
static int take_bytes(struct grpc_stream *st, const uint8_t *bytes, size_t len)
{
    struct grpc_session *s = st->session;
    if (s->held) {
        if (*s->held + len > s->max_held)
            return SW_GRPC_RESOURCE_EXHAUSTED;
        *s->held += len;
        st->held += len;
    }
    st->body = sw_realloc(st->body, st->got + len, 1);
    memcpy(st->body + st->got, bytes, len);
    st->got += len;
    return 0;
}

static int read_messages(struct grpc_stream *st, const uint8_t *bytes, size_t len)
{
    while (len) {
        int status = 0;
        if (st->n_prefix < 5) {
            st->prefix[st->n_prefix++] = *bytes++;
            len--;
            if (st->n_prefix == 5)
                status = begin_message(st);
        } else {
            const size_t part = st->need - st->got < len ? st->need - st->got : len;
            status = take_bytes(st, bytes, part);
            bytes += part;
            len -= part;
        }
        if (status == 0 && st->n_prefix == 5 && st->got == st->need)
            status = finish_message(st);
        if (status)
            return status;
    }
    return 0;
}

static const char *why_refused(int status)
{
    return status == SW_GRPC_UNIMPLEMENTED ? "compressed messages are not served"
           : status == SW_GRPC_RESOURCE_EXHAUSTED
               ? "the message is too large, or too many are there"
               : "one message was expected";
}

static int on_data(nghttp2_session *h2, uint8_t flags SW_UNUSED, int32_t id, const uint8_t *bytes,
                   size_t len, void *user SW_UNUSED)
{
    struct grpc_stream *st = stream_of(h2, id);
    if (!st || st->over || (st->session->is_server && st->ending))
        return 0;
    const int status = read_messages(st, bytes, len);
    if (status == 0)
        return 0;
    if (st->session->is_server) {
        grpc_stream_end(st, status, why_refused(status));
    } else {
        st->grpc_status = status;
        sw_text_set(&st->words, why_refused(status));
        grpc_stream_cancel(st);
    }
    return 0;
}

static int on_frame(nghttp2_session *h2, const nghttp2_frame *frame, void *user)
{
    struct grpc_session *s = user;
    if (frame->hd.type == NGHTTP2_SETTINGS && !(frame->hd.flags & NGHTTP2_FLAG_ACK))
        s->greeted = true;
    if ((frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) ||
        !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    struct grpc_stream *st = stream_of(h2, frame->hd.stream_id);
    if (st && !st->over && !(s->is_server && st->ending))
        s->ops->on_end(st);
    return 0;
}

static int on_close(nghttp2_session *h2, int32_t id, uint32_t error_code, void *user)
{
    struct grpc_session *s = user;
    struct grpc_stream *st = stream_of(h2, id);
    if (!st)
        return 0;
    (void)nghttp2_session_set_stream_user_data(h2, id, NULL);
    s->ops->on_gone(st, error_code);
    free_stream(st);
    return 0;
}

/* ---- the session -------------------------------------------------------------------------------
 */

static nghttp2_session *new_h2(struct grpc_session *s)
{
    nghttp2_session_callbacks *cbs;
    nghttp2_option *opt;
    nghttp2_session *h2 = NULL;
    if (nghttp2_session_callbacks_new(&cbs) != 0 || nghttp2_option_new(&opt) != 0)
        abort(); /* out of memory ends the process, as everywhere */
    nghttp2_session_callbacks_set_on_begin_headers_callback(cbs, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(cbs, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cbs, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cbs, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(cbs, on_close);
    nghttp2_option_set_no_closed_streams(opt, 1);
    /* grpc-go sends the path of a unix socket as :authority, which HTTP does not allow; what counts
     * of the headers is looked at here */
    nghttp2_option_set_no_http_messaging(opt, s->is_server);
    nghttp2_option_set_max_outbound_ack(opt, 100); /* pings that are not waited for */
    const int rc = s->is_server ? nghttp2_session_server_new2(&h2, cbs, s, opt)
                                : nghttp2_session_client_new2(&h2, cbs, s, opt);
    nghttp2_session_callbacks_del(cbs);
    nghttp2_option_del(opt);
    if (rc != 0)
        abort();
    return h2;
}

struct grpc_session *grpc_session_new(bool is_server, const struct grpc_session_ops *ops,
                                      void *user, size_t max_message_bytes, uint32_t max_streams)
{
    struct grpc_session *s = sw_zalloc(1, sizeof *s);
    s->is_server = is_server;
    s->ops = ops;
    s->user = user;
    s->max_message_bytes = max_message_bytes;
    LIST_INIT(&s->streams);
    s->h2 = new_h2(s);
    const nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, max_streams },
        { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, MAX_HEADER_BYTES },
        { NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
    };
    (void)nghttp2_submit_settings(s->h2, NGHTTP2_FLAG_NONE, settings,
                                  is_server ? 2 : SW_COUNT(settings));
    return s;
}

void grpc_session_free(struct grpc_session *s)
{
    if (!s)
        return;
    struct grpc_stream *st;
    while ((st = SW_LINKED(LIST_FIRST(&s->streams)))) {
        if (st->id > 0)
            (void)nghttp2_session_set_stream_user_data(s->h2, st->id, NULL);
        s->ops->on_gone(st, NGHTTP2_CANCEL);
        free_stream(st);
    }
    nghttp2_session_del(s->h2);
    free(s);
}

int grpc_session_feed(struct grpc_session *s, const uint8_t *bytes, size_t len)
{
    const ssize_t n = nghttp2_session_mem_recv(s->h2, bytes, len);
    return n < 0 || (size_t)n != len ? -1 : 0;
}

long grpc_session_pull(struct grpc_session *s, const uint8_t **bytes)
{
    return (long)nghttp2_session_mem_send(s->h2, bytes);
}

bool grpc_session_is_done(struct grpc_session *s)
{
    return !nghttp2_session_want_read(s->h2) && !nghttp2_session_want_write(s->h2);
}
