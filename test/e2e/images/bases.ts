import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { debianTree } from './debian.ts';
import { localName, type ImageStore } from './store.ts';

const run = promisify(execFile);

/** Which installs and builds within the image. */
const NPM_VERSION = '11.19.1';
/** Whom this machine trusts, where npm's registry is reached through somebody who reads along. */
const TRUSTED = '/etc/ssl/certs/ca-certificates.crt';

/** Names of images. */
export interface BaseImages {
  /** Has Node and npm. */
  readonly build: string;
  /** Like distroless `cc`: the C and C++ libraries, time zones, certificates; no shell, no user. */
  readonly base: string;
}

/** Stands in for the images that the Dockerfile names, where no registry can be reached. */
export async function baseImages(store: ImageStore): Promise<BaseImages> {
  const small = await debianTree(store, {
    name: 'base',
    variant: 'extract',
    packages: ['base-files', 'libc6', 'libgcc-s1', 'libstdc++6', 'ca-certificates', 'tzdata', 'netbase'],
  });
  const base = localName('base', small.version);
  if (!(await store.has(base))) await store.assemble(base, { parts: [{ from: small.file, to: '/' }] });

  const large = await debianTree(store, {
    name: 'build',
    variant: 'minbase',
    packages: ['ca-certificates', 'libstdc++6'],
  });
  const { version: node } = process;
  const build = localName('build', `${large.version}-node${node}-npm${NPM_VERSION}`);
  if (!(await store.has(build))) await assembleBuildImage(store, build, large.file);
  return { build, base };
}

async function assembleBuildImage(store: ImageStore, image: string, tree: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-e2e-npm-'));
  try {
    const npm = join(folder, 'local/lib/node_modules/npm');
    await mkdir(npm, { recursive: true });
    await mkdir(join(folder, 'local/bin'));
    await run('npm', ['pack', '--silent', `npm@${NPM_VERSION}`, '--pack-destination', folder]);
    await run('tar', ['-xzf', join(folder, `npm-${NPM_VERSION}.tgz`), '-C', npm, '--strip-components=1']);
    await chmod(join(npm, 'bin/npm-cli.js'), 0o755);
    await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'local/bin/npm'));
    await cp(process.execPath, join(folder, 'local/bin/node'), { dereference: true });
    await store.assemble(image, {
      parts: [
        { from: tree, to: '/' },
        { from: join(folder, 'local'), to: '/usr/local' },
        { from: TRUSTED, to: TRUSTED },
      ],
      env: {
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        NODE_EXTRA_CA_CERTS: TRUSTED,
        npm_config_registry: (await run('npm', ['config', 'get', 'registry'])).stdout.trim(),
      },
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
