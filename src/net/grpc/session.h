#pragma once
/* session: one HTTP/2 connection that carries gRPC, without its socket: bytes in, bytes out.
 * Internal to grpc: server.c and client.c connect it to sockets, the fuzz target feeds it directly.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct grpc_session;
struct nghttp2_session;

/** A message that is queued for sending. */
struct grpc_chunk {
    STAILQ_ENTRY(grpc_chunk) link;
    size_t len, at; /* sent so far */
    uint8_t bytes[];
};

/** One call; the session owns it. */
struct grpc_stream {
    LIST_ENTRY(grpc_stream) link;
    struct grpc_session *session;
    int32_t id;
    void *user;
    /* what comes in */
    char *path;
    bool is_grpc;     /* content-type */
    int http_status;  /* client: of the answer */
    int grpc_status;  /* client: from the trailers; -1: none came */
    char *words;      /* client: grpc-message */
    size_t n_headers; /* bytes of them */
    uint8_t prefix[5];
    size_t n_prefix;
    uint8_t *body;
    size_t need, got, held; /* held: bytes of all its messages */
    /* what goes out */
    STAILQ_HEAD(grpc_chunks, grpc_chunk) out;
    bool answering; /* server: headers were submitted */
    bool ending;    /* no more messages */
    int end_status;
    char *end_words;
    bool over; /* the owner does not use it any more */
};

/** The callbacks of a session. */
struct grpc_session_ops {
    /** A message has come whole; borrowed. @return a gRPC status other than 0 ends the stream. */
    int (*on_message)(struct grpc_stream *stream, const uint8_t *bytes, size_t len);
    /** The other side will send no more on it. */
    void (*on_end)(struct grpc_stream *stream);
    /** It goes away after this; also for all that are left at grpc_session_free(). */
    void (*on_gone)(struct grpc_stream *stream, uint32_t error_code);
};

/** One connection. */
struct grpc_session {
    struct nghttp2_session *h2;
    bool is_server;
    const struct grpc_session_ops *ops;
    void *user;
    size_t max_message_bytes;
    LIST_HEAD(grpc_streams, grpc_stream) streams;
    bool greeted; /* the other side's settings have come */
    /* Bytes of messages that the streams of several sessions hold; NULL: they are not counted. */
    size_t *held, max_held;
};

/** A session; grpc_session_free() frees it. @ops is borrowed for its life. */
struct grpc_session *grpc_session_new(bool is_server, const struct grpc_session_ops *ops,
                                      void *user, size_t max_message_bytes, uint32_t max_streams);
/** Free the session and its streams; on_gone is called for each. */
void grpc_session_free(struct grpc_session *s);
/** Process received bytes. @return 0, or negative: the other side violates HTTP/2; send what
 * grpc_session_pull() still returns and close the connection. */
int grpc_session_feed(struct grpc_session *s, const uint8_t *bytes, size_t len);
/** The next bytes to send, borrowed until the next call. @return 0: none now; negative: hang up. */
long grpc_session_pull(struct grpc_session *s, const uint8_t **bytes);
/** Whether no call is in flight and none can begin. */
bool grpc_session_is_done(struct grpc_session *s);

/** Client: begin a call. NULL: not possible on this connection any more. */
struct grpc_stream *grpc_stream_open(struct grpc_session *s, const char *path,
                                     const uint8_t *message, size_t len, void *user);
/** Queue a message (copied); @instead: it replaces queued messages that have not begun to be sent.
 */
void grpc_stream_send(struct grpc_stream *stream, const uint8_t *message, size_t len, bool instead);
/** Server: the trailers. The stream closes when all is sent. */
void grpc_stream_end(struct grpc_stream *stream, int status, const char *words);
/** Cancel the call: reset the stream. */
void grpc_stream_cancel(struct grpc_stream *stream);
