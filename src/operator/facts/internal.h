#pragma once
/* The inside of struct sw_facts, for the files of this folder. */
#include "operator/facts/facts.h"

/** What values are made of besides nodes; NULL or "" where the cluster does not have it. All owned.
 */
struct cluster_facts {
    char *version; /* "4.10.3" */
    char *os_image_url;
    char *http_proxy, *https_proxy, *no_proxy, *trusted_ca;
    char *networks; /* of pods and services: CIDRs, comma separated */
    char *tls_type, *tls_min_version, *tls_ciphers; /* ciphers: comma separated */
    bool updating;                    /* its desired version is not the one that runs */
    struct json_object *toolkit_tags; /* tag of the driver-toolkit ImageStream -> image */
    struct json_object *toolkits;     /* image -> what is in it, see sw_facts_put_toolkit() */
};

/** A node that is in a group. */
struct member {
    char *name;
    struct sw_group *group; /* one of facts->groups */
};

/** See facts.h. */
struct sw_facts {
    size_t n, cap;
    struct member *nodes; /* by name; those whose kernel is known */
    size_t n_groups, groups_cap;
    struct sw_group **groups; /* by kernel, system, architecture */
    bool openshift;
    struct json_object *feature_gates; /* name -> boolean; NULL: none is known */
    struct cluster_facts cluster;
    char *own_proxy[3]; /* of sw_facts_set_proxy(): http, https, no */
};

/** Free what it owns; it is zero then. */
void cluster_facts_done(struct cluster_facts *c);

/** os_release's fields of a node, from the labels of Node Feature Discovery; NULL: not labelled. */
struct os_release {
    const char *id, *version_id, *ostree_version, *rhel_version;
};
/** The operating system by @release, else by the text of nodeInfo.osImage. @out: sw_os_done(). */
void os_detect(const struct os_release *release, const char *os_image, struct sw_os *out);

/** "22.04.3" -> "22.04", "12" -> "12"; heap. */
char *facts_major_minor(const char *version);

/** The toolkit for a group's kernel (toolkit.c): its image, "" for none; @info: what is known to be
 * in it, or NULL. Both borrowed. */
const char *toolkit_find(const struct sw_facts *facts, const struct sw_group *g,
                         struct json_object **info);

/** The group of @node, with one node more; added where it is the first. Borrowed; NULL while its
 * kernel is unknown. */
struct sw_group *group_join(struct sw_facts *facts, const struct sw_node *node);
/** One node less; without nodes the group is freed. @return whether it was */
bool group_leave(struct sw_facts *facts, struct sw_group *group);
void group_free(struct sw_group *group); /* takes it out of no list */
