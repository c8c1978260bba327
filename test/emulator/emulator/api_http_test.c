/* HTTP/1.1 as clients really send it: in pieces, several at once, too large, broken. */
#include "emulator/emulator/api.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static int dial(struct api *api)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    to.sin_port = htons((uint16_t)atoi(strrchr(sw_emulator_url(api->emu), ':') + 1));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* Read until @wanted has come @n times, or the server closes. */
static char *read_until(struct api *api, int fd, const char *wanted, int n)
{
    char *text = sw_strdup(""), buf[65536];
    int64_t began = sw_monotonic_ms();
    for (;;) {
        sw_loop_step(api->loop, 0);
        ssize_t got = recv(fd, buf, sizeof buf, MSG_DONTWAIT);
        if (got == 0)
            return text;
        if (got > 0) {
            SW_AUTO_CHARS *before = text;
            text = sw_printf("%s%.*s", before, (int)got, buf);
        }
        int have = 0;
        for (const char *p = text; (p = strstr(p, wanted)); p++)
            have++;
        if (have >= n)
            return text;
        if (sw_monotonic_ms() - began > 20000)
            fail_msg("only got: %s", text);
    }
}

static void send_text(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void requests_in_a_row_are_answered_in_order(void **state)
{
    struct api *api = *state;
    int fd = dial(api);
    send_text(fd, "GET /version HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
                  "GET /nope HTTP/1.1\r\nHost: x\r\n\r\n");
    SW_AUTO_CHARS *text = read_until(api, fd, "404 page not found", 1);
    const char *version = strstr(text, "gitVersion"), *ok = strstr(text, "\r\n\r\nok");
    assert_non_null(version);
    assert_non_null(ok);
    assert_true(version < ok);
    close(fd);
}

static void the_next_request_may_come_during_a_watch(void **state)
{
    struct api *api = *state;
    int fd = dial(api);
    send_text(fd, "GET /api/v1/namespaces?watch=1&timeoutSeconds=1 HTTP/1.1\r\nHost: x\r\n\r\n"
                  "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    SW_AUTO_CHARS *text = read_until(api, fd, "\r\n\r\nok", 1);
    assert_non_null(strstr(text, "\"ADDED\""));
    close(fd);
}

static void old_clients_get_a_closed_connection(void **state)
{
    struct api *api = *state;
    int fd = dial(api);
    send_text(fd, "GET /healthz HTTP/1.0\r\n\r\n");
    SW_AUTO_CHARS *text = read_until(api, fd, "never", 1);
    assert_non_null(strstr(text, "Connection: close"));
    close(fd);
}

static void a_large_body_may_wait_for_its_leave(void **state)
{
    struct api *api = *state;
    int fd = dial(api);
    send_text(fd, "POST " CONFIG_MAPS " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                  "Content-Length: 25\r\n\r\n");
    SW_AUTO_CHARS *leave = read_until(api, fd, "100 Continue\r\n\r\n", 1);
    send_text(fd, "{\"metadata\":{\"name\":\"a\"}}");
    SW_AUTO_CHARS *text = read_until(api, fd, "201 Created", 1);
    close(fd);
}

static void too_much_is_refused(void **state)
{
    struct api *api = *state;
    size_t len = 3 * 1024 * 1024 + 1;
    char *body = sw_alloc(len + 1);
    memset(body, 'x', len);
    body[len] = '\0';
    ANSWER(a) = api_send(api, "POST", CONFIG_MAPS, NULL, body);
    free(body);
    assert_int_equal(a.code, 413);
    api_must(api, 200, "GET", CONFIG_MAPS, NULL, NULL);
}

static void head_has_no_body(void **state)
{
    struct api *api = *state;
    ANSWER(a) = api_send(api, "HEAD", "/api/v1/namespaces/default", NULL, NULL);
    assert_int_equal(a.code, 200);
    assert_int_equal(a.len, 0);
}

static int setup(void **state)
{
    *state = api_open();
    return 0;
}

static int teardown(void **state)
{
    api_close(*state);
    return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(requests_in_a_row_are_answered_in_order),
        T(the_next_request_may_come_during_a_watch),
        T(old_clients_get_a_closed_connection),
        T(a_large_body_may_wait_for_its_leave),
        T(too_much_is_refused),
        T(head_has_no_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
