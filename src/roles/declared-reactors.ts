import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { STATUS_FILE } from '../domain/resource-status.ts';
import type { StatusReport } from '../domain/resource-status.ts';
import type { WaitingReason } from '../operator/conditions.ts';

const STARTING: WaitingReason = 'InstancesStarting';
const POLL_MS = 25;
/** Requests wait for an instance anyway: a machine that is slow to start them must not hold back everything else. */
const DEADLINE_MS = 20_000;

/**
 * Resolves once no declared reactor waits for its first instance any more: it answers, or has failed, as the status
 * that users read says. Past a deadline it resolves too.
 */
export async function declaredReactorsStarted(dataDir: string): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (Date.now() < deadline) {
    const { resources } = JSON.parse(await readFile(join(dataDir, STATUS_FILE), 'utf8')) as StatusReport;
    if (!resources.some(({ conditions }) => conditions.some(({ reason }) => reason === STARTING))) return;
    await delay(POLL_MS);
  }
}
