/* src/grpc, both sides of it in one process. The other implementations' sides are played by
 * grpcio in deviceplugin_kubelet_test.sh. */
#include "net/grpc/grpc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
    struct sw_loop *loop;
    struct sw_grpc_server *server;
    char path[64];
    struct sw_grpc_call *calls[64];
    size_t n_calls, n_gone;
    /* the caller's side */
    int status;
    bool done;
    char words[128];
    size_t n_messages, n_bytes;
    char last[64];
};

static void on_gone(struct sw_grpc_call *call SW_UNUSED, void *arg)
{
    ((struct world *)arg)->n_gone++;
}

static void echo(struct sw_grpc_call *call, const uint8_t *message, size_t len, void *arg SW_UNUSED)
{
    sw_grpc_call_send(call, message, len);
    sw_grpc_call_end(call, SW_GRPC_OK, NULL);
}

static void keep(struct sw_grpc_call *call, const uint8_t *message SW_UNUSED, size_t len SW_UNUSED,
                 void *arg)
{
    struct world *w = arg;
    w->calls[w->n_calls++] = call;
    sw_grpc_call_on_gone(call, on_gone, w);
}

static void refuse(struct sw_grpc_call *call, const uint8_t *message SW_UNUSED,
                   size_t len SW_UNUSED, void *arg SW_UNUSED)
{
    sw_grpc_call_end(call, SW_GRPC_FAILED_PRECONDITION, "100 % no\nway \xc3\xa4");
}

static const struct sw_grpc_method methods[] = { { "/t.T/Echo", echo },
                                                 { "/t.T/Keep", keep },
                                                 { "/t.T/Refuse", refuse } };

