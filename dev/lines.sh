#!/bin/sh
# Prints the size of the repository, and of each part that has a budget.
#
#   dev/lines.sh [--strict] [COMMIT]
#
# Sources are the tracked Swift, C, Python and shell files outside of folders called Tests, tests are those inside.
# With --strict, it is an error to be over budget. A commit is measured instead of the working tree.
set -eu
cd "$(dirname "$0")/.."

strict=0 commit=""
for word in "$@"; do
    case $word in
        --strict) strict=1 ;;
        *) commit=$(git rev-parse --verify "$word^{commit}") ;;
    esac
done

# What is measured · what is allowed · whether it is a budget or only an aim. Parts of the sources add up.
table() {
    cat <<END
sources                             108000 budget
tests                                60000 budget
LedgerRules+PurchaseLedger           28000 budget
PurchaseServer                       11300 aim
assay                                 7200 aim
AppStoreSimulator                     9800 aim
PurchaseAPI+PurchaseMessages          4800 aim
Benchmarks                            6500 aim
dev                                   7000 aim
files                                  250 budget
words                                70000 budget
END
}

# FILE:LINES of each file, in the working tree or the commit.
counts() {
    # shellcheck disable=SC2086
    git grep -c '' $commit -- '*.swift' '*.c' '*.h' '*.cc' '*.py' '*.sh' | sed "${commit:+s/^$commit://}"
}

{
    table | sed 's/^/budget /'
    # shellcheck disable=SC2086
    echo "words $(git grep -h '' $commit -- README.md 'docs/*.md' | wc -w)"
    counts | tr : ' '
} | awk -v strict="$strict" '
    $1 == "budget" { order[++rows] = $2; allowed[$2] = $3; is_aim[$2] = $4 == "aim"; next }
    $1 == "words" { measured["words"] = $2; next }
    {
        parts = split($1, part, "/"); at = 1; is_test = 0
        for (place = 1; place < parts; place++) if (part[place] == "Tests") is_test = 1
        # Sources/MODULE/FOLDER/…, Server/Sources/MODULE/FOLDER/…, Server/Tests/SUITE/…; other folders at the root are modules too.
        for (place = 1; place < parts; place++) if (is_test ? part[place] == "Tests" : part[place] == "Sources" && part[1] ~ /^S(erver|ources)$/)
            at = is_test ? place : place + 1
        module = parts == 1 ? "." : is_test && at > 1 ? part[1] "/Tests" : part[at]
        folder = at + 1 < parts ? part[at + 1] : "."
        if (!((module, folder) in inside)) folders_of[module] = folders_of[module] " " folder
        inside[module, folder] += $2
        lines[module] += $2
        tests_of[module] = is_test
        measured[is_test ? "tests" : "sources"] += $2
        if ($1 ~ /\.swift$/) { swift++; if ($2 < 40) measured["files"]++ }
    }
    # The folders of a module, the largest first.
    function folders(module, count, name, place, next_, kept, text) {
        count = split(folders_of[module], name, " ")
        for (place = 1; place <= count; place++) {
            for (next_ = place + 1; next_ <= count; next_++) if (inside[module, name[next_]] > inside[module, name[place]]) {
                kept = name[place]; name[place] = name[next_]; name[next_] = kept
            }
            text = text (place > 1 ? ", " : "") name[place] " " inside[module, name[place]]
        }
        return count > 1 ? ": " text : ""
    }
    END {
        for (kind = 0; kind < 2; kind++) {
            print kind ? "\ntests, lines" : "sources, lines"
            fflush()
            for (module in lines) if (tests_of[module] == kind) printf "%8d %s%s\n", lines[module], module, folders(module) | "sort -nr"
            close("sort -nr")
        }
        printf "\n%-34s %8s %8s\n", "", "now", "allowed"
        for (row = 1; row <= rows; row++) {
            what = order[row]
            count = what in measured ? 0 : split(what, name, "+")
            for (place = 1; place <= count; place++) measured[what] += lines[name[place]]
            is_over = measured[what] > allowed[what]
            over += is_over && !is_aim[what]
            label = what == "files" ? "Swift files under 40 lines" : what == "words" ? "words of README and docs" : what
            printf "%-34s %8d %8d%s%s\n", label, measured[what], allowed[what], is_aim[what] ? " (aim)" : "", is_over ? "  over" : ""
        }
        printf "%-34s %8d\n", "Swift files", swift
        if (over) printf "lines: %d budgets are exceeded%s\n", over, strict ? "" : " (an error with --strict)"
        exit strict && over ? 1 : 0
    }'
