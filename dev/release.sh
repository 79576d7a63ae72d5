#!/bin/sh
# Builds what a release has, for the architecture of this machine, in .build-release/dist (docs/operations.md, "From source").
#
#   dev/release.sh                 all parts
#   dev/release.sh program         the program, stripped, with Swift's libraries inside; the list of what is linked, and its licences
#   dev/release.sh help            man pages, and completions for bash, zsh and fish
#   dev/release.sh archive         assay-VERSION-linux-ARCHITECTURE.tar.xz
#   dev/release.sh package         assay_VERSION_ARCHITECTURE.deb
#   dev/release.sh sums            SHA256SUMS of both and of the list
#
# It needs Linux; the package needs Debian. ASSAY_RELEASE_SCRATCH names another folder for the build, and ASSAY_BUILD_OPTIONS more
# options of swift build.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

[ "$(uname)" = Linux ] || fail "a release is built on Linux"
scratch=${ASSAY_RELEASE_SCRATCH:-.build-release}
dist=.build-release/dist
stage=.build-release/stage
version=$(sed -nE 's/.*static let version = "(.*)"/\1/p' Server/Sources/assay/Assay.swift)
[ -n "$version" ] || fail "Assay.swift has no version"
architecture=$(uname -m)
mkdir -p "$dist"

commit() { git rev-parse --short=12 HEAD 2>/dev/null || echo unknown; }
# The date of the commit, so that the same commit gives the same files.
date_of_commit() { git show -s --format=%cs HEAD 2>/dev/null || date -u +%Y-%m-%d; }

build_program() {
    # SwiftPM drops sections that nothing uses. The toolchain's own arguments export every symbol, which nobody looks up: without
    # that, 108 MB become 101 MB.
    # shellcheck disable=SC2086
    swift build -c release --static-swift-stdlib --package-path Server --scratch-path "$scratch" --disable-build-manifest-caching \
        --product assay --disable-local-rpath -Xlinker --no-export-dynamic ${ASSAY_BUILD_OPTIONS:-}
    if [ -n "$(find "$scratch/release/" -maxdepth 1 -name 'assay-server_*.resources')" ]; then
        fail "the program has a folder of resources beside it; embed them with the plugin EmbedFiles"
    fi
    strip --strip-all -o "$dist/assay.new" "$scratch/release/assay"
    mv "$dist/assay.new" "$dist/assay"
    if readelf -d "$dist/assay" | grep -E 'NEEDED.*(swift|Foundation|dispatch|BlocksRuntime)|RUNPATH'; then
        fail "the program needs libraries of Swift"
    fi
    python3 dev/release/bom.py "$scratch" "$dist/assay" "$dist" "$version" "$(commit)" "$(date_of_commit)"
    say "program: $(stat -c %s "$dist/assay") bytes, $("$dist/assay" --version)"
}

write_help() {
    rm -rf "$stage/share"
    mkdir -p "$stage/share/bash-completion/completions" "$stage/share/zsh/vendor-completions" "$stage/share/fish/vendor_completions.d"
    # It is sourced, so it needs no line for the kernel.
    "$dist/assay" --generate-completion-script bash | sed '1{/^#!/d}' >"$stage/share/bash-completion/completions/assay"
    "$dist/assay" --generate-completion-script zsh >"$stage/share/zsh/vendor-completions/_assay"
    "$dist/assay" --generate-completion-script fish >"$stage/share/fish/vendor_completions.d/assay.fish"
    python3 dev/release/man_pages.py "$dist/assay" "$stage/share/man/man1" "$(date_of_commit)" "$version"
}

