#!/usr/bin/env python3
"""Write src/emulator/formats/protobuf_table.c: how the built-in kinds look as protobuf.

usage: hack/protobuf-table.py /path/to/kubectl >src/emulator/formats/protobuf_table.c

The numbers stand in no file of Kubernetes that is easily read by machine as a whole, but every Go
program that has the types (k8s.io/api) has their fields, tags and pointers, for reflection: read here
from a kubectl for linux/amd64 built by Go 1.24 (see Go's internal/abi/type.go), version 1.32 or later.
"""
import re
import struct
import sys

POINTER, SLICE, MAP, STRUCT = 22, 23, 21, 25
SCALARS = {1: "BOOL", 5: "INT", 6: "INT", 24: "STRING", 14: "DOUBLE", 2: "INT"}
META = "k8s.io/apimachinery/pkg/apis/meta/v1.v1."
SPECIAL = {
    "k8s.io/apimachinery/pkg/api/resource.resource.Quantity": "QUANTITY",
    "k8s.io/apimachinery/pkg/util/intstr.intstr.IntOrString": "INT_OR_STRING",
    META + "Time": "TIME",
    META + "MicroTime": "MICRO_TIME",
    META + "FieldsV1": "RAW",
    "k8s.io/apimachinery/pkg/runtime.runtime.RawExtension": "RAW",
}
# Group of each Go package whose kinds are taken.
PACKAGES = {
    "core/v1": "v1", "apps/v1": "apps/v1", "batch/v1": "batch/v1", "rbac/v1": "rbac.authorization.k8s.io/v1",
    "networking/v1": "networking.k8s.io/v1", "policy/v1": "policy/v1", "policy/v1beta1": "policy/v1beta1",
    "scheduling/v1": "scheduling.k8s.io/v1", "storage/v1": "storage.k8s.io/v1",
    "coordination/v1": "coordination.k8s.io/v1", "autoscaling/v1": "autoscaling/v1",
    "autoscaling/v2": "autoscaling/v2", "admissionregistration/v1": "admissionregistration.k8s.io/v1",
    "resource/v1": "resource.k8s.io/v1", "discovery/v1": "discovery.k8s.io/v1", "events/v1": "events.k8s.io/v1", "node/v1": "node.k8s.io/v1",
    "authentication/v1": "authentication.k8s.io/v1", "authorization/v1": "authorization.k8s.io/v1",
}


