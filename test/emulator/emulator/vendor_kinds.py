"""For vendor_kinds_test.sh: the kinds that definitions of vendors' charts bring. Of each schema objects are made: one
with what is required, one with all that it knows, and wrong ones with one fault each; the server is to take the former
and to refuse the latter in the words of a Kubernetes API server. Arguments: the server's URL; files of definitions."""
import json, re, sys, urllib.error, urllib.request

import yaml

server = sys.argv[1]
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
STRINGS = ["a", "1", "Aa1", "a-b", "a.b", "example.com/a", "10%", "5m", "1.2.3", "v1", "10.0.0.0/24", "0x1234", "0000:00:00.0",
           "a=b", "https://example.com", "00000000-0000-4000-8000-000000000000"]
LEAST = {"date-time": "2026-01-01T00:00:00Z", "byte": "YQ==", "ipv4": "10.0.0.1", "uri": "https://example.com", "date": "2026-01-01",
         "uuid": "00000000-0000-4000-8000-000000000000", "duration": "5m"}


class Skip(Exception):
    """Nothing is known that fits."""


def send(method, path, body):
    request = urllib.request.Request(server + path, json.dumps(body).encode(), {"Content-Type": "application/json"}, method=method)
    try:
        with opener.open(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as e:
        return e.code, json.loads(e.read())


def text_for(s):
    if s.get("format") in LEAST:
        return LEAST[s["format"]]
    for one in STRINGS + ["a" * s.get("minLength", 0)]:
        if len(one) >= s.get("minLength", 0) and len(one) <= s.get("maxLength", 1 << 20) and \
                (not s.get("pattern") or re.search(s["pattern"], one)):
            return one
    raise Skip


def value_for(s, all_of_it, depth=0):
    """A value that the schema takes."""
    if "default" in s and not all_of_it:
        return s["default"]
    if s.get("enum"):
        return s["enum"][0]
    if s.get("x-kubernetes-int-or-string"):
        return 1
    kind = s.get("type")
    if kind == "object" or "properties" in s:
        required = set(s.get("required", []))
        has_rules = bool(s.get("x-kubernetes-validations")) or any(k in s for k in ("oneOf", "anyOf", "not", "allOf"))
        out = {}
        for name, p in s.get("properties", {}).items():
            if name not in required and (not all_of_it or has_rules or depth > 6):
                continue
            try:
                out[name] = value_for(p, all_of_it, depth + 1)
            except Skip:
                if name in required:
                    raise
        if not s.get("properties") and isinstance(s.get("additionalProperties"), dict) and all_of_it:
            out["a"] = value_for(s["additionalProperties"], all_of_it, depth + 1)
        if len(out) < s.get("minProperties", 0):
            raise Skip
        return out
    if kind == "array":
        n = max(s.get("minItems", 0), 1 if all_of_it else 0)
        return [value_for(s["items"], all_of_it, depth + 1)] * min(n, 1) if n < 2 else throw()
    if kind in ("integer", "number"):
        return max(s.get("minimum", 1), 1 if s.get("maximum", 1) >= 1 else s["maximum"])
    if kind == "boolean":
        return True
    if kind == "string":
        return text_for(s)
    return {}


def throw():
    raise Skip


def faults(s, value, path):
    """(a copy of value with one fault, the server's words)"""
    for name, p in s.get("properties", {}).items():
        at = path + "." + name if path else name
        if name in s.get("required", []) and "default" not in p:
            yield {k: v for k, v in value.items() if k != name}, f"{at}: Required value"
        if p.get("x-kubernetes-int-or-string"):
            continue
        kind = p.get("type")
        if p.get("enum") and kind == "string":
            wanted = ", ".join(f'"{e}"' for e in p["enum"])
            yield {**value, name: "no-such"}, f'{at}: Unsupported value: "no-such": supported values: {wanted}'
        elif kind in ("integer", "boolean", "array", "object"):
            yield {**value, name: "text"}, f'{at}: Invalid value: "string": {at} in body must be of type {kind}: "string"'
            if kind == "integer" and "minimum" in p:
                low = p["minimum"] - 1
                yield {**value, name: low}, f"{at}: Invalid value: {low}: {at} in body should be greater than or equal to {p['minimum']}"
        elif kind == "string":
            if p.get("pattern") and not re.search(p["pattern"], "!?"):
                yield {**value, name: "!?"}, f"{at}: Invalid value: \"!?\": {at} in body should match '{p['pattern']}'"
            else:
                yield {**value, name: 1}, f'{at}: Invalid value: "integer": {at} in body must be of type string: "integer"'
        if kind == "object" and p.get("properties") and isinstance(value.get(name), dict):
            for wrong, words in faults(p, value[name], at):
                yield {**value, name: wrong}, words


def check(definition, count):
    spec, bad = definition["spec"], []
    for version in spec["versions"]:
        if not version.get("served"):
            continue
        schema = version["schema"]["openAPIV3Schema"]
        group = spec["group"]
        where = "namespaces/default/" if spec["scope"] == "Namespaced" else ""
        path = f"/apis/{group}/{version['name']}/{where}{spec['names']['plural']}?dryRun=All&fieldValidation=Strict"
        rules = json.dumps(schema).count("x-kubernetes-validations")
        name = "gpu-cluster" if spec["names"]["kind"] == "GPUCluster" else "a"
        head = {"apiVersion": f"{group}/{version['name']}", "kind": spec["names"]["kind"], "metadata": {"name": name}}
        of_spec = {k: v for k, v in schema.items() if k != "properties"}
        of_spec["properties"] = {k: v for k, v in schema.get("properties", {}).items() if k not in ("apiVersion", "kind", "metadata", "status")}
        of_spec["required"] = [r for r in schema.get("required", []) if r in of_spec["properties"]]
        for all_of_it in (False, True):
            try:
                body = value_for(of_spec, all_of_it)
            except Skip:
                continue
            code, answer = send("POST", path, {**body, **head})
            count["taken"] += code == 201
            if code != 201 and not (all_of_it and rules):
                bad.append(f"{head['kind']}: refused: {answer.get('message')}: {json.dumps(body)[:300]}")
            if code != 201 or not all_of_it:
                continue
            for wrong, words in faults(of_spec, body, ""):
                code, answer = send("POST", path, {**wrong, **head})
                text = answer.get("message", "")
                begins = f'{head["kind"]}.{group} "{name}" is invalid: '
                if code == 422 and text.startswith(begins) and words in text:
                    count["refused"] += 1
                else:
                    bad.append(f"{head['kind']}: {words}: got {code} {text[:300]}")
    return bad


def main():
    count, bad, kinds = {"taken": 0, "refused": 0}, [], 0
    for file in sys.argv[2:]:
        with open(file) as f:
            for d in yaml.safe_load_all(f):
                if not d or d.get("kind") != "CustomResourceDefinition":
                    continue
                kinds += 1
                code, answer = send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", d)
                if code not in (201, 409):
                    bad.append(f"{d['metadata']['name']}: {answer.get('message')}")
                elif code == 201:
                    bad += check(d, count)
    print(f"{kinds} kinds, {count['taken']} objects taken, {count['refused']} refused as they are to be")
    for line in bad[:20]:
        print(line)
    sys.exit(bool(bad) or not kinds)


main()