# The shared libraries of the program, as dpkg-shlibdeps finds them; "libc6 (>= 2.34), …".
shared_packages() {
    rm -rf "$stage/shlibdeps"
    mkdir -p "$stage/shlibdeps/debian"
    printf 'Source: assay\n\nPackage: assay\nArchitecture: any\n' >"$stage/shlibdeps/debian/control"
    (cd "$stage/shlibdeps" && dpkg-shlibdeps -O "$OLDPWD/$dist/assay" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
}

write_archive() {
    has dpkg-shlibdeps || install_packages dpkg-dev || fail "dpkg-shlibdeps is missing; install dpkg-dev"
    name=assay-$version-linux-$architecture
    root=$stage/$name
    rm -rf "$root"
    mkdir -p "$root/bin" "$root/etc" "$root/lib" "$root/systemd" "$root/examples" "$root/doc"
    cp "$dist/assay" "$root/bin/"
    cp deploy/assay.yaml "$root/etc/"
    cp deploy/backup.sh "$root/lib/backup"
    cp deploy/systemd/* "$root/systemd/"
    cp deploy/Caddyfile deploy/nginx.conf deploy/monitoring/alerts.yml deploy/monitoring/dashboard.json "$root/examples/"
    cp docs/operations.md docs/running.md docs/settings.md docs/operators.md docs/purchase-server.md docs/compatibility.md CHANGELOG.md "$root/doc/"
    cp LICENSE "$dist/third-party-licenses.txt" "$dist/bom.cdx.json" "$root/"
    cp -r "$stage/share" "$root/share"
    needed=$(readelf -d "$dist/assay" | sed -nE 's/.*NEEDED.*\[(.*)\]/\1/p' | grep -v '^ld-linux' | sort)
    packages=$(shared_packages)
    [ -n "$packages" ] || fail "dpkg-shlibdeps found no packages"
    libraries=""
    for library in $needed; do
        place=$(ldd "$dist/assay" | awk -v name="$library" '$1 == name { print $3 }')
        owner=$(dpkg-query -S "*/$library" | sed -nE 's/^([^:, ]+).*/\1/p' | grep -v -- '-dev$' | head -n 1)
        least=$(printf '%s\n' "$packages" | tr ',' '\n' | sed -nE "s/^ *$owner( \\((.*)\\))?\$/$owner \\2/p" | head -n 1)
        [ -n "$place" ] && [ -n "$owner" ] || fail "no package has $library"
        libraries="$libraries| \`$library\` | ${least:-$owner} |
"
    done
    VERSION=$version ARCHITECTURE=$architecture COMMIT=$(commit) LIBRARIES=$libraries python3 - "$root/README.md" <<'PYTHON'
import os, pathlib, sys
text = pathlib.Path("deploy/archive/README.md").read_text()
for name in ("VERSION", "ARCHITECTURE", "COMMIT", "LIBRARIES"):
    text = text.replace(f"@{name}@", os.environ[name].rstrip("\n"))
pathlib.Path(sys.argv[1]).write_text(text)
PYTHON
    find "$root" -type d -exec chmod 755 {} +
    find "$root" -type f -exec chmod 644 {} +
    chmod 755 "$root/bin/assay" "$root/lib/backup"
    tar --directory "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="$(date_of_commit) 00:00:00Z" \
        --create --file - "$name" | xz -T0 -6 >"$dist/$name.tar.xz.new"
    mv "$dist/$name.tar.xz.new" "$dist/$name.tar.xz"
    say "archive: $(stat -c %s "$dist/$name.tar.xz") bytes"
}

write_package() {
    has dpkg-buildpackage && has dh || install_packages dpkg-dev debhelper || fail "debhelper is missing; the package needs Debian"
    tree=$stage/debian-tree
    rm -rf "$tree"
    mkdir -p "$tree"
    cp -r deploy/debian "$tree/debian"
    cp -r "$stage/share" "$tree/share"
    cp "$dist/assay" "$dist/third-party-licenses.txt" "$dist/bom.cdx.json" deploy/assay.yaml deploy/Caddyfile deploy/nginx.conf deploy/monitoring/alerts.yml deploy/monitoring/dashboard.json \
        docs/operations.md docs/running.md docs/settings.md docs/operators.md docs/purchase-server.md docs/compatibility.md CHANGELOG.md "$tree/"
    cp deploy/backup.sh "$tree/backup"
    cp deploy/systemd/assay.service "$tree/debian/assay.service"
    cp deploy/systemd/assay-backup.service "$tree/debian/assay.assay-backup.service"
    cp deploy/systemd/assay-backup.timer "$tree/debian/assay.assay-backup.timer"
    SOURCE_DATE_EPOCH=$(date -u -d "$(date_of_commit)" +%s)
    export SOURCE_DATE_EPOCH
    printf 'assay (%s) stable; urgency=medium\n\n  * See changelog.gz, the list of changes of the program.\n\n -- Assay maintainers <assay@example.org>  %s\n' \
        "$version" "$(LC_ALL=C date -u -R -d "$(date_of_commit)")" >"$tree/debian/changelog"
    python3 dev/release/copyright.py "$dist/bom.cdx.json" >"$tree/debian/copyright"
    chmod +x "$tree/debian/rules"
    # The files are given, so only the binary package is built.
    (cd "$tree" && dpkg-buildpackage --build=binary --unsigned-source --unsigned-changes --no-check-builddeps) \
        >"$stage/package.log" 2>&1 || { tail -n 40 "$stage/package.log" >&2; fail "the package was not built"; }
    package=assay_${version}_$(dpkg --print-architecture).deb
    mv "$stage/$package" "$dist/$package"
    say "package: $(stat -c %s "$dist/$package") bytes"
}

write_sums() {
    (
        cd "$dist"
        rm -f SHA256SUMS
        for file in *.tar.xz *.deb bom.cdx.json; do
            [ ! -e "$file" ] || sha256sum "$file" >>SHA256SUMS
        done
        cat SHA256SUMS
    )
}

[ $# -gt 0 ] || set -- program help archive package sums
for part in "$@"; do
    say "== $part"
    case $part in
        program) build_program ;;
        help) write_help ;;
        archive) write_archive ;;
        package) write_package ;;
        sums) write_sums ;;
        *) fail "there is no part $part" ;;
    esac
done
