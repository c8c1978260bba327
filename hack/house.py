#!/usr/bin/env python3
"""Hold the includes of src/ against its table of modules, src/modules.txt.

usage: hack/house.py [--src DIR] [--map FILE]

Prints one line a fault and exits 1, or prints one line of figures and exits 0. A fault is
  - an include of a module on a higher floor, or of a header that its module does not make public
  - an include of a header with a "-" behind its name in the table (core.h-) from outside of its
    house: the outermost module that the header's folder is in
  - a circle of modules: a folder may include the public headers of the folders that it is in, but
    not one that includes a header of that folder
  - a circle of files, by their includes
  - a folder without a row in the table, a row without a folder or without a purpose
  - a public header that is not there, that does not begin with what it is for, or that includes a
    header of its folder which is not public
  - a district that the map (docs/architecture.md) has no heading for, or a module that is not
    listed under the heading of its district; what hack/map.py --check says
"""
import argparse
import os
import re
import subprocess
import sys

from graph import components

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def read_table(path, faults):
    """@return {module: (floor, public headers)} of src/modules.txt, and the headers, as paths, that
    are for their house alone"""
    modules, within = {}, set()
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if not line.strip() or line.startswith("#"):
                continue
            columns = [c.strip() for c in line.split("|")]
            where = f"{path}:{number}"
            if len(columns) != 4:
                faults.append(f"{where}: {len(columns)} columns, not 4: module | public headers | libraries | purpose")
                continue
            name, headers, _, purpose = columns
            if name in modules:
                faults.append(f"{where}: {name} has a row already")
            if not purpose:
                faults.append(f"{where}: {name} has no purpose")
            within |= {f"{name}/{h[:-1]}" for h in headers.split() if h.endswith("-")}
            modules[name] = (len(modules), [h.rstrip("-") for h in headers.split()])
    return modules, within


def house_of(module, modules):
    """@return the outermost module that @module is in: itself, if it is in no other"""
    parts = module.split("/")
    return next(m for m in ("/".join(parts[:n]) for n in range(1, len(parts) + 1)) if m in modules)


def read_sources(src):
    """@return {file: [included files of src]}, both relative to @src"""
    sources = {}
    for folder, _, names in os.walk(src):
        for name in names:
            if name.endswith((".c", ".h")):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8", errors="replace") as f:
                    sources[os.path.relpath(path, src)] = INCLUDE.findall(f.read())
    return {f: [i for i in found if i in sources] for f, found in sources.items()}


def circles(graph):
    return sorted(sorted(c) for c in components(sorted(graph), graph) if len(c) > 1)


def check_headers(src, modules, sources, faults):
    for name, (_, headers) in modules.items():
        for header in headers if os.path.isdir(os.path.join(src, name)) else ():
            for other in sources.get(f"{name}/{header}", ()):
                if os.path.dirname(other) == name and os.path.basename(other) not in headers:
                    faults.append(f"src/{name}/{header}: public, and includes {other}, which is not")
            path = os.path.join(src, name, header)
            if not os.path.exists(path):
                faults.append(f"src/modules.txt: {name}/{header} is public and not there")
                continue
            with open(path, encoding="utf-8") as f:
                text = f.read()
            if not re.match(r"\s*#pragma once\s*/\*", text):
                faults.append(f"src/{name}/{header}:1: does not begin with what it is for: #pragma once, then a comment")


def reaches(sources, header, folder, seen):
    """@return the first header of @folder that @header includes, itself or through others; None"""
    for other in sources.get(header, ()):
        if os.path.dirname(other) == folder:
            return other
        if other not in seen:
            seen.add(other)
            found = reaches(sources, other, folder, seen)
            if found:
                return found
    return None


def check_map(path, modules, faults):
    """The map has a heading for each district, and names each of its modules below it."""
    if not os.path.exists(path):
        faults.append(f"{path} is not there")
        return
    with open(path, encoding="utf-8") as f:
        sections = re.split(r"^## ", f.read(), flags=re.M)
    below = {s.split("\n", 1)[0].strip("` /"): s for s in sections[1:]}
    for district in sorted({m.split("/")[0] for m in modules}):
        if district not in below:
            faults.append(f"{path}: no heading for the district {district}")
            continue
        for module in modules:
            if module.split("/")[0] == district and f"`{module}`" not in below[district]:
                faults.append(f"{path}: the module `{module}` is not under the heading {district}")


def main():
    arguments = argparse.ArgumentParser(description="Hold the includes of src/ against src/modules.txt.")
    arguments.add_argument("--src", default="src")
    arguments.add_argument("--map", default="docs/architecture.md")
    options = arguments.parse_args()
    src, faults = options.src, []
    modules, within = read_table(os.path.join(src, "modules.txt"), faults)
    sources = read_sources(src)

    folders = {os.path.dirname(f) for f in sources}
    for folder in sorted(folders - modules.keys()):
        faults.append(f"src/{folder}: no row in src/modules.txt says what this folder is for")
    for name in sorted(modules.keys() - folders):
        faults.append(f"src/modules.txt: {name} has a row and no source file")
    check_headers(src, modules, sources, faults)

    n_includes, between, upward = 0, {}, []
    for file, included in sorted(sources.items()):
        own = os.path.dirname(file)
        for header in included:
            other = os.path.dirname(header)
            if other == own or own not in modules or other not in modules:
                continue
            n_includes += 1
            is_inside = own.startswith(other + "/")  # a face of the house that the file is in
            if os.path.basename(header) not in modules[other][1]:
                faults.append(f"src/{file}: includes {header}, which {other} does not make public")
            elif header in within and house_of(own, modules) != house_of(other, modules):
                faults.append(f"src/{file}: includes {header}, which is for {house_of(other, modules)} alone")
            elif not is_inside and modules[other][0] > modules[own][0]:
                upward.append((file, header))
            if not is_inside:
                between.setdefault(own, set()).add(other)
                continue
            inner = reaches(sources, header, own, set())
            if inner:
                faults.append(f"src/{file}: includes {header}, which includes {inner} of this folder: a circle of modules")
    rings = circles(between)  # none without an include upward
    for file, header in upward:
        own, other = os.path.dirname(file), os.path.dirname(header)
        ring = next((r for r in rings if own in r and other in r), None)
        why = "a circle of modules: " + ", ".join(ring) if ring else f"{other} is on a floor above {own}"
        faults.append(f"src/{file}: includes {header}: {why}")
    for members in circles(sources):
        faults.append("circle of files: " + ", ".join(members))

    check_map(options.map, modules, faults)
    picture = os.path.splitext(options.map)[0] + ".map"
    if os.path.exists(picture):
        draw = os.path.join(os.path.dirname(os.path.abspath(__file__)), "map.py")
        svg, table = picture.replace(".map", ".svg"), os.path.join(src, "modules.txt")
        found = subprocess.run(
            [sys.executable, draw, "--check", "--map", picture, "--svg", svg, "--table", table],
            stdout=subprocess.PIPE, encoding="utf-8", check=False,
        )
        faults += found.stdout.splitlines()
    districts = {m.split("/")[0] for m in modules}

    for fault in faults:
        print(fault)
    if not faults:
        print(f"{len(districts)} districts, {len(modules)} modules, {len(sources)} files, {n_includes} includes between modules")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
