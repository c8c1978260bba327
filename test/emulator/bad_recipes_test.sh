# Recipes that are wrong, or meant ill: one clear error that names the source and the reason, soon,
# and nothing left behind. Each is read from a file and from a server.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
root=$PWD
command -v python3 >/dev/null || { skip "bad recipes" "no python3 here"; plan; }
export SLIPWAY_CACHE_DIR=$tap_dir/cache HOME=$tap_dir TMPDIR=$tap_dir/tmp
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy NO_PROXY no_proxy
mkdir -p "$TMPDIR" "$tap_dir/www"
cd "$tap_dir" || exit 1
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT

python3 - <<'P'
"""Every bad recipe, as www/<name>.tgz."""
import gzip, io, tarfile

CHART = b"apiVersion: v2\nname: bad\nversion: 1.0.0\n"


class Packed:
    def __init__(self, name, level=6):
        self.tar = tarfile.open(f"www/{name}.tgz", "w:gz", compresslevel=level)

    def file(self, path, data):
        info = tarfile.TarInfo(path)
        info.size = len(data)
        self.tar.addfile(info, io.BytesIO(data))

    def link(self, path, to, kind):
        info = tarfile.TarInfo(path)
        info.type, info.linkname = kind, to
        self.tar.addfile(info)

    def __enter__(self):
        self.file("bad/Chart.yaml", CHART)
        return self

    def __exit__(self, *args):
        self.tar.close()


with Packed("parent") as p:
    p.file("bad/../../../evil", b"x")
with Packed("absolute") as p:
    p.file("/tmp/evil", b"x")
with Packed("symlink") as p:
    p.link("bad/templates/passwd.yaml", "/etc/passwd", tarfile.SYMTYPE)
with Packed("hardlink") as p:
    p.link("bad/templates/passwd.yaml", "../../etc/passwd", tarfile.LNKTYPE)
with Packed("device") as p:
    p.link("bad/templates/x.yaml", "", tarfile.CHRTYPE)
with Packed("bomb") as p:
    p.file("bad/templates/zeros.yaml", bytes(200 << 20))
with Packed("many", 1) as p:
    for i in range(100000):
        p.file(f"bad/files/{i}", b"")
with Packed("yaml-bomb") as p:
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for i in range(1, 10):
        text += f"a{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 10) + "]\n"
    p.file("bad/values.yaml", text.encode())
with Packed("yaml-deep") as p:
    p.file("bad/values.yaml", b"a: " + b"[" * 100000)
with Packed("includes-itself") as p:
    p.file("bad/templates/a.yaml", b'{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}')
with Packed("tpl-itself") as p:
    p.file("bad/values.yaml", b"t: '{{ tpl .Values.t . }}'\n")
    p.file("bad/templates/a.yaml", b"{{ tpl .Values.t . }}")
with Packed("range") as p:
    p.file("bad/values.yaml", b"t: '{{ range until 1000000 }}{{ range until 1000000 }}x{{ end }}{{ end }}'\n")
    p.file("bad/templates/a.yaml", b"{{ tpl .Values.t . }}")
with Packed("output") as p:
    p.file("bad/templates/a.yaml", b'{{ range until 100000 }}{{ repeat 100000 "x" }}{{ end }}')
with Packed("large-values") as p:
    p.file("bad/values.yaml", b"a: '" + b"x" * (50 << 20) + b"'\n")
with Packed("utf8-values") as p:
    p.file("bad/values.yaml", b"a: \xff\xfe\xfa\n")
with Packed("utf8-template") as p:
    p.file("bad/templates/a.yaml", b"kind: ConfigMap\napiVersion: v1\nmetadata: {name: \xc3\x28}\n")
with Packed("utf8-chart") as p:
    p.file("bad/Chart.lock", b"\xc3\x28")
    p.file("bad/Chart.yaml2", b"")
with Packed("twice") as p:
    p.file("bad/Chart.yaml", CHART)
with Packed("no-chart") as p:
    p.tar.close()
    p.tar = tarfile.open("www/no-chart.tgz", "w:gz")
    p.file("bad/values.yaml", b"")
whole = open("www/twice.tgz", "rb").read()
open("www/cut.tgz", "wb").write(whole[:len(whole) // 2])
open("www/empty.tgz", "wb").write(b"")
open("www/page.tgz", "wb").write(b"<html><body>Sign in</body></html>")
open("www/gzip-of-nothing.tgz", "wb").write(gzip.compress(b""))
P

python3 "$root/test/emulator/chart_server.py" www port server.log 2>server.err &
pids="$pids $!"
until_ok 20 test -s port
http=http://127.0.0.1:$(cat port)/ok

refused() { # SOURCE WORDS: exit 2, one line that names it, or the template in it, and says why
    local rc=0
    timeout 60 "$slipway" render "$1" >text 2>words || rc=$?
    head -c 2000 words
    [ $rc -eq 2 ] && [ "$(wc -l <words)" -eq 1 ] && grep -qF -e "$1" -e "bad/templates/a.yaml:" words && grep -qF -- "$2" words &&
        [ "$(wc -c <words)" -lt 5000 ] && [ ! -s text ] && [ ! -e /tmp/evil ] && [ ! -e evil ] &&
        [ -z "$(ls -A "$TMPDIR")" ] && [ -z "$(ls -A cache/tmp 2>/dev/null)" ]
}
both() { # NAME WORDS
    refused "www/$1.tgz" "$2" && refused "$http/$1.tgz" "$2"
}

t "a path with .." both parent "leads outside the archive"
t "an absolute path" both absolute "an absolute path"
t "a link that leads outside" both symlink "a link"
t "a hard link" both hardlink "a link"
t "a device" both device "not a file"
t "a gzip bomb" both bomb "unpacks to more than"
t "100,000 files" both many "more than"
t "a YAML bomb" both yaml-bomb "values.yaml"
t "YAML nested without end" both yaml-deep "values.yaml"
t "a template that includes itself" both includes-itself "a.yaml"
t "tpl of itself" both tpl-itself "a.yaml"
t "a range without end through tpl" both range "steps"
t "output without end" both output "larger than"
t "50 MiB of values" both large-values "values.yaml"
t "values that are no UTF-8" both utf8-values "values.yaml"
t "a template that is no UTF-8" both utf8-template "a.yaml"
t "a file twice" both twice "twice"
t "no Chart.yaml" both no-chart "Chart.yaml is missing"
t "an archive that is cut off" both cut "not a packaged chart"
t "nothing" both empty "not a packaged chart"
t "a page instead of an archive" both page "not a packaged chart"
t "gzip of nothing" both gzip-of-nothing "archive"

folder() { # the same rules hold for a folder
    mkdir -p dir/templates && printf 'apiVersion: v2\nname: bad\nversion: 1.0.0\n' >dir/Chart.yaml
    ln -sf . dir/templates/loop
    refused dir "loop"
}
t "a folder that leads into itself" folder
t "a source that is nowhere" refused nowhere "No such file"
t "a scheme that nobody knows" refused gopher://host/x "recipes cannot be read from"
plan