/* @greeting_ms, @stall_ms: when the server hangs up; a busy machine may be as slow as that. */
static void open_world_of(struct world *w, int64_t greeting_ms, int64_t stall_ms)
{
    *w = (struct world){ 0 };
    w->loop = sw_loop_new(NULL);
    (void)snprintf(w->path, sizeof w->path, "/tmp/slipway-grpc-%d.sock", (int)getpid());
    SW_ERR(err);
    if (sw_grpc_server_open(w->loop,
                            &(struct sw_grpc_server_opts){ .socket = w->path,
                                                           .methods = methods,
                                                           .n_methods = SW_COUNT(methods),
                                                           .arg = w,
                                                           .max_message_bytes = 1 << 20,
                                                           .max_held_bytes = 2 << 20,
                                                           .max_conns = 4,
                                                           .greeting_ms = greeting_ms,
                                                           .stall_ms = stall_ms },
                            &w->server, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
}

static void open_world(struct world *w)
{
    open_world_of(w, 20000, 20000);
}

static void close_world(struct world *w)
{
    sw_grpc_server_close(w->server);
    sw_loop_free(w->loop);
    assert_int_not_equal(access(w->path, F_OK), 0);
}

static void on_message(const uint8_t *message, size_t len, void *arg)
{
    struct world *w = arg;
    w->n_messages++;
    w->n_bytes += len;
    (void)snprintf(w->last, sizeof w->last, "%.*s", (int)(len < 60 ? len : 60),
                   (const char *)message);
}

static void on_done(int status, const char *words, void *arg)
{
    struct world *w = arg;
    w->done = true;
    w->status = status;
    (void)snprintf(w->words, sizeof w->words, "%s", words);
}

static struct sw_grpc_request *call(struct world *w, const char *path, const void *message,
                                    size_t len, int64_t timeout_ms)
{
    w->done = false;
    w->n_messages = w->n_bytes = 0;
    return sw_grpc_request_start(w->loop, &(struct sw_grpc_request_opts){ .socket = w->path,
                                                                          .path = path,
                                                                          .message = message,
                                                                          .len_bytes = len,
                                                                          .timeout_ms = timeout_ms,
                                                                          .on_message = on_message,
                                                                          .on_done = on_done,
                                                                          .arg = w });
}

/* Go on until @condition holds, 20 s at most. */
#define UNTIL(w, condition)                                                                        \
    do {                                                                                           \
        const int64_t until_ms = sw_monotonic_ms() + 20000;                                        \
        while (!(condition) && sw_monotonic_ms() < until_ms)                                       \
            sw_loop_step((w)->loop, 100);                                                          \
        assert_true(condition);                                                                    \
    } while (0)

static void turns(struct world *w, int n)
{
    for (int i = 0; i < n; i++)
        sw_loop_step(w->loop, 2);
}

static void test_messages_of_all_sizes_come_back(void **state SW_UNUSED)
{
    static const size_t sizes[] = { 0, 1, 5, 16384, 65535, 65536, 1000000 };
    struct world w;
    open_world(&w);
    for (size_t i = 0; i < SW_COUNT(sizes); i++) {
        char *bytes = sw_zalloc(1, sizes[i] + 1);
        memset(bytes, 'x', sizes[i]);
        (void)call(&w, "/t.T/Echo", bytes, sizes[i], 10000);
        UNTIL(&w, w.done);
        assert_int_equal(w.status, SW_GRPC_OK);
        assert_int_equal(w.n_messages, 1);
        assert_int_equal(w.n_bytes, sizes[i]);
        free(bytes);
    }
    close_world(&w);
}

static void test_what_is_refused_says_why(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    (void)call(&w, "/t.T/Refuse", "", 0, 10000);
    UNTIL(&w, w.done);
    assert_int_equal(w.status, SW_GRPC_FAILED_PRECONDITION);
    assert_string_equal(w.words, "100 % no\nway \xc3\xa4");
    (void)call(&w, "/t.T/Nothing", "", 0, 10000);
    UNTIL(&w, w.done);
    assert_int_equal(w.status, SW_GRPC_UNIMPLEMENTED);
    char *large = sw_zalloc(1, (1 << 20) + 1);
    (void)call(&w, "/t.T/Echo", large, (1 << 20) + 1, 10000);
    UNTIL(&w, w.done);
    assert_int_equal(w.status, SW_GRPC_RESOURCE_EXHAUSTED);
    free(large);
    close_world(&w);
}

static void test_a_stream_goes_on_until_it_is_ended(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    (void)call(&w, "/t.T/Keep", "", 0, 0);
    UNTIL(&w, w.n_calls);
    for (size_t i = 1; i <= 3; i++) {
        sw_grpc_call_send(w.calls[0], (const uint8_t *)"hello", 5);
        UNTIL(&w, w.n_messages >= i);
        assert_false(w.done);
    }
    sw_grpc_call_end(w.calls[0], SW_GRPC_OK, NULL);
    UNTIL(&w, w.done);
    assert_int_equal(w.status, SW_GRPC_OK);
    assert_int_equal(w.n_gone, 0);
    close_world(&w);
}

static void test_only_the_last_state_waits_for_a_slow_reader(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    (void)call(&w, "/t.T/Keep", "", 0, 0);
    UNTIL(&w, w.n_calls);
    char *bytes = sw_zalloc(1, 50000);
    for (int i = 0; i < 1000; i++) { /* 50 MB, were they kept */
        (void)snprintf(bytes, 50000, "%d", i);
        sw_grpc_call_replace(w.calls[0], (uint8_t *)bytes, 50000);
    }
    UNTIL(&w, strcmp(w.last, "999") == 0);
    assert_true(w.n_messages < 20);
    free(bytes);
    sw_grpc_call_end(w.calls[0], SW_GRPC_OK, NULL);
    UNTIL(&w, w.done);
    close_world(&w);
}

static void test_giving_up_is_told_to_the_other_side(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    struct sw_grpc_request *r = call(&w, "/t.T/Keep", "", 0, 0);
    UNTIL(&w, w.n_calls);
    sw_grpc_request_cancel(r);
    UNTIL(&w, w.n_gone);
    assert_int_equal(w.n_gone, 1);
    assert_false(w.done);
    (void)call(&w, "/t.T/Keep", "", 0, 50);
    UNTIL(&w, w.done);
    assert_int_equal(w.status, SW_GRPC_DEADLINE_EXCEEDED);
    close_world(&w);
}

static void test_calls_under_way_are_gone_when_the_server_closes(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    (void)call(&w, "/t.T/Keep", "", 0, 0);
    UNTIL(&w, w.n_calls);
    sw_grpc_server_close(SW_TAKE(w.server));
    assert_int_equal(w.n_gone, 1);
    UNTIL(&w, w.done);
    assert_int_equal(w.status, SW_GRPC_UNAVAILABLE);
    close_world(&w);
}

static void test_nobody_there(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    sw_grpc_server_close(SW_TAKE(w.server));
    (void)call(&w, "/t.T/Echo", "", 0, 1000);
    UNTIL(&w, w.done);
    assert_int_equal(w.status, SW_GRPC_UNAVAILABLE);
    assert_non_null(strstr(w.words, w.path));
    close_world(&w);
}

static int connect_raw(const struct world *w)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    (void)strcpy(a.sun_path, w->path);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static bool is_closed(int fd)
{
    char buf[4096];
    ssize_t n;
    while ((n = recv(fd, buf, sizeof buf, MSG_DONTWAIT)) > 0)
        continue;
    return n == 0;
}

static void test_who_says_nothing_is_hung_up_on(void **state SW_UNUSED)
{
    struct world w;
    open_world_of(&w, 100, 300);
    const int silent = connect_raw(&w), garbage = connect_raw(&w);
    assert_int_equal(send(garbage, "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
    bool both = false;
    const int64_t end_ms = sw_monotonic_ms() + 10000;
    while (!both && sw_monotonic_ms() < end_ms) {
        turns(&w, 10);
        both = is_closed(silent) && is_closed(garbage);
    }
    assert_true(both);
    (void)close(silent);
    (void)close(garbage);
    close_world(&w);
}

static void test_a_call_is_served_though_all_connections_are_taken(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    int idle[4];
    (void)call(&w, "/t.T/Keep", "", 0, 0);
    UNTIL(&w, w.n_calls);
    for (int i = 0; i < 4; i++)
        idle[i] = connect_raw(&w);
    turns(&w, 2);
    assert_true(is_closed(idle[0])); /* the first call is older, but under way */
    assert_false(is_closed(idle[1]));
    (void)call(&w, "/t.T/Echo", "x", 1, 10000);
    UNTIL(&w, w.done);
    assert_int_equal(w.status, SW_GRPC_OK);
    assert_true(is_closed(idle[1]));
    assert_int_equal(w.n_gone, 0);
    for (int i = 0; i < 4; i++)
        (void)close(idle[i]);
    w.done = false;
    sw_grpc_call_end(w.calls[0], SW_GRPC_OK, NULL);
    UNTIL(&w, w.done);
    close_world(&w);
}

static void test_a_call_is_served_though_all_connections_have_calls(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    for (size_t i = 0; i < 4; i++) {
        (void)call(&w, "/t.T/Keep", "", 0, 0);
        UNTIL(&w, w.n_calls == i + 1);
    }
    w.done = false;
    (void)call(&w, "/t.T/Echo", "x", 1, 10000);
    UNTIL(&w, w.n_messages == 1);
    assert_int_equal(w.n_gone, 1); /* the newest of them: the first caller keeps his */
    sw_grpc_call_end(w.calls[0], SW_GRPC_OK, NULL);
    w.done = false;
    UNTIL(&w, w.done);
    assert_int_equal(w.status, SW_GRPC_OK);
    close_world(&w);
}

/* Another process that opens three connections and waits for the end of @fd. */
static pid_t other_process(struct world *w, int fds[2])
{
    char byte = 0;
    if (pipe(fds) != 0)
        fail();
    const pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 3; i++)
            (void)connect_raw(w);
        _exit(write(fds[1], &byte, 1) == 1 && pause());
    }
    assert_int_equal(read(fds[0], &byte, 1), 1);
    return pid;
}

static void test_a_process_takes_no_connection_from_one_with_fewer(void **state SW_UNUSED)
{
    struct world w;
    int fds[2];
    open_world(&w);
    const int first = connect_raw(&w);
    const pid_t other = other_process(&w, fds);
    turns(&w, 2);
    (void)call(&w, "/t.T/Echo", "x", 1, 10000);
    UNTIL(&w, w.done);
    assert_int_equal(w.status, SW_GRPC_OK);
    assert_false(is_closed(first)); /* though it is the oldest, and never said anything */
    (void)kill(other, SIGKILL);
    (void)waitpid(other, NULL, 0);
    (void)close(first);
    (void)close(fds[0]);
    (void)close(fds[1]);
    close_world(&w);
}

static void test_requests_of_all_connections_together_are_bounded(void **state SW_UNUSED)
{
    struct world w;
    SW_AUTO_CHARS *large = sw_zalloc(1, 1 << 20);
    open_world(&w);
    for (size_t i = 0; i < 2; i++) {
        (void)call(&w, "/t.T/Keep", large, 1 << 20, 0);
        UNTIL(&w, w.n_calls == i + 1);
    }
    (void)call(&w, "/t.T/Keep", "x", 1, 10000);
    UNTIL(&w, w.done);
    assert_int_equal(w.status, SW_GRPC_RESOURCE_EXHAUSTED);
    for (size_t i = 0; i < 2; i++) {
        w.done = false;
        sw_grpc_call_end(w.calls[i], SW_GRPC_OK, NULL);
        UNTIL(&w, w.done);
    }
    w.done = false;
    (void)call(&w, "/t.T/Echo", "x", 1, 10000);
    UNTIL(&w, w.done);
    assert_int_equal(w.status, SW_GRPC_OK);
    close_world(&w);
}

static void test_the_socket_file_is_ours_or_not(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w);
    assert_true(sw_grpc_server_is_there(w.server));
    (void)unlink(w.path);
    assert_false(sw_grpc_server_is_there(w.server));
    close_world(&w);
    SW_ERR(err);
    struct sw_loop *loop = sw_loop_new(NULL);
    struct sw_grpc_server *s = NULL;
    char longer[200];
    memset(longer, 'x', sizeof longer);
    longer[0] = '/';
    longer[199] = '\0';
    assert_int_equal(
        sw_grpc_server_open(loop, &(struct sw_grpc_server_opts){ .socket = longer }, &s, &err),
        SW_INVALID);
    assert_int_equal(
        sw_grpc_server_open(loop, &(struct sw_grpc_server_opts){ .socket = "/nowhere/a.sock" }, &s,
                            &err),
        SW_NOTFOUND);
    sw_loop_free(loop);
}

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN); /* as the programs do */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_of_all_sizes_come_back),
        cmocka_unit_test(test_what_is_refused_says_why),
        cmocka_unit_test(test_a_stream_goes_on_until_it_is_ended),
        cmocka_unit_test(test_only_the_last_state_waits_for_a_slow_reader),
        cmocka_unit_test(test_giving_up_is_told_to_the_other_side),
        cmocka_unit_test(test_calls_under_way_are_gone_when_the_server_closes),
        cmocka_unit_test(test_nobody_there),
        cmocka_unit_test(test_who_says_nothing_is_hung_up_on),
        cmocka_unit_test(test_a_call_is_served_though_all_connections_are_taken),
        cmocka_unit_test(test_a_call_is_served_though_all_connections_have_calls),
        cmocka_unit_test(test_a_process_takes_no_connection_from_one_with_fewer),
        cmocka_unit_test(test_requests_of_all_connections_together_are_bounded),
        cmocka_unit_test(test_the_socket_file_is_ours_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
