#!/bin/sh
# Checks that the machine has what building, running and testing need, and installs missing packages with apt.
#
#   set-up.sh run              what `make run` needs
#   set-up.sh test             the same, and what the tests need
#   set-up.sh interop          the same, and the other servers and clients of `make interop`
#   set-up.sh deb              what `make run` needs, and what `make deb` needs
#   set-up.sh --install PACKAGE...      the part that needs root; the others run it with sudo
#
# If nothing is missing, it prints nothing, uses no network and takes a fraction of a second. Once a day it looks for newer
# time zone rules. It doesn't change existing PostgreSQL clusters, brokers and their configuration.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

say() { printf 'set-up: %s\n' "$*" >&2; }
fail() {
    say "$@"
    exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }
is_debian_like() { has apt-get && has dpkg-query; }
is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# --- The part for root ------------------------------------------------------------------------------------------

apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 "$@" </dev/null
}

# Runs a command, and prints its output only if it fails.
quietly() {
    if output=$("$@" 2>&1); then return 0; fi
    printf '%s\n' "$output" >&2
    return 1
}

# The files have the archive's times. The directory that they are downloaded to has the time of the last update.
lists_are_fresh() {
    [ -n "$(find /var/lib/apt/lists -maxdepth 1 -name '*Packages*' 2>/dev/null | head -n 1)" ] &&
        [ -n "$(find /var/lib/apt/lists/partial -maxdepth 0 -mtime -1 2>/dev/null)" ]
}

# Prints the version of newer time zone rules that apt knows. Prints nothing if the newest are installed.
newer_tzdata() {
    LC_ALL=C apt-cache policy tzdata 2>/dev/null | awk '
        $1 == "Installed:" { installed = $2 }
        $1 == "Candidate:" && $2 != installed && $2 != "(none)" { print $2 }'
}

update_lists() {
    say "fetching apt's package lists"
    quietly apt -o APT::Update::Error-Mode=any update
}

# Debian's server package creates and starts a cluster when it is first installed. This daemon has its own cluster, so a
# settings file prevents that during the installation.
no_main_cluster=/etc/postgresql-common/createcluster.d/zz-letsswitch-set-up.conf

# Debian's packages of RabbitMQ, Prometheus and nginx would start them, now and at boot. The tests start their own broker and
# nginx, and use only a tool of Prometheus. If the administrator has a policy for services, that policy is used instead.
start_policy=/usr/sbin/policy-rc.d

leave_settings() {
    rm -f "$no_main_cluster"
    rmdir "$(dirname "$no_main_cluster")" 2>/dev/null || true
    if [ "${has_start_policy:-}" = ours ]; then rm -f "$start_policy"; fi
    has_start_policy=
}

install_packages() {
    mkdir -p "$(dirname "$no_main_cluster")"
    trap leave_settings EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    printf 'create_main_cluster = false\n' >"$no_main_cluster"
    services=
    for service in rabbitmq-server prometheus nginx-light:nginx; do
        package=${service%:*}
        case " $* " in *" $package "*) is_installed "$package" || services="$services ${service#*:}.service" ;; esac
    done
    if [ -n "$services" ] && [ ! -e "$start_policy" ]; then
        has_start_policy=ours
        printf '#!/bin/sh\nexit 101\n' >"$start_policy"
        chmod 755 "$start_policy"
    fi
    status=0
    quietly apt install --no-install-recommends "$@" || status=$?
    if [ -n "$services" ] && has systemctl; then
        # Unquoted, because each word is one argument.
        # shellcheck disable=SC2086
        systemctl disable $services >/dev/null 2>&1 || true
    fi
    leave_settings
    return "$status"
}

