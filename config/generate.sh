#!/bin/sh
# Writes the files that are made from others; with --check, fails where one differs from what would be written.
set -eu
cd "$(dirname "$0")/.."

CHART_CRDS=charts/tokenkeep/files/crds
HEALTH=config/argocd/health.lua
KINDS='AccessRule Application Reactor Tenant'

commands_page() {
  echo '# Commands'
  echo
  echo 'Made by `make generate` from `tokenkeep --help`.'
  for role in '' standalone api operator migrate status 'keys status' 'keys rotate' 'keys rewrap' 'keys import' 'audit verify'; do
    printf '\n## tokenkeep %s\n\n```\n' "$role" | sed 's/ $//'
    # shellcheck disable=SC2086 # the first role is no argument at all, others are two
    node src/cli/tokenkeep.js $role --help
    echo '```'
  done
  for command in '' status tokenize detokenize 'reactor invoke' 'reactor logs' 'keys status' 'keys rotate' \
    'keys rewrap' 'audit verify' report; do
    printf '\n## kubectl tokenkeep %s\n\n```\n' "$command" | sed 's/ $//'
    # shellcheck disable=SC2086 # as above
    node src/cli/kubectl-tokenkeep.js $command --help
    echo '```'
  done
}

# A patch for the settings of an Argo CD: kubectl patch configmap argocd-cm --patch-file
argocd_settings() {
  echo '# Made by `make generate` from health.lua.'
  echo 'data:'
  for kind in $KINDS; do
    echo "  resource.customizations.health.tokenkeep.dev_$kind: |"
    sed 's/^\(.\)/    \1/' "$HEALTH"
  done
}

# All definitions in one file.
crd_bundle() {
  echo '# Made by `make generate` from crds/: kubectl apply --server-side -f config/crds.yaml'
  for definition in crds/*.yaml; do
    echo ---
    cat "$definition"
  done
}

# Takes the file to write; what is to stand there comes from standard input.
put() {
  if ! [ "$check" ]; then
    mkdir -p "$(dirname "$1")"
    cat > "$1"
  elif ! diff -Nu "$1" - >&2; then
    echo "$1 is out of date: run \`make generate\`" >&2
    stale=yes
  fi
}

check='' stale=''
if [ "${1-}" = --check ]; then check=yes; fi
made=$(mktemp)
trap 'rm -f "$made"' EXIT

commands_page > "$made"
put docs/commands.md < "$made"
for definition in crds/*.yaml; do put "$CHART_CRDS/$(basename "$definition")" < "$definition"; done
for kind in $KINDS; do put "config/argocd/resource_customizations/tokenkeep.dev/$kind/health.lua" < "$HEALTH"; done
argocd_settings > "$made"
put config/argocd/argocd-cm-patch.yaml < "$made"
crd_bundle > "$made"
put config/crds.yaml < "$made"
node config/chart/readme.ts > "$made"
put charts/tokenkeep/README.md < "$made"
node config/custom-resources/main.ts > "$made"
put docs/custom-resources.md < "$made"
node config/dashboard/main.ts > "$made"
put charts/tokenkeep/files/dashboards/tokenkeep.json < "$made"

if [ "$stale" ]; then exit 1; fi
