#include "slicing/deviceplugin/messages.h"

#include <kubelet.pb-c.h>
#include <stdlib.h>
#include <string.h>

#include "slicing/deviceplugin/broker/journal.h"
#include "slicing/deviceplugin/deviceplugin.h"

enum { MAX_IDS = 4096 };

static struct dp_bytes pack(const ProtobufCMessage *m)
{
    struct dp_bytes out = { .len = protobuf_c_message_get_packed_size(m) };
    out.bytes = sw_alloc(out.len + 1);
    (void)protobuf_c_message_pack(m, out.bytes);
    return out;
}

static int bad(struct sw_err *err, const char *what)
{
    return sw_err_set(err, SW_INVALID, "the message is no %s", what);
}

/* ---- small ones --------------------------------------------------------------------------------
 */

struct dp_bytes dp_message_register(const char *endpoint, const char *resource, bool pre_start)
{
    char version[] = "v1beta1";
    SW_AUTO_CHARS *e = sw_strdup(endpoint), *r = sw_strdup(resource);
    Kubelet__Options options = KUBELET__OPTIONS__INIT;
    Kubelet__RegisterRequest m = KUBELET__REGISTER_REQUEST__INIT;
    options.pre_start_required = pre_start;
    options.get_preferred_allocation_available = true;
    m.version = version;
    m.endpoint = e;
    m.resource_name = r;
    m.options = &options;
    return pack(&m.base);
}

struct dp_bytes dp_message_options(bool pre_start)
{
    Kubelet__Options m = KUBELET__OPTIONS__INIT;
    m.pre_start_required = pre_start;
    m.get_preferred_allocation_available = true;
    return pack(&m.base);
}

struct dp_bytes dp_message_devices(const char *prefix, const bool *healthy, size_t n)
{
    static char well[] = "Healthy", ill[] = "Unhealthy";
    struct sw_arena *arena = sw_arena_new();
    Kubelet__DeviceList m = KUBELET__DEVICE_LIST__INIT;
    m.n_devices = n;
    m.devices = sw_arena_alloc(arena, (n + 1) * sizeof *m.devices);
    for (size_t i = 0; i < n; i++) {
        m.devices[i] = sw_arena_alloc(arena, sizeof **m.devices);
        *m.devices[i] = (Kubelet__Device)KUBELET__DEVICE__INIT;
        m.devices[i]->id = sw_arena_printf(arena, "%s-%zu", prefix, i);
        m.devices[i]->health = healthy[i] ? well : ill;
    }
    const struct dp_bytes out = pack(&m.base);
    sw_arena_free(arena);
    return out;
}

/* ---- device ids --------------------------------------------------------------------------------
 */

void dp_id_lists_free(struct dp_id_list *lists, size_t n)
{
    for (size_t i = 0; lists && i < n; i++) {
        for (size_t k = 0; k < lists[i].n; k++)
            free(lists[i].ids[k]);
        free(lists[i].ids);
    }
    free(lists);
}

static struct dp_id_list copy_ids(char *const *ids, size_t n)
{
    struct dp_id_list out = { sw_zalloc(n + 1, sizeof *out.ids), n };
    for (size_t i = 0; i < n; i++)
        out.ids[i] = sw_strdup(ids[i]);
    return out;
}

int dp_message_read_ids(const uint8_t *bytes, size_t len, struct dp_id_list **out, size_t *n,
                        struct sw_err *err)
{
    Kubelet__ContainerIds *m = kubelet__container_ids__unpack(NULL, len, bytes);
    if (!m)
        return bad(err, "AllocateRequest");
    *out = sw_zalloc(m->n_containers + 1, sizeof **out);
    *n = m->n_containers;
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = copy_ids(m->containers[i]->ids, m->containers[i]->n_ids);
    kubelet__container_ids__free_unpacked(m, NULL);
    return 0;
}

int dp_message_read_start(const uint8_t *bytes, size_t len, struct dp_id_list *out,
                          struct sw_err *err)
{
    Kubelet__DeviceIds *m = kubelet__device_ids__unpack(NULL, len, bytes);
    if (!m)
        return bad(err, "PreStartContainerRequest");
    *out = copy_ids(m->ids, m->n_ids);
    kubelet__device_ids__free_unpacked(m, NULL);
    return 0;
}