if [ "${1:-}" = --install ]; then
    shift
    [ "$(id -u)" = 0 ] || fail "--install requires root"
    [ $# -gt 0 ] || fail "--install: no packages given"
    if ! lists_are_fresh; then
        update_lists || say "warning: the package lists couldn't be fetched; trying with the existing ones"
        install_packages "$@" || fail "apt-get couldn't install: $*"
    elif ! install_packages "$@"; then
        # The lists may name versions that the archive has replaced since.
        update_lists && install_packages "$@" || fail "apt-get couldn't install: $*"
    fi
    exit 0
fi

if [ "${1:-}" = --refresh-tzdata ]; then
    if ! lists_are_fresh; then
        timeout 60 apt-get -q -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10 \
            -o APT::Update::Error-Mode=any update >/dev/null 2>&1 </dev/null ||
            say "warning: some of apt's package lists couldn't be fetched; the time zone rules (tzdata) may be old"
    fi
    newer=$(newer_tzdata)
    [ -n "$newer" ] || exit 0
    say "updating the time zone rules: tzdata $newer"
    quietly apt install --only-upgrade --no-install-recommends tzdata
    exit 0
fi

# --- What is missing? -------------------------------------------------------------------------------------------

purpose=${1:-run}
with_tests=false
case "$purpose" in
run) ;;
test | interop) with_tests=true ;;
deb) ;;
*) fail "usage: set-up.sh run|test|interop|deb" ;;
esac

if ! has swift; then
    fail "there is no swift in PATH. Let's Switch needs Swift 6.2 or later: https://www.swift.org/install/linux/"
fi
# Swift leaves a directory among the temporary files.
scratch=$(mktemp -d)
swift_works=true
swift_version=$(TMPDIR=$scratch swift --version 2>&1) || swift_works=false
rm -rf "$scratch"
if [ "$swift_works" = false ]; then
    fail "swift --version fails, so the toolchain is incomplete: $swift_version"
fi
# 602 is 6.2.
swift_number=$(printf '%s\n' "$swift_version" |
    sed -n 's/.*Swift version \([0-9][0-9]*\)\.\([0-9][0-9]*\).*/\1 \2/p' | awk 'NR == 1 { print $1 * 100 + $2 }')
if [ "${swift_number:-0}" -lt 602 ]; then
    fail "Swift 6.2 or later is required; the swift in PATH is: $(printf '%s\n' "$swift_version" | head -n 1)"
fi

missing=
need() { # PACKAGE REASON
    missing="$missing $1"
    reasons="${reasons:-}
set-up:   $1: $2"
}

