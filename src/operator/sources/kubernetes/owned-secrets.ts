import type { KubernetesClient } from '../../../platform/kubernetes/client.ts';
import { KubernetesError } from '../../../platform/kubernetes/errors.ts';
import { NamespaceTerminatingError } from '../errors.ts';
import type { ObjectRef, ResourceKind, ResourceSource } from '../types.ts';
import { coreCollection } from './objects.ts';
import type { SecretObject } from './objects.ts';
import type { OwnSecretChanges } from './own-secret-changes.ts';
import { buildSecretObject, buildSecretPatch, readSecret } from './secret-object.ts';
import type { SecretVersion } from './secret-object.ts';

type OwnedSecrets = Pick<ResourceSource, 'readOwnedSecret' | 'writeOwnedSecret' | 'deleteOwnedSecret'>;

export interface OwnedSecretsOptions {
  client: KubernetesClient;
  changes: OwnSecretChanges;
  /** Undefined where the owner is gone. */
  uidOf(owner: ObjectRef<ResourceKind>): string | undefined;
  isTerminating(namespace: string): boolean;
}

/** Reads and writes the operator's Secrets one by one: none is kept. */
export function createOwnedSecrets(options: OwnedSecretsOptions): OwnedSecrets {
  const { client, changes } = options;
  const pathOf = (namespace: string, name: string) => ({ ...coreCollection('Secret', namespace), name });

  async function create(namespace: string, object: object): Promise<SecretObject> {
    try {
      return await client.create<SecretObject>(coreCollection('Secret', namespace), object);
    } catch (error) {
      const isForbidden = error instanceof KubernetesError && error.status === 403;
      throw isForbidden && options.isTerminating(namespace) ? new NamespaceTerminatingError(namespace) : error;
    }
  }

  return {
    async readOwnedSecret(namespace, name) {
      const object = await client.read<SecretObject>(pathOf(namespace, name));
      return object === undefined ? undefined : readSecret(namespace, object);
    },
    async writeOwnedSecret(secret, before) {
      const { namespace, name, owner } = secret;
      const ownerUid = options.uidOf(owner);
      if (ownerUid === undefined) throw new Error(`${owner.kind} ${namespace}/${owner.name} is gone`);
      if (before === undefined) {
        await changes.write(secret, () => create(namespace, buildSecretObject(secret, ownerUid)));
        return;
      }
      const patch = buildSecretPatch(secret, before, ownerUid);
      if (patch === undefined) return;
      await changes.write(secret, () => client.mergePatch<SecretObject>(pathOf(namespace, name), patch));
    },
    async deleteOwnedSecret({ namespace, name, version }) {
      const { uid, resourceVersion } = version as SecretVersion;
      await client.remove(pathOf(namespace, name), { uid, resourceVersion });
    },
  };
}
