# hack/house.py and hack/map.py on the tree, and on a small one with a fault of each kind planted:
# each is one line, which says where and what.
. test/tap.sh
tree=$tap_dir/tree

grow() { # the small tree: two districts, the upper one with a folder inside
    rm -rf "$tree"
    mkdir -p "$tree/src/low/part" "$tree/src/high/inner" "$tree/src/roof" "$tree/docs"
    cat >"$tree/src/modules.txt" <<'T'
# module | public headers | libraries | purpose
low/part | part.h | | what low is made of
low | low.h | | the ground floor
high/inner | inner.h | | the inside
high | high.h core.h- | | the roof
roof | | | above the roof
T
    printf '#pragma once\n/* part: a piece */\n' >"$tree/src/low/part/part.h"
    printf '#pragma once\n/* low: the ground floor */\n#include "low/part/part.h"\n' >"$tree/src/low/low.h"
    printf '#pragma once\nint low_hidden;\n' >"$tree/src/low/hidden.h"
    printf '#include "low/low.h"\n#include "low/hidden.h"\n' >"$tree/src/low/low.c"
    printf '#pragma once\n/* inner: the inside */\n' >"$tree/src/high/inner/inner.h"
    printf '#pragma once\n/* core: for the inside */\n' >"$tree/src/high/core.h"
    printf '#include "high/high.h"\n' >"$tree/src/roof/roof.c"
    printf '#include "high/inner/inner.h"\n#include "high/core.h"\n#include "high/high.h"\n#include "low/low.h"\n' >"$tree/src/high/inner/inner.c"
    printf '#pragma once\n/* high: the roof */\n' >"$tree/src/high/high.h"
    printf '#include "high/high.h"\n#include "high/inner/inner.h"\n' >"$tree/src/high/high.c"
    printf '# Map\n\n## low\n\n- `low`\n- `low/part`\n\n## high\n\n- `high`\n- `high/inner`\n\n## roof\n\n- `roof`\n' >"$tree/docs/architecture.md"
}
house() { (cd "$tree" && python3 "$OLDPWD/hack/house.py"); }
fails() { # LINE: the small tree has this fault and no other
    local got
    if got=$(house); then
        echo "passed: $got"
        return 1
    fi
    diff <(echo "$1") <(echo "$got")
}

upward() { # from a folder that no other one uses
    mkdir "$tree/src/low/new" && echo '#include "high/high.h"' >"$tree/src/low/new/new.c"
    sed -i '2i low/new | | | something new' "$tree/src/modules.txt"
    sed -i 's/^- `low`$/&\n- `low\/new`/' "$tree/docs/architecture.md"
    fails "src/low/new/new.c: includes high/high.h: high is on a floor above low/new"
}
past() {
    echo '#include "low/hidden.h"' >>"$tree/src/high/high.c"
    fails "src/high/high.c: includes low/hidden.h, which low does not make public"
}
into_the_house() {
    echo '#include "high/core.h"' >>"$tree/src/roof/roof.c"
    fails "src/roof/roof.c: includes high/core.h, which is for high alone"
}
through_the_face() {
    echo '#include "high/inner/inner.h"' >>"$tree/src/high/high.h"
    fails "src/high/inner/inner.c: includes high/high.h, which includes high/inner/inner.h of this folder: a circle of modules"
}
of_modules() {
    echo '#include "high/high.h"' >>"$tree/src/low/low.c"
    fails "src/low/low.c: includes high/high.h: a circle of modules: high, high/inner, low"
}
of_files() {
    echo '#include "low/hidden.h"' >>"$tree/src/low/more.h"
    echo '#include "low/more.h"' >>"$tree/src/low/hidden.h"
    fails "circle of files: low/hidden.h, low/more.h"
}
no_row() {
    mkdir "$tree/src/low/new" && touch "$tree/src/low/new/new.c"
    fails "src/low/new: no row in src/modules.txt says what this folder is for"
}
no_purpose() {
    sed -i 's/| the ground floor$/|/' "$tree/src/modules.txt"
    fails "src/modules.txt:3: low has no purpose"
}
no_folder() {
    rm -r "$tree/src/high/inner" && sed -i '/inner/d' "$tree/src/high/high.c"
    fails "src/modules.txt: high/inner has a row and no source file"
}
no_header() {
    sed -i 's/| low\.h |/| low.h other.h |/' "$tree/src/modules.txt"
    fails "src/modules.txt: low/other.h is public and not there"
}
no_beginning() {
    sed -i 2d "$tree/src/high/high.h"
    fails "src/high/high.h:1: does not begin with what it is for: #pragma once, then a comment"
}
not_public() {
    echo '#include "low/hidden.h"' >>"$tree/src/low/low.h"
    fails "src/low/low.h: public, and includes low/hidden.h, which is not"
}
no_district() {
    sed -i '/^## high/,/^- `high\/inner/d' "$tree/docs/architecture.md"
    fails "docs/architecture.md: no heading for the district high"
}
no_module() {
    sed -i '/high\/inner/d' "$tree/docs/architecture.md"
    fails "docs/architecture.md: the module \`high/inner\` is not under the heading high"
}

# ---- the picture

picture() {
    cat >"$tree/docs/architecture.map" <<'T'
floor
house roof
  .
floor
house high
  . inner
floor
house low
  . part
way red From the roof to the ground
  high: begins
  low/part: ends
T
    (cd "$tree" && python3 "$OLDPWD/hack/map.py")
}
check_picture() { (cd "$tree" && python3 "$OLDPWD/hack/map.py" --check); }
picture_fails() { # LINE
    local got
    if got=$(check_picture); then return 1; fi
    diff <(echo "$1") <(echo "$got")
}
is_drawn() {
    picture && check_picture && python3 - "$tree/docs/architecture.svg" <<'P'
import sys, xml.dom.minidom
text = " ".join(t.firstChild.data for t in xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName("text"))
sys.exit(not all(w in text.split() for w in ("high", "inner", "low", "part")))
P
}
is_old() {
    picture && sed -i s/begins/goes/ "$tree/docs/architecture.map"
    picture_fails "docs/architecture.svg is not what docs/architecture.map gives: make map"
}
lacks_a_module() {
    picture && sed -i 's/ part$//; /low\/part/d' "$tree/docs/architecture.map"
    picture_fails "docs/architecture.map: the module low/part is not on the map"
}

t "the tree keeps the house's rules" python3 hack/house.py
t "the committed map is what its text gives, with every module" python3 hack/map.py --check
grow
t "a small tree that keeps them" house
while read -r plant name; do
    grow
    t "$name" "$plant"
done <<'T'
upward an include from a floor above
past an include past a public header
into_the_house an include of a header that is for its own house
through_the_face a circle of modules, through the public header of the folder around
of_modules a circle of modules
of_files a circle of files
no_row a folder without a row
no_purpose a row without a purpose
no_folder a row without a folder
no_header a public header that is not there
no_beginning a public header that does not say what it is for
not_public a public header that includes one that is not
no_district a district that the map has not
no_module a module that the map has not
is_drawn a map is drawn with all modules
is_old a picture older than its text
lacks_a_module a picture without a module
T
plan
