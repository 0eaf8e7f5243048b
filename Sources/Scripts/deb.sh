#!/bin/sh
# Creates Debian packages from the files that `make install-daemon` and `make install-command` have installed in a directory.
#
#   deb.sh DIRECTORY      contains letsswitchd/ and letsswitch/; the packages are written beside them
#
# Doesn't use debhelper, so this script shows all steps.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
sources=$(dirname "$here")
directory=$(cd "$1" && pwd)
maintainer=${DEB_MAINTAINER:-Let\'s Switch <letsswitch@users.noreply.github.com>}

number=$(grep -rhs 'static let number = "' "$sources" --include=ProductVersion.swift | sed 's/.*"\(.*\)".*/\1/')
# The package of each commit is newer than that of the previous commit.
commits=$(git -C "$sources" rev-list --count HEAD 2>/dev/null || true)
version=$number${commits:++$commits}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$sources" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
architecture=$(dpkg --print-architecture)

# Prints the packages of the libraries that a program is linked to, with their minimum versions.
dependencies() { # PROGRAM
    scratch=$(mktemp -d)
    mkdir "$scratch/debian"
    printf 'Source: letsswitch\n\nPackage: letsswitch\nArchitecture: any\n' >"$scratch/debian/control"
    (cd "$scratch" && dpkg-shlibdeps -O "$1" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
    rm -rf "$scratch"
}

package() { # NAME
    root=$directory/$1
    strip --strip-unneeded --remove-section=.comment --remove-section=.note "$root/usr/bin/$1"
    find "$root/usr/share/man" -type f ! -name '*.gz' -exec gzip -9n {} +

    documents=$root/usr/share/doc/$1
    install -d "$documents"
    install -m 644 "$here/copyright" "$documents/copyright"
    printf 'letsswitch (%s) unstable; urgency=medium\n\n  * Commit %s.\n\n -- %s  %s\n' "$version" \
        "$(git -C "$sources" rev-parse --short HEAD 2>/dev/null || echo unknown)" "$maintainer" \
        "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$documents/changelog.gz"
    chmod 644 "$documents/changelog.gz"

    install -d "$root/DEBIAN"
    if [ -d "$root/etc" ]; then (cd "$root" && find etc -type f | sed 's|^|/|') >"$root/DEBIAN/conffiles"; fi
    for script in postinst prerm postrm; do
        [ ! -f "$sources/Programs/$1/debian/$script" ] || install -m 755 "$sources/Programs/$1/debian/$script" "$root/DEBIAN/$script"
    done
    if [ -f "$sources/Programs/$1/debian/lintian-overrides" ]; then
        install -D -m 644 "$sources/Programs/$1/debian/lintian-overrides" "$root/usr/share/lintian/overrides/$1"
    fi
    size=$(du -k -s --apparent-size --exclude=DEBIAN "$root" | cut -f 1)
    sed -e "s|@VERSION@|$version|" -e "s|@ARCHITECTURE@|$architecture|" -e "s|@MAINTAINER@|$maintainer|" \
        -e "s|@SIZE@|$size|" -e "s|@DEPENDS@|$(dependencies "$root/usr/bin/$1")|" "$sources/Programs/$1/debian/control" \
        >"$root/DEBIAN/control"
    (cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    chmod 644 "$root/DEBIAN/md5sums" "$root/DEBIAN/control"
    dpkg-deb --root-owner-group -Zxz --build "$root" "$directory/$1_${version}_$architecture.deb"
}

package letsswitchd
package letsswitch
