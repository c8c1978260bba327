#pragma once
/* The inside of struct sw_facts, for the files of this folder. */
#include "facts/facts.h"

/* What values are made of besides nodes; "" where the cluster does not say. */
struct cluster_facts {
    char *version; /* "4.10.3" */
    char *os_image_url;
    char *http_proxy, *https_proxy, *no_proxy, *trusted_ca;
    struct json_object *toolkit_tags; /* tag of the driver-toolkit ImageStream -> image */
};

struct sw_facts {
    size_t n, cap;
    struct sw_node **nodes; /* by name */
    bool openshift;
    struct cluster_facts cluster;
};

void cluster_facts_done(struct cluster_facts *c);
