/* What a body takes once it is read: some 700 bytes an object, 70 any other value. Of 2.9 MB of
 * "[{},{},...]" come 700 MB. */
#include <string.h>
#include <strings.h>

#include "emulator/api/request.h"

enum {
    CHEAP_BYTES = 16 * 1024,
    MAX_YAML_BYTES = 256 * 1024, /* 20 ms; JSON that is called YAML is no YAML here */
    CONTAINER_COST = 700,
    VALUE_COST = 70,
    /* The largest definition of all the charts that were looked at, 1.3 MB, takes 13 MB. */
    MAX_COST = 16 << 20,
};

/* @return behind the string that begins at @at */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

static bool is_costly_json(const char *at, const char *end)
{
    size_t cost = 0;
    while (at < end && cost <= MAX_COST) {
        cost += *at == '{' || *at == '[' ? CONTAINER_COST : *at == ',' ? VALUE_COST : 0;
        at = *at == '"' ? skip_string(at, end) : at + 1;
    }
    return cost > MAX_COST;
}

bool sw_req_is_costly(const struct sw_req *req)
{
    const char *body = req->body, *type = req->info.content_type;
    if (req->body_len <= CHEAP_BYTES)
        return false;
    const bool is_yaml = type && strcasestr(type, "yaml") && body[strspn(body, " \t\r\n")] != '{';
    return is_yaml ? req->body_len > MAX_YAML_BYTES : is_costly_json(body, body + req->body_len);
}
