import { isDnsLabel } from '../names.ts';
import type { ObjectRef } from '../types.ts';
import { snapshotTree } from './tree.ts';

/** A look at the secrets folder that tells of each Secret that changed or went since the look before. */
export async function createSecretWatch(
  secretsDir: string,
  changed: (ref: ObjectRef<'Secret'>) => void,
): Promise<() => Promise<void>> {
  let before = await stampsBySecret(secretsDir);
  return async () => {
    const now = await stampsBySecret(secretsDir);
    for (const secret of new Set([...before.keys(), ...now.keys()])) {
      if (before.get(secret) === now.get(secret)) continue;
      const [namespace = '', name = ''] = secret.split('/');
      if (isDnsLabel(namespace) && isDnsLabel(name)) changed({ kind: 'Secret', namespace, name });
    }
    before = now;
  };
}

async function stampsBySecret(secretsDir: string): Promise<Map<string, string>> {
  const { files } = await snapshotTree(secretsDir, (name) => !name.endsWith('.tmp'), true);
  const stamps = new Map<string, string>();
  for (const [file, stamp] of files) {
    const secret = file.split('/').slice(0, 2).join('/');
    stamps.set(secret, `${stamps.get(secret) ?? ''}${file}=${stamp};`);
  }
  return stamps;
}
