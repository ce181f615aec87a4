import type { AuditVerifyConfig } from '../config/audit.ts';
import type { Logger } from '../platform/logger.ts';
import type { Fault } from '../services/audit-chain/faults.ts';
import { readToldHeads } from '../services/audit-chain/told-heads.ts';
import { type Verification, verifyAuditChain } from '../services/audit-chain/verify.ts';
import { openParts } from './parts.ts';

export interface AuditVerifyIo {
  /** One line of the outcome. */
  readonly write: (line: string) => void;
  /** One line for who waits for it. */
  readonly progress: (line: string) => void;
  readonly logger: Logger;
}

/** What waits for a link for longer waits for a process that is not there, or that cannot. */
const USUAL_WAIT_MS = 60_000;

/** The log is promised from a minute less than its retention on. */
const REACH_TOLERANCE_MS = 300_000;

const PLAIN: Readonly<Record<Fault['kind'], string>> = {
  altered: 'An entry was ALTERED',
  missing: 'An entry is MISSING',
  reordered: 'An entry was REORDERED',
  unlinked: 'An entry was ADDED that no process has linked',
  backdated: 'An entry was BACKDATED',
  'link altered': 'A link was ALTERED, or entries that it held',
  'link missing': 'A link is MISSING, with the entries that it held',
  'link added': 'A link was ADDED',
  'head altered': 'A sealed head was ALTERED',
};

function linesOfFault({ kind, entry, chain, n, detail }: Fault): string[] {
  return [
    `${PLAIN[kind]}: ${detail}.`,
    ...(entry === undefined
      ? []
      : [
          `  entry       ${entry.id}`,
          `  tenant      ${entry.tenantId}`,
          `  created_at  ${entry.createdAt.toISOString()}`,
        ]),
    ...(chain === undefined ? [] : [`  chain       ${chain.writer} of ${chain.hour.toISOString()}`]),
    ...(n === undefined ? [] : [`  link        ${n}`]),
  ];
}

function lineOfQueue({ entries, since, now }: Verification['queue']): string {
  if (since === null) return 'No entry waits to be linked.';
  const waited = Math.round((now.getTime() - since.getTime()) / 1000);
  const usual = waited * 1000 <= USUAL_WAIT_MS;
  return usual
    ? `${entries} entries wait to be linked, the oldest for ${waited} s.`
    : `${entries} entries wait to be linked, the oldest for ${waited} s: no vault links them; they may be altered unseen.`;
}

function* linesOf(verification: Verification): Generator<string> {
  const { fault, chains, links, entries, unsealed, removed, foreignHeads, queue, horizon } = verification;
  yield `${entries} entries in ${links} links of ${chains} chains, as far back as ${horizon.toISOString()}.`;
  for (const [tenantId, count] of removed) {
    yield `${count} of them are gone with the tenant ${tenantId}, which the database has as deleted: see that it was.`;
  }
  if (foreignHeads > 0) {
    yield `${foreignHeads} heads were sealed by another key management, before an import: their seals are not checked.`;
  }
  if (unsealed > 0) yield `${unsealed} links are at the end of a chain whose head is not sealed yet.`;
  yield lineOfQueue(queue);
  if (fault === undefined) yield 'Nothing was altered, removed, added or reordered.';
  else yield* linesOfFault(fault);
}

/** Whoever can write to the database can make retention seem shorter than it is, and so what is gone seem expired. */
function reachesBack({ horizon, queue }: Verification, since: number | undefined): boolean {
  return since === undefined || horizon.getTime() <= queue.now.getTime() - since + REACH_TOLERANCE_MS;
}

/**
 * Verifies the audit log of a vault, running or not. Resolves to the exit code: 1 where something is at fault, or it
 * does not reach as far back as it must.
 */
export async function runAuditVerify(
  config: AuditVerifyConfig,
  { write, progress, logger }: AuditVerifyIo,
): Promise<0 | 1> {
  const told = config.anchors === undefined ? undefined : await readToldHeads(config.anchors);
  const parts = await openParts(config, logger);
  try {
    const verification = await verifyAuditChain({
      ...{ database: parts.database, keyManagement: parts.keyManagement },
      ...(told && { told }),
      onHour: (hour, { links, entries }) =>
        progress(`${hour.toISOString()}: ${entries} entries, ${links} links so far`),
    });
    if (told !== undefined) write(`Held against the heads of ${[...told.values()].flat().length} chains in the log.`);
    for (const line of linesOf(verification)) write(line);
    const reaches = reachesBack(verification, config.since);
    if (!reaches) write('The log does NOT REACH BACK as far as it must: see what retention its tenants have had.');
    return verification.fault === undefined && reaches ? 0 : 1;
  } finally {
    await parts.close();
  }
}
