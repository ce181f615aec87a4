import { DomainError } from '../../domain/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import { KeyManagementAway, type KeyManagement, type MasterKey } from '../key-management.ts';
import { createVaultClient, type VaultClientOptions } from './client.ts';
import { connectToVault, type VaultRequest } from './connection.ts';
import { createCredentials, type VaultAuth } from './credentials.ts';
import { VaultAway, VaultRefusal } from './failures.ts';
import { createSession } from './session.ts';
import { createTransitKeys, missing, type TransitKey, type TransitPlace } from './transit-keys.ts';

export type { VaultAuth };

export interface TransitOptions extends VaultClientOptions, TransitPlace {
  readonly auth: VaultAuth;
  /** Told whether Vault answers: of each change, and of the first state. */
  readonly onChange?: (isUp: boolean) => void;
  readonly logger: Logger;
}

/** Key management in the transit engine of Vault or OpenBao. */
export interface Transit extends KeyManagement {
  /**
   * Makes the transit keys that are not there yet. Throws DomainError 'unavailable' where one is missing that
   * `isNeeded`, may not be made, or is not as it must be.
   */
  prepare(isNeeded: () => Promise<boolean>): Promise<void>;
}

const WRAPPED = /^vault:v(\d{1,9}):[A-Za-z0-9+/]+={0,2}$/;
const MAC_ALGORITHM = 'sha2-256';
/** Stands for a tenant where what is asked is whether keys unwrap at all. No tenant's id is such a text. */
const PROBE = 'tokenkeep probe';