# Looks for files instead of package names, so that a PostgreSQL from another archive or from source is accepted.
has_server() {
    for initdb in /usr/lib/postgresql/*/bin/initdb; do [ -x "$initdb" ] && return 0; done
    has pg_config && [ -x "$(pg_config --bindir)/initdb" ]
}
has_header() { pkg-config --exists "$1" 2>/dev/null; }
# Uses Debian's own Python, which the packages are for and the tests run.
has_module() { /usr/bin/python3 -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$1') is None)" 2>/dev/null; }
has_gem() { [ -x /usr/bin/ruby ] && /usr/bin/ruby -e "gem '$1'" 2>/dev/null; }

has_server || need postgresql "the server, for the daemon's private cluster"
has pkg-config || need pkg-config "to find the C libraries for the build"
has_header libpq || need libpq-dev "PostgreSQL's client library"
has_header openssl || need libssl-dev "OpenSSL, for TLS and the WebSocket handshake"
has_header zlib || need zlib1g-dev "zlib, for compressed WebSocket messages"
# The HTTP client: headers for the build, and the library, which the daemon loads when it has something to send.
has_header libcurl || need libcurl4-openssl-dev "libcurl, for webhooks and push services"
# The client of RabbitMQ, which the daemon loads if a broker is configured.
has_header librabbitmq || need librabbitmq-dev "RabbitMQ's client library"
# The library for QR codes, which the daemon loads for the presenter's page.
has_header libqrencode || need libqrencode-dev "QR codes, for the presenter's page"
[ -e /etc/ssl/certs/ca-certificates.crt ] || need ca-certificates "the certificate authorities that are trusted"
[ -e /usr/share/zoneinfo/Europe/London ] || need tzdata "time zone rules"
has setpriv || need util-linux "setpriv, to run the cluster as an ordinary user"
if [ "$with_tests" = true ]; then
    has openssl || need openssl "certificates and a TLS client for the tests"
    [ -x /usr/sbin/nghttpx ] || need nghttp2-proxy "an independent HTTP/2 server for the tests"
    has curl || need curl "an HTTP client for the tests"
    has_module websockets || need python3-websockets "an independent WebSocket client for the tests"
    has_module ensurepip || need python3-venv "an environment for the packages that the tests install from PyPI"
fi
if [ "$purpose" = deb ]; then
    has dpkg-shlibdeps || need dpkg-dev "to find the packages of the linked libraries"
    has strip || need binutils "to remove symbols from the packages' programs"
    has lintian || need lintian "to check the packages"
fi
if [ "$purpose" = interop ]; then
    [ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || need rabbitmq-server "a broker; the tests run their own"
    has_module pika || need python3-pika "an independent client of RabbitMQ, in Python"
    has_gem bunny || need ruby-bunny "an independent client of RabbitMQ, in Ruby"
    has amqp-publish || need amqp-tools "an independent client of brokers"
    has node || need nodejs "to run an independent client of Action Cable"
    [ -d /usr/share/nodejs/ws ] || need node-ws "WebSockets for that client"
    [ -d /usr/share/nodejs/@rails/actioncable ] || need ruby-actioncable "Rails' own client and server of Action Cable"
    has puma || need puma "the server for Rails' Action Cable"
    [ -x /usr/sbin/nginx ] || need nginx-light "a proxy; the tests run their own"
    has promtool || need prometheus "promtool, to check the metrics and the alert rules"
fi
wanted=
if [ "$with_tests" = true ]; then
    if ! has chromium && ! has chromium-browser && ! has google-chrome; then
        wanted="chromium chromium-sandbox"
        without="the tests of the page are skipped"
    elif is_debian_like && is_installed chromium && ! is_installed chromium-sandbox; then
        # Only recommended by Debian. With it, Chromium runs for ordinary users on systems where they can't create namespaces.
        wanted=chromium-sandbox
        without="the tests of the page run Chromium without its sandbox"
    fi
fi

# --- Install it -------------------------------------------------------------------------------------------------

as_root() {
    if [ "$(id -u)" = 0 ]; then sh "$0" "$@"; else sudo sh "$0" "$@"; fi
}

if [ -n "$missing" ]; then
    if ! is_debian_like; then
        fail "this system is not based on Debian; please install the equivalents of these Debian packages:$missing"
    fi
    # tzdata is included, so that a first set-up has the current rules.
    by_hand="As root, run:  sh $here/set-up.sh --install$missing tzdata${wanted:+ $wanted}"
    if [ "$(id -u)" != 0 ] && ! has sudo; then
        say "missing packages:$missing$reasons"
        fail "the installation requires root, and there is no sudo. $by_hand"
    fi
    say "installing with apt-get:$missing$reasons"
    # Unquoted, because each word is one argument.
    # shellcheck disable=SC2086
    as_root --install $missing tzdata || fail "these packages are required. $by_hand"
    say "done"
fi

# Packages that tests can do without; the tests report that. Tried once a day.
try_to_install() { # WHAT-WITHOUT PACKAGE...
    consequence=$1
    shift
    tried=$root/.build/$1-tried
    if ! is_debian_like || [ "$(find "$tried" -mtime -1 -exec cat {} + 2>/dev/null)" = "$*" ]; then return; fi
    mkdir -p "$root/.build"
    printf '%s' "$*" >"$tried" || true
    if [ "$(id -u)" = 0 ] || { has sudo && sudo -n true 2>/dev/null; }; then
        say "installing with apt-get: $* (a browser for the tests of the page)"
        as_root --install "$@" || say "note: without $*, $consequence"
    else
        say "note: without $*, $consequence; as root, run:  apt-get install --no-install-recommends $*"
    fi
}

if [ "$with_tests" = true ]; then
    # Unquoted, because each word is one argument.
    # shellcheck disable=SC2086
    [ -z "$wanted" ] || try_to_install "$without" $wanted
    # Not every archive has this package.
    has chromium-headless-shell || try_to_install "the tests of the page take longer" chromium-headless-shell
fi

# --- From PyPI ---------------------------------------------------------------------------------------------------

# Installed into an environment in .build. Without them, the tests that need them are skipped and say so.
install_from_pypi() { # NAME PACKAGES
    environment=$root/.build/$1
    [ "$(cat "$environment/packages" 2>/dev/null)" != "$2" ] || return 0
    say "installing from PyPI, in .build/$1: $2"
    # Unquoted, because each word is one argument.
    # shellcheck disable=SC2086
    if quietly /usr/bin/python3 -m venv --clear "$environment" &&
        quietly "$environment/bin/python" -m pip --quiet --disable-pip-version-check --retries 1 --timeout 20 install $2
    then
        printf '%s' "$2" >"$environment/packages"
    else
        say "warning: these packages couldn't be installed; the tests that need them are skipped"
    fi
}

# Independent implementations that read the calendars and decrypt the messages.
[ "$with_tests" = false ] || install_from_pypi python "icalendar==6.3.1 http-ece==1.2.1 py-vapid==1.9.2 PyJWT==2.15.1"
# Clients of Action Cable. The second needs the third without declaring it. Its version 0.3.0 receives nothing
# (ActionCable/CABLE.md).
[ "$purpose" != interop ] ||
    install_from_pypi python-cable "aioactioncable==0.8.1 actioncable-client==0.1.0 websocket-client==1.9.2"
# Readers of the OpenAPI document.
[ "$purpose" != interop ] || install_from_pypi python-openapi "openapi-spec-validator==0.9.0 schemathesis==4.32.5"

# Autobahn's test suite for WebSockets needs Python 2.7, which Debian no longer has. If pyenv has it, the suite is installed into
# a directory in .build.
install_autobahn() { # PACKAGE
    environment=$root/.build/python-autobahn
    [ "$(cat "$environment/packages" 2>/dev/null)" != "$1" ] || return 0
    python=
    # Not pyenv's own python2.7, which needs a selected version.
    for found in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/2.7*/bin/python2.7 /usr/bin/python2.7 /usr/local/bin/python2.7; do
        if [ -x "$found" ]; then python=$found && break; fi
    done
    if [ -z "$python" ]; then
        say "note: there is no Python 2.7 (pyenv install 2.7.18 installs it); the tests with Autobahn are skipped"
        return 0
    fi
    say "installing from PyPI, in .build/python-autobahn: $1"
    rm -rf "$environment"
    mkdir -p "$environment/bin"
    if quietly "$python" -m pip --quiet --disable-pip-version-check --retries 1 --timeout 20 install \
        --target "$environment/lib" "$1"
    then
        # Some packages are spread over several directories, so PYTHONPATH isn't enough.
        cat >"$environment/bin/wstest" <<END
#!/bin/sh
exec "$python" -u -c 'import site; site.addsitedir("$environment/lib"); from autobahntestsuite.wstest import run; run()' "\$@"
END
        chmod 755 "$environment/bin/wstest"
        printf '%s' "$1" >"$environment/packages"
    else
        say "warning: it couldn't be installed; the tests with Autobahn are skipped"
    fi
}
[ "$purpose" != interop ] || install_autobahn "autobahntestsuite==0.8.2"

# --- Time zone rules, once a day --------------------------------------------------------------------------------

# Rules change several times a year, sometimes with a week's notice. A reminder that is an hour off is useless.
stamp=$root/.build/time-zone-rules-checked
if is_debian_like && [ -z "$(find "$stamp" -mtime -1 2>/dev/null)" ]; then
    mkdir -p "$root/.build"
    : >"$stamp" || true
    if [ "$(id -u)" = 0 ] || { has sudo && sudo -n true 2>/dev/null; }; then
        as_root --refresh-tzdata || say "warning: the time zone rules (tzdata) couldn't be updated"
    elif [ -n "$(newer_tzdata)" ]; then
        say "note: newer time zone rules are available; as root, run:  apt-get install --only-upgrade tzdata"
    fi
fi
