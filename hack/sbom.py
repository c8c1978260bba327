#!/usr/bin/env python3
"""sbom.py: the bill of materials of a release's programs, as SPDX 2.3 (JSON), on standard output.

    sbom.py --version V --arch ARCH --epoch SECONDS --programs DIR --stripped DIR --versions FILE

What a program has in it stands in the linker's map beside it (DIR/NAME.map): each archive of which a member was
taken is a library. Its package is asked of dpkg (--sysroot's packages have the same names), or stands in FILE
("name version" a line) for what hack/static-libs.sh built. --stripped: the programs as they are shipped, whose
checksums are named.
"""
import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess

MEMBER = re.compile(r"^(/?\S+\.a)\(")


def libraries(path):
    """The archives that the map at path says members were taken of."""
    if not os.path.exists(path):
        return set()
    found = set()
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("Discarded input sections") or line.startswith("Memory Configuration"):
                break
            match = MEMBER.match(line)
            if match:
                found.add(match.group(1))
    return {name for name in found if not name.endswith("libslipway.a")}


def package_of(path, versions):
    """(name, version, is_debian) of what the archive at path came from."""
    base = os.path.basename(path)[3:-2]
    for name, version in versions.items():
        if "static-libs" in path and base in name:
            return name, version, True
    found = subprocess.run(["dpkg-query", "-S", "*/" + os.path.basename(path)], capture_output=True, text=True)
    owners = [line.split(":")[0] for line in found.stdout.splitlines() if line.endswith("/" + os.path.basename(path))]
    for owner in owners:
        asked = subprocess.run(["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}\n", owner], capture_output=True, text=True)
        if asked.returncode == 0 and asked.stdout.strip():
            name, version = asked.stdout.splitlines()[0].split(" ")
            return name, version, True
    return base, "", False


def package(identity, name, version, **more):
    return {
        "SPDXID": identity,
        "name": name,
        **({"versionInfo": version} if version else {}),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        **more,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("version", "arch", "epoch", "programs", "stripped", "versions"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    versions = {}
    if os.path.exists(args.versions):
        with open(args.versions, encoding="utf-8") as file:
            versions = dict(line.split() for line in file if line.strip())
    packages, relations, known = [], [], {}
    for program in sorted(os.listdir(args.stripped)):
        path = os.path.join(args.stripped, program)
        if os.path.islink(path):
            continue
        identity = "SPDXRef-" + program
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        packages.append(
            package(identity, program, args.version, licenseConcluded="Apache-2.0", licenseDeclared="Apache-2.0",
                    primaryPackagePurpose="APPLICATION", checksums=[{"algorithm": "SHA256", "checksumValue": digest}])
        )
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", identity))
        for archive in sorted(libraries(os.path.join(args.programs, program + ".map"))):
            name, version, is_debian = package_of(archive, versions)
            if name not in known:
                known[name] = "SPDXRef-lib-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)
                more = {"primaryPackagePurpose": "LIBRARY"}
                if is_debian:
                    purl = f"pkg:deb/debian/{name}@{version}?arch=source"
                    more["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
                packages.append(package(known[name], name, version, **more))
            relation = (identity, "STATIC_LINK", known[name])
            if relation not in relations:
                relations.append(relation)
    name = f"slipway-{args.version}-{args.arch}"
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()[:32]
    when = datetime.datetime.fromtimestamp(int(args.epoch), datetime.timezone.utc)
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"https://slipway.dev/spdx/{name}-{digest}",
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: hack/sbom.py", "Organization: slipway"]},
        "packages": packages,
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in relations
        ],
    }
    print(json.dumps(document, indent=1))


main()
