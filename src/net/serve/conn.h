#pragma once
/* conn: one connection's bytes, with or without TLS, never blocking. Internal to serve. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** CLOSED: by the other side, or by an error. */
enum sw_conn_result { SW_CONN_OK, SW_CONN_WANT_READ, SW_CONN_WANT_WRITE, SW_CONN_CLOSED };

/** Bytes that came, or that are to be sent. */
struct sw_conn_buffer {
    char *bytes;
    size_t at, len, cap; /* at: the bytes before it are used up */
};

/* Between requests a connection holds no buffers, so that an idle one costs its TLS state only. The
 * buffers given back last are kept here for the next connection that needs some. */
struct sw_conn_spare {
    struct sw_conn_buffer in, out;
};

/** TLS as a connection uses it. @session: what session_new() of tls.h gave. */
struct sw_conn_tls {
    enum sw_conn_result (*handshake)(void *session);
    /** As recv() and send(); @why: what to wait for where the answer is not positive. */
    ssize_t (*read)(void *session, char *to, size_t len_bytes, enum sw_conn_result *why);
    ssize_t (*write)(void *session, const char *from, size_t len_bytes, enum sw_conn_result *why);
    /** Has it read bytes from the socket that were not read from it? */
    bool (*has_more)(const void *session);
    /** Says goodbye where that works at once. */
    void (*free)(void *session);
};

/** One connection. */
struct sw_conn {
    int fd;
    const struct sw_conn_tls *tls; /* NULL: plain */
    void *session;                 /* of tls; owned; NULL: no handshake has begun */
    struct sw_conn_buffer in, out;
    bool filled;                 /* the last read gave as much as it may */
    struct sw_conn_spare *spare; /* shared with the other connections */
};

/** @tls: NULL for plain HTTP. @spare is borrowed until sw_conn_done(). */
void sw_conn_init(struct sw_conn *c, int fd, const struct sw_conn_tls *tls,
                  struct sw_conn_spare *spare);
/** Closes the socket too. */
void sw_conn_done(struct sw_conn *c);
/** Free what it holds. */
void sw_conn_spare_done(struct sw_conn_spare *spare);

/** Go on with the handshake of TLS; plain connections have none. */
enum sw_conn_result sw_conn_handshake(struct sw_conn *c);
/** Read once, at most 16 KiB, behind what is in @in. */
enum sw_conn_result sw_conn_read(struct sw_conn *c);
/** Write @out until it is empty. */
enum sw_conn_result sw_conn_flush(struct sw_conn *c);
/** More is to come that is not there yet: keep no larger buffer than what has come needs. */
void sw_conn_trim(struct sw_conn *c);
/** Is there probably more to read? Of what TLS holds the socket does not tell. */
bool sw_conn_has_more(const struct sw_conn *c);

/** Append to @out; sw_conn_flush() sends it. */
void sw_conn_put(struct sw_conn *c, const char *bytes, size_t len_bytes);
/** Forget the first bytes of @in; give the buffer back when nothing is left. */
void sw_conn_consume(struct sw_conn *c, size_t len_bytes);
