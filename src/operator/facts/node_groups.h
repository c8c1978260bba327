#pragma once
/* The inside of struct sw_facts, for the files of this folder. */
#include "operator/facts/facts.h"

/* What values are made of besides nodes; NULL or "" where the cluster does not say. */
struct cluster_facts {
    char *version; /* "4.10.3" */
    char *os_image_url;
    char *http_proxy, *https_proxy, *no_proxy, *trusted_ca;
    char *networks; /* of pods and services: CIDRs, comma separated */
    char *tls_type, *tls_min_version, *tls_ciphers; /* ciphers: comma separated */
    bool updating;                    /* another version is wanted than the one that runs */
    struct json_object *toolkit_tags; /* tag of the driver-toolkit ImageStream -> image */
    struct json_object *toolkits;     /* image -> what is in it, see sw_facts_put_toolkit() */
};

struct member {
    char *name;
    struct sw_group *group; /* one of facts->groups */
};

struct sw_facts {
    size_t n, cap;
    struct member *nodes; /* by name; those whose kernel is known */
    size_t n_groups, groups_cap;
    struct sw_group **groups; /* by kernel, system, architecture */
    bool openshift;
    struct cluster_facts cluster;
    char *own_proxy[3]; /* what the process itself was given: http, https, no */
};

void cluster_facts_done(struct cluster_facts *c);

/* The toolkit for a group's kernel (toolkit.c): its image, "" for none; @info: what is known to be
 * in it, or NULL. Both borrowed. */
const char *toolkit_find(const struct sw_facts *facts, const struct sw_group *g,
                         struct json_object **info);

/* The group that @node belongs to, made where it is the first; NULL while its kernel is unknown. */
struct sw_group *group_join(struct sw_facts *facts, const struct sw_node *node);
/* One node less; the last one takes the group with it. @return whether it did */
bool group_leave(struct sw_facts *facts, struct sw_group *group);
void group_free(struct sw_group *group);
