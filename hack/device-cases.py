#!/usr/bin/env python3
"""Cases for the emulator's allocator of devices (src/kube/allocator).

    hack/device-cases.py make SEED N             cases, a line of JSON each
    hack/device-cases.py ask URL [TOKEN] < cases   the same with the answers of the kube-scheduler
                                                   that works for the API server at URL, on loopback
A case: slices, classes, claims, and pods that come one after the other, each bound to one node.
The answer of a pod is what its claims were allocated, or the scheduler's words."""
import http.client, json, random, ssl, sys, time, urllib.parse

R = random.Random()
NODES = ["n1", "n2", "n3"]
API = "resource.k8s.io/v1"


def some(p):
    return R.random() < p


def counters(values):
    return {k: {"value": str(v)} for k, v in values.items()}


def slice_of(name, driver, pool, place, generation=1, count=1, **rest):
    spec = {"driver": driver, "pool": {"name": pool, "generation": generation, "resourceSliceCount": count}}
    spec.update(place)
    spec.update(rest)
    return {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}


def taints():
    return [{"key": R.choice(["hot", "held"]), "value": R.choice(["", "x"]),
             "effect": R.choice(["NoSchedule", "NoExecute", "NoSchedule", "None"])}]


def attributes(i, kind):
    a = {"type": {"string": kind}, "index": {"int": i}, "numa": {"int": R.randrange(2)},
         "fast": {"bool": some(.5)}, "version": {"version": R.choice(["1.0.0", "1.10.0", "2.0.0-rc.1"])}}
    if some(.8):
        a["resource.kubernetes.io/pcieRoot"] = {"string": "pci0000:%02d" % R.randrange(3)}
    if some(.1):
        del a["numa"]
    return a


def partitioned(node, driver, width):
    """GPUs of which each has devices for all places of all profiles, and counters of what they cover."""
    sets, devices = [], []
    for g in range(R.randint(1, 3)):
        values = {"memory-%d" % m: 1 for m in range(width)}
        values["compute"] = width - 1
        sets.append({"name": "gpu-%d" % g, "counters": counters(values)})
        profiles = [(1, 1, range(width - 1)), (2, 2, range(0, width - 1, 2)), (width - 1, width, [0])]
        if width == 8:
            profiles += [(3, 4, [0, 4]), (4, 4, [0])]
        R.shuffle(profiles)
        root = {"string": "pci0000:%02d" % g}
        for compute, size, starts in profiles:
            starts = list(starts)
            if some(.3):
                starts.reverse()
            for start in starts:
                if start + size > width:
                    continue
                takes = {"memory-%d" % m: 1 for m in range(start, start + size)}
                takes["compute"] = compute
                d = {"name": "gpu-%d-mig-%dg-%d" % (g, compute, start),
                     "attributes": {"type": {"string": "mig"}, "profile": {"string": "%dg" % compute},
                                    "parent": {"string": "gpu-%d" % g}, "numa": {"int": g % 2},
                                    "resource.kubernetes.io/pcieRoot": root},
                     "capacity": {"memory": {"value": "%dGi" % (5 * size)}},
                     "consumesCounters": [{"counterSet": "gpu-%d" % g, "counters": counters(takes)}]}
                if some(.04):
                    d["taints"] = taints()
                devices.append(d)
    if some(.03):
        devices[0]["consumesCounters"][0]["counterSet"] = "none"
    cut = [devices[i:i + 24] for i in range(0, len(devices), 24)]
    n = len(cut) + 1
    place = {"nodeName": node}
    out = [slice_of("%s-%s-0" % (driver, node), driver, node, place, 1, n, sharedCounters=sets)]
    for i, part in enumerate(cut):
        out.append(slice_of("%s-%s-%d" % (driver, node, i + 1), driver, node, place, 1, n, devices=part))
    return out


