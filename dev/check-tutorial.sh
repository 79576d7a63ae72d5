#!/bin/sh
# Runs the tutorials as a new user would: the shell blocks of each document in order, in one shell, in an empty folder.
#
#   dev/check-tutorial.sh [FOLDER OF THE PROGRAM [DOCUMENT…]]
#
# A block "```sh" holds commands. A block "```text" below it states their output: each of its lines must occur in that order
# among the lines of the output. In a stated line, "…" stands for any text; a line "…" alone, for any lines. The script
# fails if a command fails or a stated line is missing, or after ten minutes. The tutorials use the ports 8000, 8080 and
# 8090, which must be free.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

find_program "${1:-}"
[ $# -eq 0 ] || shift
if [ $# -eq 0 ]; then
    set -- docs/tutorial.md
    # The tutorial of the app's side builds the stand-in for StoreKit, which is for systems without StoreKit.
    if [ "$(uname)" = Linux ]; then set -- "$@" docs/app.md; else say "docs/app.md is not run: it needs Linux"; fi
fi
for port in 8000 8080 8090; do
    if python3 -c "import socket; socket.create_connection(('127.0.0.1', $port), 2)" 2>/dev/null; then
        fail "port $port is in use, and the tutorials need it; stop the program that listens on it"
    fi
done
make_temporary_folder tutorial
repository=$PWD
limit=""
if has timeout; then limit="timeout 600"; fi

# Writes the blocks of a document to a folder: NUMBER.sh, NUMBER.stated, and run.sh, which runs them.
#
#   write_blocks DOCUMENT FOLDER
write_blocks() {
    python3 - "$1" "$2" <<'PYTHON'
import pathlib, re, sys
text, folder = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
blocks = re.findall(r"^```(sh|text)\n(.*?)^```$", text, re.M | re.S)
steps = []
for kind, content in blocks:
    if kind == "sh":
        steps.append([content, ""])
    elif steps:
        steps[-1][1] += content
if not steps:
    sys.exit(f"{sys.argv[1]} has no shell blocks")
for number, (commands, output) in enumerate(steps, 1):
    (folder / f"{number:02}.sh").write_text(commands)
    (folder / f"{number:02}.stated").write_text(output)
run = ["set -eu"]
for number in range(1, len(steps) + 1):
    run.append(f'echo {number:02} >"$steps/at"; . "$steps/{number:02}.sh" >"$steps/{number:02}.output" 2>&1 </dev/null')
(folder / "run.sh").write_text("\n".join(run) + "\n")
PYTHON
}

# Compares the output of the blocks with the stated lines.
#
#   compare DOCUMENT FOLDER
compare() {
    python3 - "$1" "$2" <<'PYTHON'
import pathlib, re, sys
document, folder, missing = sys.argv[1], pathlib.Path(sys.argv[2]), []
lines = 0
for stated in sorted(folder.glob("*.stated")):
    output = stated.with_suffix(".output").read_text().splitlines()
    place = 0
    for line in stated.read_text().splitlines():
        if line.strip() in ("", "…"):
            continue
        lines += 1
        pattern = ".*".join(re.escape(part) for part in line.rstrip().split("…"))
        found = next((at for at in range(place, len(output)) if re.fullmatch(pattern, output[at].rstrip())), None)
        if found is None:
            missing.append(f"block {stated.stem} does not print: {line}\n" + "\n".join("    " + text for text in output))
            break
        place = found + 1
if missing:
    sys.exit(f"{document}:\n" + "\n".join(missing))
print(f"{document}: {len(list(folder.glob('*.stated')))} blocks run, {lines} stated lines printed")
PYTHON
}

for document; do
    steps=$folder/$(basename "$document" .md)
    mkdir "$steps" "$steps/empty"
    write_blocks "$document" "$steps"
    status=0
    (
        cd "$steps/empty"
        # The processes that the tutorial starts end with the shell that runs it, whatever happens.
        # shellcheck disable=SC2016,SC2086
        PATH="$(dirname "$program"):$PATH" ASSAY_REPOSITORY="$repository" steps="$steps" $limit sh -c '
            trap "set +e; for process in \$(jobs -p); do kill \$process 2>/dev/null; done; wait" EXIT
            trap "exit 143" TERM
            . "$steps/run.sh"'
    ) >"$steps/outside" 2>&1 || status=$?
    step=$(cat "$steps/at")
    if [ "$status" -ne 0 ]; then
        fail "$document: a command of block $step failed:
$(cat "$steps/$step.sh")
$(cat "$steps/$step.output" "$steps/outside")"
    fi
    compare "$document" "$steps"
done