class Program:
    """The types that a Go program knows."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.d = f.read()
        self.read_sections()
        self.base = self.named[".rodata"][0]
        self.kinds, self.structs = {}, {}
        self.walk()

    def read_sections(self):
        offset = struct.unpack_from("<Q", self.d, 0x28)[0]
        size, count, names = struct.unpack_from("<HHH", self.d, 0x3A)
        rows = [struct.unpack_from("<IIQQQQ", self.d, offset + i * size) for i in range(count)]
        self.sections = [(r[3], r[3] + r[5], r[4]) for r in rows if r[3] and r[1] != 8]
        start = rows[names][4]
        self.named = {}
        for r in rows:
            end = self.d.index(b"\0", start + r[0])
            self.named[self.d[start + r[0]:end].decode()] = (r[3], r[4], r[5])

    def at(self, address):
        for begin, end, offset in self.sections:
            if begin <= address < end:
                return address - begin + offset
        raise ValueError(hex(address))

    def word(self, address):
        return struct.unpack_from("<Q", self.d, self.at(address))[0]

    def half(self, address):
        return struct.unpack_from("<i", self.d, self.at(address))[0]

    def text(self, at):
        n = shift = 0
        while True:
            byte = self.d[at]
            at += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return self.d[at:at + n].decode("utf8", "replace"), at + n

    def name(self, address):
        at = self.at(address)
        flags = self.d[at]
        name, at = self.text(at + 1)
        return name, self.text(at)[0] if flags & 2 else ""

    def header(self, address):
        at = self.at(address)
        name = self.name(self.base + self.half(address + 40))[0]
        return self.d[at + 23] & 31, name[1:] if self.d[at + 20] & 2 else name, self.d[at + 20] & 1

    def fields(self, address):
        first, n = self.word(address + 56), self.word(address + 64)
        for i in range(n):
            name, tag = self.name(self.word(first + 24 * i))
            yield name, tag, self.word(first + 24 * i + 8)

    def walk(self):
        _, offset, size = self.named[".typelink"]
        todo = [self.base + struct.unpack_from("<i", self.d, offset + i)[0] for i in range(0, size, 4)]
        while todo:
            address = todo.pop()
            if address in self.kinds:
                continue
            kind, name, uncommon = self.header(address)
            self.kinds[address] = kind
            if kind in (POINTER, SLICE):
                todo.append(self.word(address + 48))
            elif kind == MAP:
                todo += [self.word(address + 48), self.word(address + 56)]
            elif kind == STRUCT:
                todo += [f[2] for f in self.fields(address)]
                package = self.half(address + 80) if uncommon else 0
                self.structs[address] = (self.name(self.base + package)[0] + "." if package else "") + name


class Table:
    def __init__(self, program):
        self.p = program
        self.numbers, self.messages, self.kinds = {}, [], []

    def value(self, t, tag):
        """@return type, message, flags"""
        p, flags, kind = self.p, [], self.p.kinds[t]
        if kind == POINTER:
            t, flags = p.word(t + 48), ["POINTER"]
            kind = p.kinds[t]
        if kind == MAP:
            inner = self.value(p.word(t + 56), tag)
            return inner[0], inner[1], ["MAP"] + [f for f in inner[2] if f == "REPEATED"]
        if kind == SLICE:
            element = p.word(t + 48)
            if p.kinds[element] == 8:
                return "BYTES", 0, flags + ["POINTER"]
            inner = self.value(element, tag)
            return inner[0], inner[1], ["REPEATED"]
        if kind == STRUCT:
            special = SPECIAL.get(p.structs[t])
            return (special, 0, flags) if special else ("MESSAGE", self.message(t), flags)
        return SCALARS[kind], 0, flags

    def message(self, t):
        if t in self.numbers:
            return self.numbers[t]
        number = self.numbers[t] = len(self.messages)
        self.messages.append(None)
        rows = []
        for name, tag, ft in self.p.fields(t):
            wire = re.search(r'protobuf:"([^"]*)"', tag)
            words = re.search(r'json:"([^"]*)"', tag)
            if not wire or wire.group(1) == "-":
                continue
            key, *options = words.group(1).split(",") if words else ("",)
            kind, message, flags = self.value(ft, tag)
            if "inline" in options or not key:
                flags = flags + ["INLINE"]
            if "omitempty" in options or "omitzero" in options:
                flags = flags + ["OMIT"]
            rows.append((int(wire.group(1).split(",")[1]), kind, message, flags, key))
        self.messages[number] = (self.p.structs[t], sorted(rows))
        return number

    def collect(self):
        for t, name in sorted(self.p.structs.items(), key=lambda item: item[1]):
            package, _, kind = name.rpartition(".")
            package = package.rpartition(".")[0]
            api = PACKAGES.get(package.removeprefix("k8s.io/api/"))
            if name == META + "DeleteOptions":
                api = "v1"
            if not api or not any(f[0] == "TypeMeta" for f in self.p.fields(t)) or kind.endswith("List"):
                continue
            self.kinds.append((api, kind, self.message(t)))
        self.kinds.sort()


def write(table):
    out = sys.stdout.write
    out('/* Written by hack/protobuf-table.py: the built-in kinds as protobuf. */\n')
    out('#include "emulator/formats/protobuf_table.h"\n\n')
    out("static const struct sw_protobuf_field fields[] = {\n")
    first, n = [], 0
    for name, rows in table.messages:
        first.append((n, len(rows)))
        for number, kind, message, flags, key in rows:
            bits = " | ".join("SW_PB_" + f for f in flags) or "0"
            out(f'    {{ {number}, SW_PB_{kind}, {bits}, {message}, "{key}" }},\n')
        n += len(rows)
    out("};\n\nstatic const struct sw_protobuf_message messages[] = {\n")
    for begin, count in first:
        out(f"    {{ fields + {begin}, {count} }},\n")
    out("};\n\nstatic const struct sw_protobuf_kind kinds[] = {\n")
    for api, kind, message in table.kinds:
        out(f'    {{ "{api}", "{kind}", messages + {message} }},\n')
    out("""};

const struct sw_protobuf_message *sw_protobuf_message(unsigned number)
{
    return &messages[number];
}

const struct sw_protobuf_kind *sw_protobuf_kinds(size_t *n)
{
    *n = sizeof kinds / sizeof *kinds;
    return kinds;
}
""")


if len(sys.argv) != 2:
    sys.exit(__doc__)
made = Table(Program(sys.argv[1]))
made.collect()
write(made)
