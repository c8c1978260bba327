#include "slicing/deviceplugin/dra_messages.h"

#include <ctype.h>
#include <dra.pb-c.h>
#include <stdlib.h>
#include <string.h>

#include "slicing/deviceplugin/broker/journal.h"
#include "slicing/dra/dra.h"

enum { MAX_CLAIMS = 1024, MAX_NAME = 253 };

static struct dp_bytes pack(const ProtobufCMessage *m)
{
    struct dp_bytes out = { .len = protobuf_c_message_get_packed_size(m) };
    out.bytes = sw_alloc(out.len + 1);
    (void)protobuf_c_message_pack(m, out.bytes);
    return out;
}

/* ---- registration ------------------------------------------------------------------------------
 */

struct dp_bytes dp_dra_info(const char *endpoint)
{
    /* from Kubernetes 1.34 on, and before */
    char type[] = "DRAPlugin", name[] = SW_DRA_DRIVER;
    char v1[] = "v1.DRAPlugin", v1beta1[] = "v1beta1.DRAPlugin";
    char *versions[] = { v1, v1beta1 };
    SW_AUTO_CHARS *at = sw_strdup(endpoint);
    Dra__PluginInfo m = DRA__PLUGIN_INFO__INIT;
    m.type = type;
    m.name = name;
    m.endpoint = at;
    m.supported_versions = versions;
    m.n_supported_versions = SW_COUNT(versions);
    return pack(&m.base);
}

int dp_dra_read_status(const uint8_t *bytes, size_t len, char **trouble, struct sw_err *err)
{
    Dra__RegistrationStatus *m = dra__registration_status__unpack(NULL, len, bytes);
    if (!m)
        return sw_err_set(err, SW_INVALID, "the message is no RegistrationStatus");
    *trouble = sw_strdup(m->plugin_registered ? "" : sw_text_or(m->error, "no reason given"));
    dra__registration_status__free_unpacked(m, NULL);
    return 0;
}

/* ---- claims ------------------------------------------------------------------------------------
 */

/* A UID becomes a part of paths, the names parts of URLs. */
static bool is_name(const char *text)
{
    const size_t len = strlen(text);
    bool ok = len > 0 && len <= MAX_NAME && text[0] != '.';
    for (const char *c = text; *c && ok; c++)
        ok = isalnum((unsigned char)*c) || *c == '-' || *c == '.';
    return ok;
}

void dp_refs_free(struct dp_ref *refs, size_t n)
{
    for (size_t i = 0; refs && i < n; i++) {
        free(refs[i].ns);
        free(refs[i].name);
        free(refs[i].uid);
    }
    free(refs);
}

int dp_dra_read_claims(const uint8_t *bytes, size_t len, struct dp_ref **out, size_t *n,
                       struct sw_err *err)
{
    Dra__ClaimList *m = dra__claim_list__unpack(NULL, len, bytes);
    if (!m)
        return sw_err_set(err, SW_INVALID, "the message is no list of claims");
    int rc = m->n_claims > MAX_CLAIMS
                 ? sw_err_set(err, SW_INVALID, "more than %d claims", MAX_CLAIMS)
                 : 0;
    for (size_t i = 0; rc == 0 && i < m->n_claims; i++) {
        const Dra__Claim *c = m->claims[i];
        if (!is_name(c->ns) || !is_name(c->name) || !is_name(c->uid))
            rc = sw_err_set(err, SW_INVALID, "claims[%zu]: expected namespace, name and UID", i);
    }
    if (rc == 0) {
        *n = m->n_claims;
        *out = sw_zalloc(*n + 1, sizeof **out);
        for (size_t i = 0; i < *n; i++)
            (*out)[i] = (struct dp_ref){ sw_strdup(m->claims[i]->ns), sw_strdup(m->claims[i]->name),
                                         sw_strdup(m->claims[i]->uid) };
    }
    dra__claim_list__free_unpacked(m, NULL);
    return rc;
}

static Dra__Device *new_device(struct sw_arena *arena, const char *request, const char *pool,
                               const char *name)
{
    Dra__Device *d = sw_arena_alloc(arena, sizeof *d);
    *d = (Dra__Device)DRA__DEVICE__INIT;
    d->request_names = sw_arena_alloc(arena, sizeof(char *));
    d->request_names[d->n_request_names++] = sw_arena_strdup(arena, request);
    d->pool_name = sw_arena_strdup(arena, pool);
    d->device_name = sw_arena_strdup(arena, name);
    d->cdi_device_ids = sw_arena_alloc(arena, sizeof(char *));
    return d;
}

static void add_cdi(struct sw_arena *arena, Dra__Device *d, const struct dp_grant *g,
                    const char *group)
{
    SW_AUTO_CHARS *id = dp_cdi_group(g, group);
    d->cdi_device_ids[d->n_cdi_device_ids++] = sw_arena_strdup(arena, id);
}