def plain(node, driver, shares):
    devices = []
    for i in range(R.randint(2, 7)):
        d = {"name": "dev-%d" % i, "attributes": attributes(i, R.choice(["gpu", "nic"])),
             "capacity": {"memory": {"value": R.choice(["10Gi", "20Gi", "40Gi"])}}}
        if shares and some(.7):
            d["allowMultipleAllocations"] = True
            if some(.6):
                d["capacity"]["memory"]["requestPolicy"] = R.choice([
                    {"default": "5Gi", "validValues": ["5Gi", "10Gi"]},
                    {"default": "2Gi", "validRange": {"min": "2Gi", "max": "8Gi", "step": "2Gi"}},
                    {"default": "1Gi", "validRange": {"min": "1Gi"}}])
        if some(.12):
            d["taints"] = taints()
        devices.append(d)
    if some(.1):
        devices[-1]["bindingConditions"] = ["ready"]
        devices[-1]["bindingFailureConditions"] = ["broken"]
        devices[-1]["bindsToNode"] = some(.5)
    R.shuffle(devices)
    kind = R.random()
    place, pool = {"nodeName": node}, node
    if kind < .12:
        place, pool = {"allNodes": True}, "all"
    elif kind < .24:
        place, pool = {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "zone", "operator": "In", "values": [R.choice("ab")]}]}]}}, "zone-" + node
    elif kind < .36:
        place, pool = {"perDeviceNodeSelection": True}, "each"
        for d in devices:
            d.update(R.choice([{"nodeName": R.choice(NODES)}, {"allNodes": True}]))
    name = "%s-%s" % (driver, pool)
    half = len(devices) // 2 if some(.3) else 0
    generation = R.choice([1, 1, 3])
    n = 2 if half else 1
    count = n + (1 if some(.05) else 0)
    if some(.03):
        devices[-1]["name"] = devices[0]["name"]
        if not half:
            half, n, count = 1, 2, 2
    out = [slice_of(name + "-b", driver, pool, place, generation, count, devices=devices[half:])]
    if half:
        out.append(slice_of(name + "-a", driver, pool, place, generation, count, devices=devices[:half]))
    if some(.08):
        out.append(slice_of(name + "-old", driver, pool, place, generation - 1, 1,
                            devices=[dict({"name": "old-0", "attributes": attributes(9, "gpu")},
                                          **({"allNodes": True} if pool == "each" else {}))]))
    return out


def selectors(driver):
    d = 'device.attributes["%s"]' % driver
    c = 'device.capacity["%s"]' % driver
    return [{"cel": {"expression": R.choice([
        'device.driver == "%s"' % driver,
        '"numa" in %s && %s.numa == %d' % (d, d, R.randrange(2)),
        'device.driver == "%s" && %s.type == "gpu"' % (driver, d),
        '%s.memory.compareTo(quantity("20Gi")) >= 0' % c,
        '%s.memory.isGreaterThan(quantity("%dGi"))' % (c, R.choice([5, 10, 15])),
        'has(%s.version) && %s.version.isGreaterThan(semver("1.2.0"))' % (d, d),
        'has(%s.fast) && %s.fast' % (d, d),
        '!has(%s.fast) || !(%s.index in [0, 2])' % (d, d),
        'has(%s.type) && %s.type.startsWith("g")' % (d, d),
        'device.attributes["other.example"].?x.orValue(1) == 1',
        'device.allowMultipleAllocations || device.driver == "%s"' % driver,
    ])}}]


