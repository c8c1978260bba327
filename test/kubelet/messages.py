"""kubelet's messages, made of descriptors by hand: no generated code, and not the plugin's own
.proto either, so that a wrong field number on one side shows."""
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

F = descriptor_pb2.FieldDescriptorProto
TYPES = {"s": F.TYPE_STRING, "b": F.TYPE_BOOL, "i": F.TYPE_INT32, "l": F.TYPE_INT64}


def build(package, messages):
    """messages: {name: "field number type, ..."}; type: s b i l, a message's name; * repeated;
    % a map of strings."""
    file = descriptor_pb2.FileDescriptorProto(name=package + ".proto", package=package, syntax="proto3")
    for name, fields in messages.items():
        m = file.message_type.add(name=name)
        for text in filter(None, (f.strip() for f in fields.split(","))):
            field, number, kind = text.split()
            repeated = kind.endswith("*") or kind == "%"
            kind = kind.rstrip("*")
            f = m.field.add(name=field, number=int(number),
                            label=F.LABEL_REPEATED if repeated else F.LABEL_OPTIONAL)
            if kind == "%":
                entry = m.nested_type.add(name=field.title().replace("_", "") + "Entry")
                entry.options.map_entry = True
                entry.field.add(name="key", number=1, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
                entry.field.add(name="value", number=2, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
                f.type, f.type_name = F.TYPE_MESSAGE, ".%s.%s.%s" % (package, name, entry.name)
            elif kind in TYPES:
                f.type = TYPES[kind]
            else:
                f.type, f.type_name = F.TYPE_MESSAGE, ".%s.%s" % (package, kind)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    out = type("Messages", (), {})
    for name in messages:
        setattr(out, name, message_class(pool.FindMessageTypeByName(package + "." + name)))
    return out


def message_class(descriptor):
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory().GetPrototype(descriptor)


V1BETA1 = build("v1beta1", {
    "Empty": "",
    "DevicePluginOptions": "pre_start_required 1 b, get_preferred_allocation_available 2 b",
    "RegisterRequest": "version 1 s, endpoint 2 s, resource_name 3 s, options 4 DevicePluginOptions",
    "NUMANode": "ID 1 l",
    "TopologyInfo": "nodes 1 NUMANode*",
    "Device": "ID 1 s, health 2 s, topology 3 TopologyInfo",
    "ListAndWatchResponse": "devices 1 Device*",
    "ContainerPreferredAllocationRequest":
        "available_deviceIDs 1 s*, must_include_deviceIDs 2 s*, allocation_size 3 i",
    "PreferredAllocationRequest": "container_requests 1 ContainerPreferredAllocationRequest*",
    "ContainerPreferredAllocationResponse": "deviceIDs 1 s*",
    "PreferredAllocationResponse": "container_responses 1 ContainerPreferredAllocationResponse*",
    "ContainerAllocateRequest": "devicesIDs 1 s*",
    "AllocateRequest": "container_requests 1 ContainerAllocateRequest*",
    "CDIDevice": "name 1 s",
    "Mount": "container_path 1 s, host_path 2 s, read_only 3 b",
    "DeviceSpec": "container_path 1 s, host_path 2 s, permissions 3 s",
    "ContainerAllocateResponse":
        "envs 1 %, mounts 2 Mount*, devices 3 DeviceSpec*, annotations 4 %, cdi_devices 5 CDIDevice*",
    "AllocateResponse": "container_responses 1 ContainerAllocateResponse*",
    "PreStartContainerRequest": "devicesIDs 1 s*",
    "PreStartContainerResponse": "",
})

REGISTRATION = build("pluginregistration", {
    "InfoRequest": "",
    "PluginInfo": "type 1 s, name 2 s, endpoint 3 s, supported_versions 4 s*",
    "RegistrationStatus": "plugin_registered 1 b, error 2 s",
    "RegistrationStatusResponse": "",
})

# maps: entries are told apart by their keys in the tests
DRA = build("k8s.io.kubelet.pkg.apis.dra.v1", {
    "Claim": "namespace 1 s, uid 2 s, name 3 s",
    "NodePrepareResourcesRequest": "claims 1 Claim*",
    "Device": "request_names 1 s*, pool_name 2 s, device_name 3 s, cdi_device_ids 4 s*, share_id 5 s",
    "NodePrepareResourceResponse": "devices 1 Device*, error 2 s",
    "PrepareEntry": "key 1 s, value 2 NodePrepareResourceResponse",
    "NodePrepareResourcesResponse": "claims 1 PrepareEntry*",
    "NodeUnprepareResourcesRequest": "claims 1 Claim*",
    "NodeUnprepareResourceResponse": "error 1 s",
    "UnprepareEntry": "key 1 s, value 2 NodeUnprepareResourceResponse",
    "NodeUnprepareResourcesResponse": "claims 1 UnprepareEntry*",
})

HEALTH = build("v1alpha1", {
    "NodeWatchResourcesRequest": "",
    "DeviceIdentifier": "pool_name 1 s, device_name 2 s",
    "DeviceHealth": "device 1 DeviceIdentifier, health 2 i, last_updated_time 3 l, "
                    "health_check_timeout_seconds 4 l, message 5 s",
    "NodeWatchResourcesResponse": "devices 1 DeviceHealth*",
})

HELD = build("v1", {
    "ListPodResourcesRequest": "",
    "NUMANode": "ID 1 l",
    "TopologyInfo": "nodes 1 NUMANode*",
    "ContainerDevices": "resource_name 1 s, device_ids 2 s*, topology 3 TopologyInfo",
    "ContainerResources": "name 1 s, devices 2 ContainerDevices*, cpu_ids 3 l*",
    "PodResources": "name 1 s, namespace 2 s, containers 3 ContainerResources*",
    "ListPodResourcesResponse": "pod_resources 1 PodResources*",
})
