import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { silentLogger } from '../../src/platform/logger.ts';
import type { TransitOptions } from '../../src/keys/transit/transit.ts';
import type { TransitAnswer, TransitRequest, TransitServer } from './transit-server.ts';

export { requireTransitServer, type TransitServer } from './transit-server.ts';

/** The policies that are shipped, byte for byte. */
export type ShippedPolicy = 'tokenkeep-api' | 'tokenkeep-keys' | 'tokenkeep-audit';
const SHIPPED_POLICIES: readonly ShippedPolicy[] = ['tokenkeep-api', 'tokenkeep-keys', 'tokenkeep-audit'];

export interface TokenOptions {
  /** Such as `2s`; a day by default. */
  readonly ttl?: string;
  /** Past it, the token cannot be renewed. */
  readonly explicitMaxTtl?: string;
  readonly renewable?: boolean;
}

/** A transit engine of a test's own: mounted at `transit`, in a namespace of its own, with the shipped policies. */
export interface TestTransit {
  readonly server: TransitServer;
  readonly namespace: string;
  /** As root of the namespace. */
  request(request: Omit<TransitRequest, 'namespace'>): Promise<TransitAnswer>;
  /** As `request`; fails where it does not succeed. */
  demand(request: Omit<TransitRequest, 'namespace'>): Promise<TransitAnswer['body']>;
  /** Makes the three keys as the program itself makes them. */
  makeKeys(): Promise<void>;
  /** A token that has exactly this policy. */
  tokenFor(policy: string, options?: TokenOptions): Promise<string>;
  putPolicy(name: string, text: string): Promise<void>;
  /** Puts a shipped policy back as it is shipped. */
  restorePolicy(name: ShippedPolicy): Promise<void>;
  /** How this transit is opened under a token. */
  optionsFor(token: string): TransitOptions;
  /** How standalone, or a command, is pointed to it. */
  readonly flags: readonly string[];
  dispose(): Promise<void>;
}

export async function createTestTransit(server: TransitServer): Promise<TestTransit> {
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const created = await server.request({ method: 'POST', path: `sys/namespaces/${namespace}`, body: {} });
  if (created.status !== 200) throw new Error(`no namespace: ${JSON.stringify(created)}`);
  const request: TestTransit['request'] = (wanted) => server.request({ ...wanted, namespace });

  const demand: TestTransit['demand'] = async (wanted) => {
    const { status, body } = await request(wanted);
    if (status >= 300) throw new Error(`${wanted.path}: status ${status}, ${JSON.stringify(body)}`);
    return body?.data ?? body;
  };

  async function putPolicy(name: string, policy: string): Promise<void> {
    await demand({ method: 'PUT', path: `sys/policies/acl/${name}`, body: { policy } });
  }

  async function restorePolicy(name: ShippedPolicy): Promise<void> {
    const file = new URL(`../../config/vault/${name}.hcl`, import.meta.url);
    await putPolicy(name, await readFile(file, 'utf8'));
  }

  await demand({ method: 'POST', path: 'sys/mounts/transit', body: { type: 'transit' } });
  for (const name of SHIPPED_POLICIES) await restorePolicy(name);

  return {
    ...{ server, namespace, request, demand, putPolicy, restorePolicy },
    async makeKeys() {
      for (const name of ['tokenkeep', 'tokenkeep-cvc']) {
        await demand({
          method: 'POST',
          path: `transit/keys/${name}`,
          body: { type: 'aes256-gcm96', derived: true },
        });
      }
      const audit = { type: 'hmac', key_size: 32 };
      await demand({ method: 'POST', path: 'transit/keys/tokenkeep-audit', body: audit });
    },
    async tokenFor(policy, { ttl = '24h', explicitMaxTtl, renewable = true } = {}) {
      const body = {
        policies: [policy],
        no_default_policy: true,
        ...{ ttl, renewable },
        ...(explicitMaxTtl === undefined ? {} : { explicit_max_ttl: explicitMaxTtl }),
      };
      const { auth } = await demand({ method: 'POST', path: 'auth/token/create', body });
      return auth.client_token as string;
    },
    optionsFor: (token) => ({
      ...{ address: server.address, namespace, ca: undefined, timeoutMs: 5_000 },
      ...{ mount: 'transit', key: 'tokenkeep' },
      auth: { method: 'token', token },
      logger: silentLogger,
    }),
    flags: ['--vault-addr', server.address, '--vault-namespace', namespace],
    async dispose() {
      await server.request({ method: 'DELETE', path: `sys/namespaces/${namespace}` });
    },
  };
}