/* The devices of @g. A container that names a request gets the CDI device of its group. One that
 * names the claim alone gets those of all groups, of which the runtime keeps the last one's
 * environment: so an entry that no request's name leads to comes last, for all of them. */
static Dra__Prepared *new_prepared(struct sw_arena *arena, const struct dp_grant *g,
                                   const char *pool)
{
    Dra__Prepared *p = sw_arena_alloc(arena, sizeof *p);
    *p = (Dra__Prepared)DRA__PREPARED__INIT;
    p->devices = sw_arena_alloc(arena, (g->n_devices + 1) * sizeof *p->devices);
    for (size_t i = 0; i < g->n_devices; i++) {
        const struct dp_device *d = &g->devices[i];
        p->devices[p->n_devices] = new_device(arena, d->request, pool, d->name);
        if (dp_device_leads(g, i))
            add_cdi(arena, p->devices[p->n_devices], g, d->group);
        p->n_devices++;
    }
    if (dp_grant_n_groups(g) > 1) {
        p->devices[p->n_devices] = new_device(arena, "*", pool, g->devices[0].name);
        add_cdi(arena, p->devices[p->n_devices], g, NULL);
        p->n_devices++;
    }
    return p;
}

struct dp_bytes dp_dra_prepared(const struct dp_dra_answer *answers, size_t n, const char *pool)
{
    struct sw_arena *arena = sw_arena_new();
    Dra__PreparedMap m = DRA__PREPARED_MAP__INIT;
    m.claims = sw_arena_alloc(arena, (n + 1) * sizeof *m.claims);
    for (size_t i = 0; i < n; i++) {
        Dra__PreparedEntry *e = sw_arena_alloc(arena, sizeof *e);
        *e = (Dra__PreparedEntry)DRA__PREPARED_ENTRY__INIT;
        e->uid = sw_arena_strdup(arena, answers[i].uid);
        if (answers[i].grant) {
            e->claim = new_prepared(arena, answers[i].grant, pool);
        } else {
            e->claim = sw_arena_alloc(arena, sizeof *e->claim);
            *e->claim = (Dra__Prepared)DRA__PREPARED__INIT;
            e->claim->error = sw_arena_strdup(arena, sw_text_or(answers[i].error, "not prepared"));
        }
        m.claims[m.n_claims++] = e;
    }
    const struct dp_bytes out = pack(&m.base);
    sw_arena_free(arena);
    return out;
}

struct dp_bytes dp_dra_unprepared(const struct dp_dra_answer *answers, size_t n)
{
    struct sw_arena *arena = sw_arena_new();
    Dra__UnpreparedMap m = DRA__UNPREPARED_MAP__INIT;
    m.claims = sw_arena_alloc(arena, (n + 1) * sizeof *m.claims);
    for (size_t i = 0; i < n; i++) {
        Dra__UnpreparedEntry *e = sw_arena_alloc(arena, sizeof *e);
        *e = (Dra__UnpreparedEntry)DRA__UNPREPARED_ENTRY__INIT;
        e->uid = sw_arena_strdup(arena, answers[i].uid);
        e->claim = sw_arena_alloc(arena, sizeof *e->claim);
        *e->claim = (Dra__Unprepared)DRA__UNPREPARED__INIT;
        if (answers[i].error)
            e->claim->error = sw_arena_strdup(arena, answers[i].error);
        m.claims[m.n_claims++] = e;
    }
    const struct dp_bytes out = pack(&m.base);
    sw_arena_free(arena);
    return out;
}

/* ---- health ------------------------------------------------------------------------------------
 */

struct dp_bytes dp_dra_health(const struct dp_dra_health *devices, size_t n, const char *pool,
                              int64_t at_s, int64_t timeout_s)
{
    enum { HEALTHY = 1, UNHEALTHY = 2 }; /* HealthStatus */
    struct sw_arena *arena = sw_arena_new();
    Dra__DeviceHealthList m = DRA__DEVICE_HEALTH_LIST__INIT;
    m.devices = sw_arena_alloc(arena, (n + 1) * sizeof *m.devices);
    for (size_t i = 0; i < n; i++) {
        Dra__DeviceHealth *h = sw_arena_alloc(arena, sizeof *h);
        *h = (Dra__DeviceHealth)DRA__DEVICE_HEALTH__INIT;
        h->device = sw_arena_alloc(arena, sizeof *h->device);
        *h->device = (Dra__DeviceIdentifier)DRA__DEVICE_IDENTIFIER__INIT;
        h->device->pool_name = sw_arena_strdup(arena, pool);
        h->device->device_name = sw_arena_strdup(arena, devices[i].device);
        h->health = devices[i].healthy ? HEALTHY : UNHEALTHY;
        h->last_updated_time = at_s;
        h->health_check_timeout_seconds = timeout_s;
        if (devices[i].message)
            h->message = sw_arena_strdup(arena, devices[i].message);
        m.devices[m.n_devices++] = h;
    }
    const struct dp_bytes out = pack(&m.base);
    sw_arena_free(arena);
    return out;
}