int dp_message_prefer(const uint8_t *bytes, size_t len, struct dp_bytes *out, struct sw_err *err)
{
    Kubelet__PreferredRequest *m = kubelet__preferred_request__unpack(NULL, len, bytes);
    if (!m)
        return bad(err, "PreferredAllocationRequest");
    struct sw_arena *arena = sw_arena_new();
    Kubelet__ContainerIds answer = KUBELET__CONTAINER_IDS__INIT;
    int rc = 0;
    answer.containers = sw_arena_alloc(arena, (m->n_containers + 1) * sizeof *answer.containers);
    for (size_t i = 0; i < m->n_containers && rc == 0; i++) {
        const Kubelet__PreferredContainer *c = m->containers[i];
        if (c->n_available > MAX_IDS || c->n_must_include > MAX_IDS)
            rc = sw_err_set(err, SW_INVALID, "more than %d devices", MAX_IDS);
        Kubelet__DeviceIds *ids = sw_arena_alloc(arena, sizeof *ids);
        *ids = (Kubelet__DeviceIds)KUBELET__DEVICE_IDS__INIT;
        ids->ids = sw_arena_alloc(arena,
                                  (c->n_available + c->n_must_include + 1) * sizeof *ids->ids);
        /* Slices are made where the claim says: all devices of a profile are alike. */
        const size_t size = rc == 0 && c->size > 0 ? (size_t)c->size : 0;
        for (size_t k = 0; k < c->n_must_include && ids->n_ids < size; k++)
            ids->ids[ids->n_ids++] = c->must_include[k];
        for (size_t k = 0; k < c->n_available && ids->n_ids < size; k++) {
            size_t same = 0;
            while (same < ids->n_ids && strcmp(ids->ids[same], c->available[k]) != 0)
                same++;
            if (same == ids->n_ids)
                ids->ids[ids->n_ids++] = c->available[k];
        }
        answer.containers[answer.n_containers++] = ids;
    }
    if (rc == 0)
        *out = pack(&answer.base);
    sw_arena_free(arena);
    kubelet__preferred_request__free_unpacked(m, NULL);
    return rc;
}

/* ---- AllocateResponse --------------------------------------------------------------------------
 */

static Kubelet__Pair *new_pair(struct sw_arena *arena, const char *key, char *value)
{
    Kubelet__Pair *p = sw_arena_alloc(arena, sizeof *p);
    *p = (Kubelet__Pair)KUBELET__PAIR__INIT;
    p->key = sw_arena_strdup(arena, key);
    p->value = sw_arena_strdup(arena, value);
    free(value);
    return p;
}

static Kubelet__ContainerAnswer *new_answer(struct sw_arena *arena, const struct dp_grant *g,
                                            const char *resource_text, unsigned device_list)
{
    Kubelet__ContainerAnswer *a = sw_arena_alloc(arena, sizeof *a);
    *a = (Kubelet__ContainerAnswer)KUBELET__CONTAINER_ANSWER__INIT;
    if (device_list & SW_DEVICES_ENVVAR) {
        a->envs = sw_arena_alloc(arena, 2 * sizeof(void *));
        a->envs[a->n_envs++] = new_pair(arena, "NVIDIA_VISIBLE_DEVICES", dp_visible_devices(g));
        a->envs[a->n_envs++] = new_pair(arena, "CUDA_VISIBLE_DEVICES", dp_cuda_devices(g));
    }
    if (device_list & SW_DEVICES_CDI_ANNOTATIONS) {
        /* one key for each resource: kubelet puts the answers of all of them together */
        const char *key = sw_arena_printf(arena, "cdi.k8s.io/mig.das.com_%s", resource_text);
        a->annotations = sw_arena_alloc(arena, sizeof(void *));
        a->annotations[a->n_annotations++] = new_pair(arena, key, dp_cdi_device(g));
    }
    if (device_list & SW_DEVICES_CDI_CRI) {
        SW_AUTO_CHARS *name = dp_cdi_device(g);
        Kubelet__CdiDevice *d = sw_arena_alloc(arena, sizeof *d);
        *d = (Kubelet__CdiDevice)KUBELET__CDI_DEVICE__INIT;
        d->name = sw_arena_strdup(arena, name);
        a->cdi_devices = sw_arena_alloc(arena, sizeof(void *));
        a->cdi_devices[a->n_cdi_devices++] = d;
    }
    return a;
}

