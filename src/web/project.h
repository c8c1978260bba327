#pragma once
/* project: what the page shows of an object, as a small document. No I/O. Internal to web. */
struct json_object;

/** Each returns a document of the caller's; NULL: the object is not shown. */
typedef struct json_object *web_project_fn(struct json_object *object);
web_project_fn web_project_resource, web_project_node, web_project_pod, web_project_event,
    web_project_accelerator;
