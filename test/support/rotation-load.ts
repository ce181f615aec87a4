import type { Database } from '../../src/data/database.ts';
import type { DataKeyPurpose } from '../../src/domain/data-keys.ts';
import { dataKeyId } from '../../src/keys/data-key-ids.ts';
import type { KeyManagement } from '../../src/keys/key-management.ts';

/** What readers and writers have done, and what of it failed. */
export interface LoadFigures {
  readonly reads: number;
  readonly writes: number;
  /** Such as `GET 503`. */
  readonly failures: readonly string[];
  readonly seconds: number;
}

export interface Load {
  /** Ids of the tokens that exist, with what they hold. */
  readonly tokens: ReadonlyMap<string, string>;
  stop(): Promise<LoadFigures>;
}

const WRITERS = 1;
const READERS = 3;

/** Lets readers and writers of an application go from replica to replica until they are stopped. */
export function startLoad(baseUrls: readonly string[], key: string): Load {
  const tokens = new Map<string, string>();
  const failures: string[] = [];
  const began = performance.now();
  let [reads, writes, turn, stopping] = [0, 0, 0, false];

  async function send(method: string, path: string, body?: object): Promise<{ id: string; data: string } | undefined> {
    const baseUrl = baseUrls[turn++ % baseUrls.length]!;
    const response = await fetch(baseUrl + path, {
      method,
      headers: { 'svc-api-key': key, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.ok) return (await response.json()) as { id: string; data: string };
    failures.push(`${method} ${response.status} ${await response.text()}`);
    return undefined;
  }

  async function write(): Promise<void> {
    const data = `value ${writes++}`;
    const created = await send('POST', '/tokens', { type: 'token', data });
    if (created !== undefined) tokens.set(created.id, data);
  }

  async function read(): Promise<void> {
    const ids = [...tokens.keys()];
    const id = ids[Math.floor(Math.random() * ids.length)]!;
    const found = await send('GET', `/tokens/${id}`);
    reads++;
    if (found !== undefined && found.data !== tokens.get(id)) failures.push(`GET ${id}: another value`);
  }

  async function repeat(work: () => Promise<void>): Promise<void> {
    while (!stopping) await work().catch((error: unknown) => failures.push(String(error)));
  }

  const running = write().then(() =>
    Promise.all([
      ...Array.from({ length: WRITERS }, () => repeat(write)),
      ...Array.from({ length: READERS }, () => repeat(read)),
    ]),
  );
  return {
    tokens,
    async stop() {
      stopping = true;
      await running;
      return { reads, writes, failures, seconds: (performance.now() - began) / 1000 };
    },
  };
}

/** A data key that a test has put there. */
export interface PlantedKey {
  readonly tenantId: string;
  readonly id: string;
  readonly wrapped: string;
}

/** Stores data keys of past days, as many tenants have them. */
export async function plantDataKeys(
  database: Database,
  management: KeyManagement,
  { tenants, keysOfEach }: { tenants: number; keysOfEach: number },
): Promise<PlantedKey[]> {
  const rows = await database.run<{ id: string }>(
    {
      text: `
        insert into tenants (tenant_id, name, type, settings, quotas)
        select gen_random_uuid(), 'planted ' || n, type, settings, quotas
        from (select type, settings, quotas from tenants limit 1) as model, generate_series(1, $1) as n
        returning tenant_id as id`,
    },
    [tenants],
  );
  const keys: PlantedKey[] = [];
  for (const { id: tenantId } of rows) {
    await Promise.all(
      Array.from({ length: keysOfEach }, async () => {
        const { plaintext, wrapped } = await management.createDataKey('tokens', tenantId);
        keys.push({ tenantId, id: dataKeyId(plaintext, { tenantId, purpose: 'data' }), wrapped });
      }),
    );
  }
  await database.run(
    {
      text: `
        insert into data_keys (tenant_id, data_key_id, purpose, wrapped, active, uses, created_at)
        select tenant_id, data_key_id, 'data', wrapped, false, 1, now() - interval '3 days'
        from unnest($1::uuid[], $2::uuid[], $3::text[]) as planted (tenant_id, data_key_id, wrapped)`,
    },
    [keys.map(({ tenantId }) => tenantId), keys.map(({ id }) => id), keys.map(({ wrapped }) => wrapped)],
  );
  return keys;
}

/** Those of the stored data keys that are no longer what they were made as. */
export async function findChangedKeys(database: Database, management: KeyManagement): Promise<string[]> {
  const rows = await database.run<PlantedKey & { purpose: DataKeyPurpose }>({
    text: `select tenant_id as "tenantId", data_key_id as id, purpose, wrapped from data_keys where purpose <> 'cvc'`,
  });
  const changed: string[] = [];
  for (let start = 0; start < rows.length; start += 50) {
    await Promise.all(
      rows.slice(start, start + 50).map(async ({ tenantId, id, purpose, wrapped }) => {
        const plaintext = await management.unwrapDataKey('tokens', tenantId, wrapped);
        if (dataKeyId(plaintext, { tenantId, purpose }) !== id) changed.push(id);
      }),
    );
  }
  return changed;
}
