#pragma once
/* An emulator and an HTTP client on one loop, for tests that speak to it as any client would. */
#include <assert.h>
#include <curl/curl.h>
#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "emulator/store/objects.h"

struct api {
    struct sw_loop *loop;
    struct sw_emulator *emu;
    struct sw_store *store;
    CURLM *multi;
};

/* What came back. */
struct answer {
    int code; /* 0: the connection broke */
    char *text;
    size_t len;
    json_object *doc; /* NULL: no JSON */
    char headers[4096];
};

static SW_UNUSED void answer_done(struct answer *a)
{
    free(SW_TAKE(a->text));
    json_object_put(SW_TAKE(a->doc));
}
#define ANSWER(name) __attribute__((cleanup(answer_done))) struct answer name

static SW_UNUSED struct api *api_open_with(const struct sw_emulator_opts *opts)
{
    struct api *api = sw_zalloc(1, sizeof *api);
    SW_ERR(err);
    api->loop = sw_loop_new(NULL);
    if (sw_emulator_open(api->loop, opts, &api->emu, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    api->store = sw_emulator_store(api->emu);
    api->multi = curl_multi_init();
    for (int i = 0; i < 20; i++) /* what a cluster does first */
        sw_loop_step(api->loop, 0);
    return api;
}

/* An API server without controllers and nodes: nothing changes but by the test. */
static SW_UNUSED struct api *api_open(void)
{
    return api_open_with(
        &(struct sw_emulator_opts){ .no_controllers = true, .no_nodes = true, .seed = 7 });
}

static SW_UNUSED void api_close(struct api *api)
{
    curl_multi_cleanup(api->multi);
    sw_emulator_close(api->emu);
    sw_loop_free(api->loop);
    free(api);
}

static SW_UNUSED size_t api_take(char *bytes, size_t size, size_t n, void *arg)
{
    struct answer *a = arg;
    a->text = sw_realloc(a->text, a->len + size * n + 1, 1);
    memcpy(a->text + a->len, bytes, size * n);
    a->len += size * n;
    a->text[a->len] = '\0';
    return size * n;
}

static SW_UNUSED size_t api_take_header(char *bytes, size_t size, size_t n, void *arg)
{
    struct answer *a = arg;
    size_t used = strlen(a->headers), len = size * n;
    if (used + len < sizeof a->headers)
        memcpy(a->headers + used, bytes, len);
    return len;
}

/* A request under way. */
struct call {
    struct api *api;
    CURL *easy;
    struct curl_slist *headers;
    char *body;
    struct answer answer;
};

/* @header: one more header line, or NULL. */
static SW_UNUSED struct call *api_begin(struct api *api, const char *method, const char *path,
                                        const char *type, const char *body, const char *header)
{
    struct call *c = sw_zalloc(1, sizeof *c);
    SW_AUTO_CHARS *url = sw_printf("%s%s", sw_emulator_url(api->emu), path);
    SW_AUTO_CHARS *content = sw_printf("Content-Type: %s", type ? type : "application/json");
    c->api = api;
    c->easy = curl_easy_init();
    c->body = body ? sw_strdup(body) : NULL;
    if (body)
        c->headers = curl_slist_append(c->headers, content);
    if (header)
        c->headers = curl_slist_append(c->headers, header);
    curl_easy_setopt(c->easy, CURLOPT_URL, url);
    curl_easy_setopt(c->easy, CURLOPT_CUSTOMREQUEST, method);
    if (strcmp(method, "HEAD") == 0)
        curl_easy_setopt(c->easy, CURLOPT_NOBODY, 1L);
    if (body) {
        curl_easy_setopt(c->easy, CURLOPT_POSTFIELDS, c->body);
        curl_easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE, (long)strlen(c->body));
    }
    curl_easy_setopt(c->easy, CURLOPT_USERAGENT, "tester/1.0");
    curl_easy_setopt(c->easy, CURLOPT_HTTPHEADER, c->headers);
    curl_easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, api_take);
    curl_easy_setopt(c->easy, CURLOPT_WRITEDATA, &c->answer);
    curl_easy_setopt(c->easy, CURLOPT_HEADERFUNCTION, api_take_header);
    curl_easy_setopt(c->easy, CURLOPT_HEADERDATA, &c->answer);
    curl_multi_add_handle(api->multi, c->easy);
    return c;
}

