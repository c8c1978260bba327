/* http: buffers of transfers that share an HTTP/2 connection have one size; libcurl before 8.1
 * wrote behind the end of a smaller one. What libcurl is told is looked at, since that overflow
 * needs a real API server and luck to be seen. */
#include "net/http/library.h"

#include "base/base.h"
#include "base/loop.h"
#include "net/http/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static __typeof__(sw_curl.curl_easy_setopt_) real_setopt;
static long buffer_bytes;

/* All that slipway sets fits a pointer's width: numbers (long, curl_off_t), pointers, functions. */
static CURLcode note_option(CURL *easy, CURLoption option, ...)
{
    va_list ap;
    va_start(ap, option);
    void *value = va_arg(ap, void *);
    va_end(ap);
    if (option == CURLOPT_BUFFERSIZE)
        buffer_bytes = (long)(intptr_t)value;
    return real_setopt(easy, option, value);
}

static void on_done(const struct sw_http_result *r SW_UNUSED, void *arg SW_UNUSED)
{
}

/* @return what libcurl was told, 0: its own size. Nothing is sent: the loop does not run. */
static long size_told(const char *url)
{
    struct sw_loop *loop = sw_loop_new(NULL);
    struct sw_http *http = sw_http_new(loop, &(struct sw_http_opts){ 0 });
    real_setopt = sw_curl.curl_easy_setopt_;
    sw_curl.curl_easy_setopt_ = note_option;
    buffer_bytes = 0;
    (void)sw_http_start(
        http, &(struct sw_http_spec){
                  .method = "GET", .url = url, .buffer_bytes = 8192, .on_done = on_done });
    sw_curl.curl_easy_setopt_ = real_setopt;
    sw_http_free(http);
    sw_loop_free(loop);
    return buffer_bytes;
}

static void transfers_that_may_share_a_connection_have_buffers_of_one_size(void **state)
{
    (void)state;
    assert_int_equal(size_told("https://127.0.0.1:1/"), 0);
}

static void a_transfer_alone_on_its_connection_has_the_buffer_asked_for(void **state)
{
    (void)state;
    assert_int_equal(size_told("http://127.0.0.1:1/"), 8192);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_that_may_share_a_connection_have_buffers_of_one_size),
        cmocka_unit_test(a_transfer_alone_on_its_connection_has_the_buffer_asked_for),
    };
    return cmocka_run_group_tests_name("http_buffer", tests, NULL, NULL);
}
