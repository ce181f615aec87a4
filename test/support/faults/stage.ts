import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Context } from 'mocha';
import type { DataKeyLimits } from '../../../src/keys/data-keys.ts';
import { openTransit } from '../../../src/keys/transit/transit.ts';
import { createLogger, silentLogger } from '../../../src/platform/logger.ts';
import { createShutdownStack, type ShutdownStack } from '../../../src/platform/shutdown.ts';
import { rulesFor } from '../access.ts';
import { eventually } from '../eventually.ts';
import { requireToxiproxy } from '../toxiproxy-program.ts';
import { startToxiproxy, type Link } from '../toxiproxy.ts';
import { createTestTransit, requireTransitServer, type TestTransit, type TransitServer } from '../transit.ts';
import { startTestVault, type Answer, type TestVault } from '../vault.ts';
import type { Front } from './front.ts';

/** A token, and what was written into it, of a tenant whose data keys serve nobody else. */
export interface Kept {
  readonly tenantId: string;
  /** Of an application that may do everything. */
  readonly key: string;
  readonly id: string;
  readonly data: string;
}

/** A vault whose master keys are in a real transit server, with what can go wrong between the two. */
export interface FaultStage {
  readonly vault: TestVault;
  readonly server: TransitServer;
  readonly transit: TestTransit;
  readonly link: Link;
  /** A token whose data keys are in memory. */
  readonly warm: Kept;
  /** One whose keys are not, once `chill` has been seen by the vault. */
  readonly cold: Kept;
  /** Messages that the vault has logged since they were last taken. */
  readonly takeLog: () => LogLine[];
  /** The data keys of the tenant leave the memory of the vault soon, as after each change of a tenant. */
  readonly chill: (kept: Kept) => Promise<void>;
  readonly read: (kept: Kept) => Promise<Answer>;
  readonly create: (kept: Kept, idempotencyKey?: string) => Promise<Answer>;
  /** By the clock of the vault. */
  readonly passTime: (ms: number) => void;
  /** Revokes the token that the vault presents to the transit server. */
  readonly revokeToken: () => Promise<void>;
  /** Puts a new one where the vault looks for it. */
  readonly renewToken: () => Promise<void>;
  /** Resolves once nothing is degraded and both tokens are read right. */
  readonly settle: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface LogLine {
  readonly message: string;
  readonly level: string;
  readonly text: string;
}

export interface FaultStageOptions {
  readonly server: TransitServer;
  /** Of toxiproxy. */
  readonly program: string;
  /** Stands between the link and the transit server. */
  readonly front?: Front;
  readonly ca?: string;
  /** For one try; the vault's own is twice that. */
  readonly timeoutMs?: number;
  readonly dataKeyLimits?: Partial<DataKeyLimits>;
}

/** Recovery takes seconds; a machine that is busy with other tests takes longer. */
const SETTLED = { deadlineMs: 60_000, everyMs: 50 };

const STOP_DEADLINE_MS = 60_000;

/** What stages need. To be called in a `before` hook: skips, or fails, where it is not there. */
export async function requireFaultTools(context: Context): Promise<Pick<FaultStageOptions, 'server' | 'program'>> {
  const program = await requireToxiproxy(context);
  return { program, server: await requireTransitServer(context) };
}

export async function startFaultStage(options: FaultStageOptions): Promise<FaultStage> {
  const shutdown = createShutdownStack({ logger: silentLogger, deadlineMs: STOP_DEADLINE_MS });
  try {
    return await prepare(options, shutdown);
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}

async function prepare(options: FaultStageOptions, shutdown: ShutdownStack): Promise<FaultStage> {
  const { server, program, front, ca, timeoutMs = 1_000, dataKeyLimits = {} } = options;
  const transit = await createTestTransit(server);
  shutdown.push('transit', () => transit.dispose());
  const toxiproxy = await startToxiproxy(program);
  shutdown.push('toxiproxy', () => toxiproxy.stop());
  const link = await toxiproxy.link(front === undefined ? new URL(server.address).host : `127.0.0.1:${front.port}`);
  const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-faults-'));
  shutdown.push('folder', () => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'token');
  let token: string;
  async function renewToken(): Promise<void> {
    token = await transit.tokenFor('tokenkeep-api');
    await writeFile(file, token);
  }

  await transit.makeKeys();
  await renewToken();
  let lines: LogLine[] = [];
  const logger = createLogger({
    ...{ level: 'info', format: 'json' },
    destination: { write: (text) => lines.push({ ...(JSON.parse(text) as LogLine), text }) },
  });
  const keyManagement = await openTransit({
    ...transit.optionsFor(token!),
    ...{ address: `${front?.scheme ?? 'http'}://${link.host}:${link.port}`, timeoutMs, logger },
    ca: ca === undefined ? undefined : () => Promise.resolve(ca),
    auth: { method: 'token-file', file },
  });
  let ahead = 0;
  const clock = { now: () => Date.now() + ahead };
  const vault = await startTestVault({ keyManagement, logger, clock, dataKeyLimits });
  shutdown.push('vault', () => vault.stop());
  shutdown.push('link', () => link.heal());

  async function keep(data: string): Promise<Kept> {
    const rules = rulesFor({ '/': 'reveal' });
    const { tenantId, key } = await vault.application({ tenantId: await vault.tenant(), rules });
    const { status, body } = await vault.request('POST', '/tokens', { key, body: { type: 'token', data } });
    expect(status).to.equal(201);
    return { tenantId, key, id: body.id as string, data };
  }
  const [warm, cold] = [await keep('kept-where-keys-are-warm'), await keep('kept-where-keys-are-cold')];
  const read = (kept: Kept): Promise<Answer> => vault.request('GET', `/tokens/${kept.id}`, { key: kept.key });

  return {
    ...{ vault, server, transit, link, warm, cold, read, renewToken },
    takeLog() {
      const taken = lines;
      lines = [];
      return taken;
    },
    async chill({ tenantId }) {
      await vault.database.run({ text: 'update tenants set name = name where tenant_id = $1' }, [tenantId]);
    },
    create: ({ key }, idempotencyKey) =>
      vault.request('POST', '/tokens', {
        ...{ key, body: { type: 'token', data: 'written-meanwhile' } },
        ...(idempotencyKey === undefined ? {} : { headers: { 'svc-idempotency-key': idempotencyKey } }),
      }),
    passTime: (ms) => (ahead += ms),
    async revokeToken() {
      await transit.demand({ method: 'POST', path: 'auth/token/revoke', body: { token } });
    },
    async settle() {
      await eventually(async () => {
        const { body } = await vault.request('GET', '/readyz');
        expect(body).to.deep.equal({ status: 'ready', failures: [], degraded: [] });
        for (const kept of [warm, cold]) {
          const answer = await read(kept);
          expect([answer.status, answer.body.data]).to.deep.equal([200, kept.data]);
        }
      }, SETTLED);
    },
    stop: () => shutdown.run(),
  };
}