struct dp_bytes dp_message_allocated(struct dp_grant *const *grants, const char *resource_text,
                                     size_t n, unsigned device_list)
{
    struct sw_arena *arena = sw_arena_new();
    Kubelet__AllocateAnswer m = KUBELET__ALLOCATE_ANSWER__INIT;
    m.containers = sw_arena_alloc(arena, (n + 1) * sizeof *m.containers);
    for (size_t i = 0; i < n; i++)
        m.containers[m.n_containers++] = new_answer(arena, grants[i], resource_text, device_list);
    const struct dp_bytes out = pack(&m.base);
    sw_arena_free(arena);
    return out;
}

/* ---- PodResources ------------------------------------------------------------------------------
 */

void dp_held_free(struct dp_held *held, size_t n)
{
    for (size_t i = 0; held && i < n; i++) {
        free(held[i].ns);
        free(held[i].pod);
        free(held[i].container);
        for (size_t k = 0; k < held[i].n_ids; k++)
            free(held[i].ids[k]);
        free(held[i].ids);
    }
    free(held);
}

static bool read_line(const Kubelet__HeldPod *pod, const Kubelet__HeldContainer *c,
                      const Kubelet__HeldDevices *d, struct dp_held *out)
{
    struct sw_mig_profile p;
    enum sw_mig_owner owner;
    if (sw_mig_resource_parse(d->resource_name, strlen(d->resource_name), &p, &owner, NULL) < 0 ||
        owner != SW_MIG_DAS || d->n_ids == 0)
        return false;
    const struct dp_id_list ids = copy_ids(d->ids, d->n_ids);
    *out = (struct dp_held){
        sw_strdup(pod->ns), sw_strdup(pod->name), sw_strdup(c->name), "", ids.ids, ids.n
    };
    (void)sw_mig_profile_text(&p, out->profile);
    return true;
}

/* kubelet may list a container's devices one by one (with topology): they belong together. */
static bool join_line(struct dp_held *all, size_t n, struct dp_held *line)
{
    for (size_t i = 0; i < n; i++) {
        struct dp_held *h = &all[i];
        if (!sw_streq(h->ns, line->ns) || !sw_streq(h->pod, line->pod) ||
            !sw_streq(h->container, line->container) || strcmp(h->profile, line->profile) != 0)
            continue;
        h->ids = sw_realloc(h->ids, h->n_ids + line->n_ids + 1, sizeof *h->ids);
        for (size_t k = 0; k < line->n_ids; k++)
            h->ids[h->n_ids++] = line->ids[k];
        line->n_ids = 0;
        return true;
    }
    return false;
}

int dp_message_read_held(const uint8_t *bytes, size_t len, struct dp_held **out, size_t *n,
                         struct sw_err *err)
{
    Kubelet__HeldList *m = kubelet__held_list__unpack(NULL, len, bytes);
    if (!m)
        return bad(err, "ListPodResourcesResponse");
    size_t cap = 0;
    *out = NULL;
    *n = 0;
    for (size_t p = 0; p < m->n_pods; p++)
        for (size_t c = 0; c < m->pods[p]->n_containers; c++)
            for (size_t d = 0; d < m->pods[p]->containers[c]->n_devices; d++) {
                const Kubelet__HeldContainer *its = m->pods[p]->containers[c];
                struct dp_held *line = sw_zalloc(1, sizeof *line);
                if (read_line(m->pods[p], its, its->devices[d], line) &&
                    !join_line(*out, *n, line)) {
                    SW_GROW(*out, *n, cap);
                    (*out)[(*n)++] = *line;
                    free(line);
                } else {
                    dp_held_free(line, 1);
                }
            }
    kubelet__held_list__free_unpacked(m, NULL);
    return 0;
}
