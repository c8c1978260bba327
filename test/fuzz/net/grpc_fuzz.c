/* Any bytes as what a peer sends on an HTTP/2 connection: to a server (after the preface, if the
 * first byte is even), and to a client that has a call under way. Refused or served, nothing else.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "net/grpc/grpc.h"
#include "net/grpc/session.h"

static int on_message(struct grpc_stream *stream, const uint8_t *bytes, size_t len)
{
    if (stream->session->is_server && len && bytes[0] == 'x')
        return SW_GRPC_INVALID_ARGUMENT;
    return 0;
}

static void on_end(struct grpc_stream *stream)
{
    if (!stream->session->is_server)
        return;
    grpc_stream_send(stream, (const uint8_t *)"answer", 6, false);
    if (stream->path && strlen(stream->path) % 2)
        grpc_stream_end(stream, SW_GRPC_OK, "words %");
}

static void on_gone(struct grpc_stream *stream, uint32_t error_code SW_UNUSED)
{
    stream->over = true;
}

static const struct grpc_session_ops ops = { on_message, on_end, on_gone };

static void feed(struct grpc_session *s, const uint8_t *data, size_t size)
{
    const uint8_t *out;
    long total = 0, n;
    for (size_t at = 0; at < size;) {
        const size_t part = size - at < 1 + at % 97 ? size - at : 1 + at % 97;
        if (grpc_session_feed(s, data + at, part) < 0)
            break;
        while ((n = grpc_session_pull(s, &out)) > 0 && (total += n) < (4 << 20))
            continue;
        at += part;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    if (!size)
        return 0;
    struct grpc_session *server = grpc_session_new(true, &ops, NULL, 1 << 16, 4);
    if (data[0] % 2 == 0)
        feed(server, preface, sizeof preface - 1);
    feed(server, data + 1, size - 1);
    grpc_session_free(server);
    struct grpc_session *client = grpc_session_new(false, &ops, NULL, 1 << 16, 4);
    (void)grpc_stream_open(client, "/a.B/C", (const uint8_t *)"hi", 2, NULL);
    feed(client, data + 1, size - 1);
    grpc_session_free(client);
    return 0;
}
