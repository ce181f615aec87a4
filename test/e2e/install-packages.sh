#!/bin/sh
# What a node of Kubernetes and its images are made of, from Debian. Does nothing where all of it is there. Ends with
# code 3 on a machine that cannot have it.
set -eu

packages='containerd runc containernetworking-plugins iptables conntrack ipset iproute2 util-linux tini buildah mmdebstrap busybox-static'

refuse() {
  echo "$1" >&2
  exit 3
}

[ "$(uname -s)" = Linux ] || refuse "a node of Kubernetes needs Linux, this is $(uname -s)."
[ "$(id -u)" = 0 ] || refuse 'a node of Kubernetes needs root; run it as root on a machine that is for tests.'
command -v apt-get > /dev/null && command -v dpkg-query > /dev/null ||
  refuse "it needs Debian's packages, and there is no apt-get."

missing=''
for package in $packages; do
  dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2> /dev/null | grep -qx installed ||
    missing="$missing $package"
done
[ -z "$missing" ] && exit 0

echo "Installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
# policy-rc.d: what is installed must not start a containerd of its own.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' > "$policy"
  chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi
apt-get update -qq
# shellcheck disable=SC2086 -- a list
apt-get install -qq -y --no-install-recommends $missing > /dev/null
