import { isDnsLabel, isDnsSubdomain } from '../names.ts';
import type { ObjectRef } from '../types.ts';
import { snapshotTree } from './tree.ts';

export interface SecretWatch {
  /** Tells of each Secret that changed or went since it was last looked at. */
  look(): Promise<void>;
  /** Takes note of what the operator itself wrote, so that its loss is noticed however soon it comes. */
  noteWritten(namespace: string, name: string): Promise<void>;
}

/** Watches the secrets folder for what others do to it. */
export async function createSecretWatch(
  secretsDir: string,
  changed: (ref: ObjectRef<'Secret'>) => void,
): Promise<SecretWatch> {
  let known = await stampsBySecret(secretsDir);
  return {
    async look() {
      const now = await stampsBySecret(secretsDir);
      const before = known;
      known = now;
      for (const secret of new Set([...before.keys(), ...now.keys()])) {
        if (before.get(secret) === now.get(secret)) continue;
        const [namespace = '', name = ''] = secret.split('/');
        if (isDnsLabel(namespace) && isDnsSubdomain(name)) changed({ kind: 'Secret', namespace, name });
      }
    },
    async noteWritten(namespace, name) {
      const secret = `${namespace}/${name}`;
      known.set(secret, (await stampsBySecret(secretsDir, secret)).get(secret) ?? '');
    },
  };
}

async function stampsBySecret(secretsDir: string, only = ''): Promise<Map<string, string>> {
  const folder = only === '' ? secretsDir : `${secretsDir}/${only}`;
  const { files } = await snapshotTree(folder, (name) => !name.endsWith('.tmp'), true);
  const stamps = new Map<string, string>();
  for (const [file, stamp] of files) {
    const place = only === '' ? file : `${only}/${file}`;
    const secret = place.split('/').slice(0, 2).join('/');
    stamps.set(secret, `${stamps.get(secret) ?? ''}${place}=${stamp};`);
  }
  return stamps;
}
