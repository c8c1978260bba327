#pragma once
/* grpc: remote calls over HTTP/2 on unix sockets, both sides, on the process's event loop. One
 * request message, one answer or a stream of them: what kubelet's interfaces use. Messages are
 * bytes here; protobuf is the caller's business, and so is what a method does. No TLS, no
 * compression, no client streams (they are refused with a status, as gRPC asks for).
 * Source: gRPC "gRPC over HTTP2" (protocol), RFC 9113; grpcio is the other side in
 * test/unit/grpc_peer_test.sh. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "base/loop.h"

/** gRPC's own numbers. */
enum sw_grpc_status {
    SW_GRPC_OK = 0,
    SW_GRPC_CANCELLED = 1,
    SW_GRPC_UNKNOWN = 2,
    SW_GRPC_INVALID_ARGUMENT = 3,
    SW_GRPC_DEADLINE_EXCEEDED = 4,
    SW_GRPC_NOT_FOUND = 5,
    SW_GRPC_RESOURCE_EXHAUSTED = 8,
    SW_GRPC_FAILED_PRECONDITION = 9,
    SW_GRPC_ABORTED = 10,
    SW_GRPC_UNIMPLEMENTED = 12,
    SW_GRPC_INTERNAL = 13,
    SW_GRPC_UNAVAILABLE = 14,
};

/* ---- serving -----------------------------------------------------------------------------------
 */

struct sw_grpc_server;
/** A call under way; good until sw_grpc_call_end(), or until its on_gone callback has returned. */
struct sw_grpc_call;

/** One method of a server. */
struct sw_grpc_method {
    const char *path; /* "/v1beta1.DevicePlugin/Allocate" */
    /** The request has come whole. @message is borrowed for the call. Answer now or later. */
    void (*serve)(struct sw_grpc_call *call, const uint8_t *message, size_t len_bytes, void *arg);
};

/** The zero value is the default of each. Texts are copied, methods borrowed for its life. */
struct sw_grpc_server_opts {
    const char *socket; /* a path; a socket that is there already is replaced */
    const struct sw_grpc_method *methods;
    size_t n_methods;
    void *arg;
    size_t max_message_bytes; /* of a request; 0: 4 MiB */
    size_t max_held_bytes;    /* of all requests that have begun; 0: four of the largest */
    /** 0: 32. Another one takes the place of one of the process that has most of them (those that
     * this process cannot see, in other pods, count as one): first the oldest that never had a
     * call, then the oldest between calls, then the newest with a call. */
    int max_conns;
    int max_calls;       /* under way on one connection; 0: 32 */
    int64_t greeting_ms; /* for the first frames of a connection; 0: 10 s */
    int64_t stall_ms;    /* a reader that takes nothing for so long is hung up on; 0: 30 s */
};

/** Listen. @return 0 | SW_INVALID (the path is too long) | SW_FORBIDDEN, SW_NOTFOUND,
 * SW_UNAVAILABLE (the folder) */
int sw_grpc_server_open(struct sw_loop *loop, const struct sw_grpc_server_opts *opts,
                        struct sw_grpc_server **out, struct sw_err *err) SW_CHECKED;
/** Whether the socket's file still exists and is the one that the server listens on. */
bool sw_grpc_server_is_there(const struct sw_grpc_server *server);
/** Close all connections and remove the socket. on_gone is called for each call in flight. Not from
 * a method. NULL is accepted. */
void sw_grpc_server_close(struct sw_grpc_server *server);

/** Send one more message to the caller; copied. */
void sw_grpc_call_send(struct sw_grpc_call *call, const uint8_t *message, size_t len_bytes);
/** As sw_grpc_call_send(), but the message replaces queued messages of which no byte has been sent:
 * for streams of complete states, where only the last one matters. */
void sw_grpc_call_replace(struct sw_grpc_call *call, const uint8_t *message, size_t len_bytes);
/** End the call with a status and a message (@words, may be NULL). The handle is invalid then. */
void sw_grpc_call_end(struct sw_grpc_call *call, int status, const char *words);
/** Called once if the other side cancels or its connection breaks before the end. */
void sw_grpc_call_on_gone(struct sw_grpc_call *call,
                          void (*on_gone)(struct sw_grpc_call *call, void *arg), void *arg);

/* ---- calling -----------------------------------------------------------------------------------
 */

struct sw_grpc_request;

/** A call to a server. */
struct sw_grpc_request_opts {
    const char *socket, *path;
    const uint8_t *message; /* copied */
    size_t len_bytes;
    int64_t timeout_ms;       /* until it is over; 0: none */
    size_t max_message_bytes; /* of an answer; 0: 16 MiB */
    /** An answer; borrowed for the call. */
    void (*on_message)(const uint8_t *message, size_t len_bytes, void *arg);
    /** It is over; @words for people, borrowed, never NULL. */
    void (*on_done)(int status, const char *words, void *arg);
    void *arg;
};

/** Start a call on a connection of its own. on_done is called once, never before this function has
 * returned, unless the call is cancelled; the handle is valid until then. */
struct sw_grpc_request *sw_grpc_request_start(struct sw_loop *loop,
                                              const struct sw_grpc_request_opts *opts);
/** Cancel a call: none of its callbacks runs any more. NULL is accepted. */
void sw_grpc_request_cancel(struct sw_grpc_request *request);