/* One turn of both sides. @return whether the call is over. */
static SW_UNUSED bool api_turn(struct call *c)
{
    int running;
    long code = 0;
    curl_multi_perform(c->api->multi, &running);
    sw_loop_step(c->api->loop, 0);
    curl_multi_perform(c->api->multi, &running);
    CURLMsg *m;
    bool over = false;
    while ((m = curl_multi_info_read(c->api->multi, &running)))
        if (m->msg == CURLMSG_DONE && m->easy_handle == c->easy) {
            over = true;
            curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &code);
            c->answer.code = m->data.result == CURLE_OK ? (int)code : 0;
        }
    return over;
}

/* The answer is the caller's; the call is over. */
static SW_UNUSED struct answer api_end(struct call *c)
{
    struct answer a = c->answer;
    curl_multi_remove_handle(c->api->multi, c->easy);
    curl_easy_cleanup(c->easy);
    curl_slist_free_all(c->headers);
    free(c->body);
    free(c);
    if (a.text && a.text[0] == '{')
        (void)!sw_json_parse(a.text, a.len, NULL, &a.doc, NULL);
    return a;
}

static SW_UNUSED struct answer api_finish(struct call *c)
{
    int64_t began = sw_monotonic_ms();
    while (!api_turn(c))
        if (sw_monotonic_ms() - began > 20000)
            fail_msg("no answer");
    return api_end(c);
}

static SW_UNUSED struct answer api_send(struct api *api, const char *method, const char *path,
                                        const char *type, const char *body)
{
    return api_finish(api_begin(api, method, path, type, body, NULL));
}

static SW_UNUSED struct answer api_get(struct api *api, const char *path)
{
    return api_send(api, "GET", path, NULL, NULL);
}

/* Requests that must end with @code; the document is the caller's. */
static SW_UNUSED json_object *api_expect(struct api *api, int code, const char *method,
                                         const char *path, const char *type, const char *body)
{
    struct answer a = api_send(api, method, path, type, body);
    if (a.code != code)
        fail_msg("%s %s: %d instead of %d: %s", method, path, a.code, code,
                 a.text ? a.text : "(nothing)");
    json_object *doc = SW_TAKE(a.doc);
    answer_done(&a);
    return doc;
}

static SW_UNUSED void api_must(struct api *api, int code, const char *method, const char *path,
                               const char *type, const char *body)
{
    json_object_put(api_expect(api, code, method, path, type, body));
}

/* Let the cluster's own controllers do what they do. */
static SW_UNUSED void api_settle(struct api *api)
{
    for (int i = 0; i < 20; i++)
        sw_loop_step(api->loop, 0);
}

/* Read up to a number of lines of a watch. */
static SW_UNUSED void api_lines(struct call *c, int n)
{
    int64_t began = sw_monotonic_ms();
    for (;;) {
        int have = 0;
        for (const char *p = c->answer.text; p && (p = strchr(p, '\n')); p++)
            have++;
        if (have >= n)
            return;
        if (api_turn(c))
            return;
        if (sw_monotonic_ms() - began > 20000)
            fail_msg("only %d lines of %d: %s", have, n, c->answer.text ? c->answer.text : "");
    }
}

/* Line @i of a watch as a document; the caller's, NULL: there is none. */
static SW_UNUSED json_object *api_event(struct call *c, int i)
{
    const char *p = c->answer.text;
    for (; p && i > 0; i--) {
        p = strchr(p, '\n');
        p = p ? p + 1 : NULL;
    }
    json_object *doc = NULL;
    const char *end = p ? strchr(p, '\n') : NULL;
    if (end)
        (void)!sw_json_parse(p, (size_t)(end - p), NULL, &doc, NULL);
    return doc;
}

#define JSON_PATCH "application/json-patch+json"
#define MERGE_PATCH "application/merge-patch+json"
#define STRATEGIC_PATCH "application/strategic-merge-patch+json"
#define APPLY_PATCH "application/apply-patch+yaml"
#define CONFIG_MAPS "/api/v1/namespaces/default/configmaps"

static SW_UNUSED const char *str(json_object *doc, const char *first, const char *second,
                                 const char *third)
{
    const char *keys[] = { first, second, third };
    size_t n = !second ? 1 : !third ? 2 : 3;
    json_object *value = sw_json_find_at(doc, keys, n);
    return value ? json_object_get_string(value) : "";
}
