#!/bin/sh
# Writes docs/commands.md from the program's own --help; with --check, fails where the file differs from that.
set -eu
cd "$(dirname "$0")/.."

commands_page() {
  echo '# Commands'
  echo
  echo 'Made by `make generate` from `tokenkeep --help`.'
  for role in '' standalone migrate status 'keys status' 'keys rotate' 'keys rewrap' 'keys import' 'audit verify'; do
    printf '\n## tokenkeep %s\n\n```\n' "$role" | sed 's/ $//'
    # shellcheck disable=SC2086 # the first role is no argument at all, others are two
    node src/cli/tokenkeep.js $role --help
    echo '```'
  done
}

if [ "${1-}" = --check ]; then
  if ! commands_page | diff -u docs/commands.md - >&2; then
    echo 'docs/commands.md is out of date: run `make generate`' >&2
    exit 1
  fi
else
  commands_page > docs/commands.md
fi
