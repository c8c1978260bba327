/* serve: what a client may make of TLS itself. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/serve/tls.h"

#include "unit/net/identity.h"

static struct sw_loop *loop;
static struct sw_serve *server;

static const struct sw_serve_route routes[] = { { "GET", "/healthz", sw_serve_healthz } };

static int setup(void **state SW_UNUSED)
{
    loop = sw_loop_new(NULL);
    return 0;
}

static int teardown(void **state SW_UNUSED)
{
    sw_serve_close(SW_TAKE(server));
    sw_loop_free(loop);
    return 0;
}

static void open_server(const struct sw_serve_tls_ops *tls)
{
    SW_ERR(err);
    if (sw_serve_open(loop,
                      &(struct sw_serve_opts){ .routes = routes,
                                               .n_routes = SW_COUNT(routes),
                                               .address = "127.0.0.1",
                                               .tls = tls,
                                               .own_name = "test" },
                      &server, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
}

static int dial(void)
{
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)sw_serve_port(server)),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

static void steps(int n)
{
    for (int i = 0; i < n; i++)
        sw_loop_step(loop, 10);
}

static unsigned open_conns(void)
{
    struct sw_serve_counts counts;
    sw_serve_count(server, &counts);
    return counts.open_conns;
}

/* ---- handshakes --------------------------------------------------------------------------------
 */

/* @body_len bytes of a ClientHello that says it has 128,000. */
static void say_hello(int fd, size_t body_len)
{
    static const unsigned char header[] = { 1, 0x01, 0xf4, 0, 3, 3 };
    unsigned char record[5 + 16384] = { 22, 3, 1 };
    const size_t len = sizeof header + body_len;
    record[3] = (unsigned char)(len >> 8);
    record[4] = (unsigned char)len;
    memcpy(record + 5, header, sizeof header);
    assert_int_equal(write(fd, record, 5 + len), 5 + len);
}

static void a_large_hello_is_not_waited_for(void **state SW_UNUSED)
{
    open_server(&sw_serve_openssl);
    const int small = dial(), large = dial();
    say_hello(small, 4000);
    steps(5);
    assert_int_equal(open_conns(), 2);
    say_hello(large, 12000);
    steps(5);
    assert_int_equal(open_conns(), 1); /* the small one may go on */
    (void)close(small);
    (void)close(large);
}

/* ---- messages of TLS ---------------------------------------------------------------------------
 */

static SSL *shake_hands(SSL_CTX *ctx, int fd)
{
    SSL *ssl = SSL_new(ctx);
    assert_int_equal(SSL_set_fd(ssl, fd), 1);
    SSL_set_connect_state(ssl);
    for (int i = 0; i < 100 && SSL_do_handshake(ssl) != 1; i++)
        steps(1);
    assert_true(SSL_is_init_finished(ssl));
    return ssl;
}

static bool is_answered(SSL *ssl)
{
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    char answer[256];
    int n = 0;
    if (SSL_write(ssl, request, sizeof request - 1) <= 0)
        return false;
    for (int i = 0; i < 100 && (n = SSL_read(ssl, answer, sizeof answer)) <= 0; i++)
        steps(1);
    return n > 0;
}

static void ask_for_keys(SSL *ssl, int n)
{
    for (int i = 0; i < n; i++) {
        (void)SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED);
        if (SSL_do_handshake(ssl) != 1)
            return;
    }
}

/* Each is answered: a client that sends nothing else has the server do nothing else. */
static void new_keys_are_to_be_had_a_few_times(void **state SW_UNUSED)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    assert_int_equal(SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION), 1);
    open_server(&sw_serve_openssl);
    const int fd = dial();
    SSL *ssl = shake_hands(ctx, fd);
    for (int i = 0; i < 4; i++) {
        ask_for_keys(ssl, 1);
        assert_true(is_answered(ssl));
    }
    ask_for_keys(ssl, 1000);
    steps(20);
    assert_int_equal(open_conns(), 0);
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    (void)close(fd);
}

/* ---- what TLS has to say is not taken ----------------------------------------------------------
 */

static int n_reads;

static bool is_never_new(struct sw_serve_tls *t SW_UNUSED, bool needed SW_UNUSED)
{
    return false;
}

static int init(struct sw_serve_tls *t, const char *min_version SW_UNUSED,
                const char *suites SW_UNUSED, struct sw_err *err SW_UNUSED)
{
    t->ctx = (SSL_CTX *)&n_reads; /* so that it accepts */
    return 0;
}

static void done(struct sw_serve_tls *t SW_UNUSED)
{
}

static void *session_new(struct sw_serve_tls *t SW_UNUSED, int fd)
{
    const int least = 1; /* the socket takes little */
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof least), 0);
    static char zeros[64 * 1024];
    struct pollfd full = { .fd = fd, .events = POLLOUT };
    while (poll(&full, 1, 500) > 0) /* the other side takes some of it, and a while for that */
        (void)!send(fd, zeros, sizeof zeros, MSG_DONTWAIT);
    return &n_reads;
}

static enum sw_conn_result handshake(void *session SW_UNUSED)
{
    return SW_CONN_OK;
}

static ssize_t read_none(void *session SW_UNUSED, char *to SW_UNUSED, size_t len_bytes SW_UNUSED,
                         enum sw_conn_result *why)
{
    n_reads++;
    *why = SW_CONN_WANT_WRITE;
    return -1;
}

static ssize_t write_none(void *session SW_UNUSED, const char *from SW_UNUSED,
                          size_t len_bytes SW_UNUSED, enum sw_conn_result *why)
{
    *why = SW_CONN_WANT_WRITE;
    return -1;
}

static bool has_more(const void *session SW_UNUSED)
{
    return false;
}

static void session_free(void *session SW_UNUSED)
{
}

static void the_socket_is_waited_for(void **state SW_UNUSED)
{
    static const struct sw_conn_tls conn = { handshake, read_none, write_none, has_more,
                                             session_free };
    static const struct sw_serve_tls_ops ops = { .init = init,
                                                 .done = done,
                                                 .refresh = is_never_new,
                                                 .session_new = session_new,
                                                 .conn = &conn };
    open_server(&ops);
    const int fd = dial();
    n_reads = 0;
    assert_int_equal(write(fd, "x", 1), 1); /* which is there to be read, all the time */
    steps(50);
    assert_true(n_reads > 0 && n_reads <= 3);
    (void)close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_large_hello_is_not_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(new_keys_are_to_be_had_a_few_times, setup, teardown),
        cmocka_unit_test_setup_teardown(the_socket_is_waited_for, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