def classes(drivers):
    out = []
    for driver, kind in drivers:
        base = {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": driver},
                "spec": {"selectors": [{"cel": {"expression": 'device.driver == "%s"' % driver}}]}}
        if some(.3):
            base["spec"]["config"] = [{"opaque": {"driver": driver, "parameters": {"of": "class"}}}]
        out.append(base)
        if kind == "mig":
            for p in ("1g", "2g", "3g", "4g", "7g"):
                out.append({"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": "%s.%s" % (p, driver)},
                            "spec": {"selectors": [{"cel": {"expression":
                                'device.driver == "%s" && device.attributes["%s"].profile == "%s"'
                                % (driver, driver, p)}}]}})
    if some(.2):
        out.append({"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}})
    return out


def wish(drivers, names, kinds, in_list):
    driver, kind = R.choice(drivers)
    mine = [n for n in names if n.endswith(driver)] + (["any"] if "any" in names else [])
    w = {"deviceClassName": R.choice(mine)}
    if some(.1):
        w["allocationMode"] = "All"
    elif some(.2):
        w["count"] = R.randint(1, 4)
    if some(.2):
        w["selectors"] = selectors(driver)
    if some(.12):
        w["tolerations"] = [R.choice([{"operator": "Exists"}, {"key": "hot", "operator": "Exists"},
                                      {"key": "held", "operator": "Equal", "value": "x", "effect": "NoSchedule"}])]
    if kind == "shares" and some(.6):
        w["capacity"] = {"requests": {R.choice(["memory"] * 9 + ["none"]): R.choice(["1Gi", "3Gi", "5Gi", "8Gi", "12Gi"])}}
    if not in_list and some(.06):
        w["adminAccess"] = True
    return w


def claim(name, drivers, names):
    requests = []
    for i in range(R.choice([1, 1, 1, 2, 2, 3])):
        r = {"name": "r%d" % i}
        if some(.25):
            r["firstAvailable"] = [dict(wish(drivers, names, None, True), name="s%d" % k)
                                   for k in range(R.randint(1, 3))]
        else:
            r["exactly"] = wish(drivers, names, None, False)
        requests.append(r)
    spec = {"devices": {"requests": requests}}
    if some(.35):
        driver = R.choice(drivers)[0]
        c = {R.choice(["matchAttribute", "matchAttribute", "distinctAttribute"]):
             R.choice(["resource.kubernetes.io/pcieRoot", driver + "/numa", driver + "/parent", driver + "/type"])}
        if some(.4):
            c["requests"] = [R.choice(requests)["name"]]
        spec["devices"]["constraints"] = [c]
    if some(.15):
        spec["devices"]["config"] = [{"opaque": {"driver": drivers[0][0], "parameters": {"of": "claim"}}}]
        if some(.5):
            spec["devices"]["config"][0]["requests"] = [requests[0]["name"]]
    return {"apiVersion": API, "kind": "ResourceClaim", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def case(i):
    R.seed("%s/%d" % (SEED, i))
    drivers = []
    slices = []
    usable = []
    for d in range(R.choice([1, 1, 1, 2])):
        kind = R.choice(["mig", "mig", "plain", "shares"])
        driver = "%s%d.example" % ("ab"[d], i)
        drivers.append((driver, kind))
        made = {}
        # counters of pools of one name but of two drivers are mixed up by kube-scheduler 1.36
        width = R.choice([4, 8])
        for node in R.sample(NODES, R.randint(1, 3)):
            usable.append(node)
            if kind == "mig" and not (d and drivers[0][1] == "mig"):
                got = partitioned(node, driver, width)
            else:
                drivers[-1] = (driver, "shares" if kind == "shares" else "plain")
                got = plain(node, driver, kind == "shares")
            for s in got:
                key = s["spec"]["pool"]["name"]
                if made.setdefault(key, node) == node:
                    slices.append(s)
    kinds = classes(drivers)
    names = [c["metadata"]["name"] for c in kinds]
    claims = [claim("c%d-%d" % (i, k), drivers, names) for k in range(R.randint(1, 6))]
    pods, left = [], [c["metadata"]["name"] for c in claims]
    while left:
        n = R.choice([1, 1, 2])
        own, left = left[:n], left[n:]
        pods.append({"name": "p%d-%d" % (i, len(pods)), "node": R.choice(usable if some(.9) else NODES), "claims": own})
        if some(.1):
            pods.append({"name": "p%d-%d" % (i, len(pods)), "node": R.choice(usable), "claims": own[:1]})
    return {"slices": slices, "classes": kinds, "claims": claims, "pods": pods}


# ---- asking -------------------------------------------------------------------------------------

def call(method, path, body=None, okay=(200, 201)):
    headers = {"Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json"}
    if TOKEN:
        headers["Authorization"] = "Bearer " + TOKEN
    SERVER.request(method, path, None if body is None else json.dumps(body).encode(), headers)
    answer = SERVER.getresponse()
    text = answer.read().decode()
    if answer.status // 100 == 2:
        return json.loads(text)
    if answer.status in okay:
        return None
    raise SystemExit("%s %s: %d %s\n%s" % (method, path, answer.status, text, json.dumps(body)))


DEV = "/apis/resource.k8s.io/v1"
NS = "/namespaces/default"


def pod_of(p):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": p["name"]}, "spec": {
        "nodeSelector": {"kubernetes.io/hostname": p["node"]}, "terminationGracePeriodSeconds": 0,
        "resourceClaims": [{"name": "k%d" % i, "resourceClaimName": c} for i, c in enumerate(p["claims"])],
        "containers": [{"name": "main", "image": "x"}]}}


def prepare():
    for i, node in enumerate(NODES):
        call("POST", "/api/v1/nodes", {"metadata": {"name": node, "labels": {
            "kubernetes.io/hostname": node, "zone": "ab"[i % 2]}}}, (201, 409))
        call("PATCH", "/api/v1/nodes/%s/status" % node, {"status": {
            "allocatable": {"cpu": "64", "memory": "256Gi", "pods": "5000"},
            "capacity": {"cpu": "64", "memory": "256Gi", "pods": "5000"},
            "conditions": [{"type": "Ready", "status": "True"}]}})
        call("PATCH", "/api/v1/nodes/%s" % node, {"spec": {"taints": None}})
    call("PATCH", "/api/v1/namespaces/default", {"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}})
    call("POST", "/api/v1" + NS + "/serviceaccounts", {"metadata": {"name": "default"}}, (201, 409))


def answer_of(p):
    waited = 0
    while True:
        pod = call("GET", "/api/v1" + NS + "/pods/" + p["name"])
        if pod["spec"].get("nodeName"):
            break
        for c in pod.get("status", {}).get("conditions", []):
            if c["type"] == "PodScheduled" and c["status"] == "False":
                return {"message": c.get("message", "")}
        claims = [call("GET", DEV + NS + "/resourceclaims/" + c) for c in p["claims"]]
        bind = all(c.get("status", {}).get("allocation") for c in claims) and any(
            r.get("bindingConditions") for c in claims for r in c["status"]["allocation"]["devices"]["results"])
        if bind and waited > .3:
            break
        if waited > 15:
            return {"message": "no answer"}
        time.sleep(.01)
        waited += .01
    out = []
    for c in p["claims"]:
        a = call("GET", DEV + NS + "/resourceclaims/" + c)["status"]["allocation"]
        a.pop("allocationTimestamp", None)
        for r in a["devices"]["results"]:
            r.pop("shareID", None)
        out.append(a)
    return {"allocations": out}


def ask(doc):
    call("DELETE", DEV + "/resourceslices")
    call("DELETE", DEV + "/deviceclasses")
    for s in doc["slices"]:
        call("POST", DEV + "/resourceslices", s)
    for c in doc["classes"]:
        call("POST", DEV + "/deviceclasses", c)
    for c in doc["claims"]:
        call("POST", DEV + NS + "/resourceclaims", c)
    time.sleep(.25)
    for p in doc["pods"]:
        call("POST", "/api/v1" + NS + "/pods", pod_of(p))
        p["answer"] = answer_of(p)
        if "message" in p["answer"]:
            call("DELETE", "/api/v1" + NS + "/pods/" + p["name"])
    return doc


if __name__ == "__main__":
    if sys.argv[1] == "make":
        SEED = sys.argv[2]
        for i in range(int(sys.argv[3])):
            print(json.dumps(case(i), separators=(",", ":")))
    else:
        URL, TOKEN = urllib.parse.urlsplit(sys.argv[2]), "".join(sys.argv[3:4])
        SERVER = (http.client.HTTPConnection(URL.netloc) if URL.scheme == "http" else
                  http.client.HTTPSConnection(URL.netloc, context=ssl._create_unverified_context()))
        prepare()
        for line in sys.stdin:
            print(json.dumps(ask(json.loads(line)), separators=(",", ":")), flush=True)