/** Logs in. Throws DomainError 'unavailable' where Vault does not answer or refuses the login. */
export async function openTransit(options: TransitOptions): Promise<Transit> {
  const { auth, onChange = () => undefined, logger } = options;
  const client = createVaultClient(options);
  const session = createSession({ client, credentials: createCredentials(auth, client), logger });
  let probe: string | undefined;
  const connection = await connectToVault({
    ...{ client, session, onChange, logger },
    probe: (vault, token) =>
      probe === undefined
        ? vault.read('auth/token/lookup-self', token)
        : vault.write(keys.pathOf('decrypt', 'tokens'), { ciphertext: probe, context: contextOf(PROBE) }, token),
  });
  const keys = createTransitKeys(connection, options);

  /** What `request` gives, with failures as the interface has them. */
  async function explained<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof VaultAway) throw new KeyManagementAway(`key management is away: ${error.message}`);
      throw error instanceof VaultRefusal ? refused(error, path) : error;
    }
  }

  /** The answer's `data`; Vault's refusal of what was sent (400) is thrown as it is. */
  async function operateOnGiven(
    operation: string,
    key: TransitKey,
    body: object,
  ): Promise<Readonly<Record<string, unknown>>> {
    const path = keys.pathOf(operation, key);
    const request: VaultRequest = (vault, token) => vault.write(path, body, token);
    try {
      return (await connection.request(request)).data ?? {};
    } catch (error) {
      if (!(error instanceof VaultRefusal)) throw error;
      if (error.status !== 400) throw refused(error, path);
      // Vault answers the same status for a key that is gone as for a body that is wrong.
      if (!(await explained(path, () => keys.exists(key)))) throw missing(keys.nameOf(key));
      throw error;
    }
  }

  function operate(operation: string, key: TransitKey, body: object): Promise<Readonly<Record<string, unknown>>> {
    return explained(keys.pathOf(operation, key), () => operateOnGiven(operation, key, body));
  }

  async function operateOnWrapped(
    operation: 'decrypt' | 'rewrap',
    master: MasterKey,
    tenantId: string,
    wrapped: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    if (!WRAPPED.test(wrapped)) throw notUnwrappable();
    try {
      return await operateOnGiven(operation, master, { ciphertext: wrapped, context: contextOf(tenantId) });
    } catch (error) {
      throw error instanceof VaultRefusal ? notUnwrappable() : error;
    }
  }

  async function createDataKey(master: MasterKey, tenantId: string) {
    const data = await operate('datakey/plaintext', master, { context: contextOf(tenantId), bits: 256 });
    return { plaintext: Buffer.from(textOf(data, 'plaintext'), 'base64'), wrapped: textOf(data, 'ciphertext') };
  }

  async function unwrapDataKey(master: MasterKey, tenantId: string, wrapped: string): Promise<Buffer> {
    return Buffer.from(textOf(await operateOnWrapped('decrypt', master, tenantId, wrapped), 'plaintext'), 'base64');
  }

  async function makeProbe(): Promise<string> {
    const { plaintext, wrapped } = await createDataKey('tokens', PROBE);
    plaintext.fill(0);
    return wrapped;
  }

  /**
   * Whether the probe stopped to unwrap because its version is no more, rather than because its key is another: it was
   * retired, or Vault was restored from a snapshot of before it was made.
   */
  async function isOfNoVersion(wrapped: string): Promise<boolean> {
    const versions = await keys.versions('tokens');
    if (versions === undefined) return false;
    const version = Number(WRAPPED.exec(wrapped)?.[1]);
    return version < versions.oldest || version > versions.current;
  }

  return {
    name: 'vault',
    ...{ createDataKey, unwrapDataKey },
    async wrapDataKey(master, tenantId, plaintext) {
      const body = { plaintext: plaintext.toString('base64'), context: contextOf(tenantId) };
      return textOf(await operate('encrypt', master, body), 'ciphertext');
    },
    async rewrapDataKey(master, tenantId, wrapped) {
      return textOf(await operateOnWrapped('rewrap', master, tenantId, wrapped), 'ciphertext');
    },
    versions(master) {
      return explained(keys.pathOf('keys', master), async () => {
        const versions = await keys.versions(master);
        if (versions === undefined) throw missing(keys.nameOf(master));
        return versions;
      });
    },
    rotate: (master) => explained(`${keys.pathOf('keys', master)}/rotate`, () => keys.rotate(master)),
    retire: (master, oldest) => explained(keys.pathOf('keys', master), () => keys.retire(master, oldest)),
    async authenticate(message) {
      const body = { input: message.toString('base64'), algorithm: MAC_ALGORITHM };
      return textOf(await operate('hmac', 'audit', body), 'hmac');
    },
    async verifies(message, mac) {
      const body = { input: message.toString('base64'), algorithm: MAC_ALGORITHM, hmac: mac };
      try {
        return (await operateOnGiven('verify', 'audit', body))['valid'] === true;
      } catch (error) {
        // The code has not even the form of one.
        if (error instanceof VaultRefusal) return false;
        throw error;
      }
    },
    async ping() {
      probe ??= await makeProbe();
      const asked = probe;
      try {
        (await unwrapDataKey('tokens', PROBE, asked)).fill(0);
      } catch (error) {
        if (error instanceof DomainError) throw error;
        if (!(await isOfNoVersion(asked))) throw missing(keys.nameOf('tokens'));
        probe = await makeProbe();
      }
    },
    prepare: (isNeeded) => explained(keys.pathOf('keys', 'tokens'), () => keys.prepare(isNeeded)),
    close: () => connection.close(),
  };
}

function contextOf(tenantId: string): string {
  return Buffer.from(tenantId).toString('base64');
}

function textOf(data: Readonly<Record<string, unknown>>, property: string): string {
  const text = data[property];
  if (typeof text !== 'string') throw new DomainError('unavailable', `Vault answered without ${property}`);
  return text;
}

function refused(error: VaultRefusal, path: string): DomainError {
  const advice =
    error.status === 403
      ? 'its policy does not allow that; what it must allow stands in config/vault'
      : error.status === 404
        ? 'there is no such path: look at --transit-mount and --transit-key'
        : `status ${error.status}`;
  return new DomainError('unavailable', `Vault refuses ${path}: ${advice}`, { cause: error });
}

function notUnwrappable(): Error {
  return new Error('a data key does not unwrap: it was altered, or belongs to another tenant, master key or Vault');
}
