#!/bin/sh
# Starts Postgres by the conventions of the image docker.io/library/postgres, which charts go by: POSTGRES_USER,
# POSTGRES_PASSWORD, POSTGRES_DB, POSTGRES_HOST_AUTH_METHOD, PGDATA, and the .sql files of /docker-entrypoint-initdb.d.
set -eu

# What is no `postgres …` is run as it is.
if [ "$#" -gt 0 ] && [ "$1" != postgres ]; then exec "$@"; fi
[ "$#" -eq 0 ] || shift

user=${POSTGRES_USER:-postgres}
database=${POSTGRES_DB:-$user}
export PGDATA="${PGDATA:-/var/lib/postgresql/data}"
run=/var/run/postgresql

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  method=${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}
  if [ -n "${POSTGRES_PASSWORD:-}" ]; then
    printf '%s\n' "$POSTGRES_PASSWORD" > /tmp/password
    initdb --username="$user" --auth-local=trust --auth-host="$method" --pwfile=/tmp/password > /dev/null
    rm /tmp/password
  else
    [ "$method" = trust ] || { echo 'POSTGRES_PASSWORD must be given' >&2; exit 1; }
    initdb --username="$user" --auth-local=trust --auth-host=trust > /dev/null
  fi
  echo "host all all all $method" >> "$PGDATA/pg_hba.conf"
  pg_ctl --silent --wait -o "-c listen_addresses= -k $run" start
  [ "$database" = postgres ] || createdb --host="$run" --username="$user" "$database"
  for file in /docker-entrypoint-initdb.d/*.sql; do
    [ -e "$file" ] || continue
    psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --host="$run" --username="$user" --dbname="$database" --file="$file"
  done
  pg_ctl --silent --wait -m fast stop
fi
exec postgres -c listen_addresses='*' -k "$run" "$@"
