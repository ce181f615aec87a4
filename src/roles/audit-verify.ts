import { formatAge } from '../cli/age.ts';
import { counted, plural } from '../cli/plural.ts';
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
const USUAL_WAIT_MS = 600_000;

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

function isStale({ since, now }: Verification['queue']): boolean {
  return since !== null && now.getTime() - since.getTime() > USUAL_WAIT_MS;
}

function* linesOfQueue(queue: Verification['queue']): Generator<string> {
  const { entries, since, now } = queue;
  if (since === null) {
    yield 'No entry waits to be linked.';
    return;
  }
  const waited = Math.round((now.getTime() - since.getTime()) / 1000);
  const waiting = `${counted(entries, 'entry waits', 'entries wait')} to be linked, the oldest for ${waited} s`;
  if (!isStale(queue)) {
    yield `${waiting}.`;
    return;
  }
  yield `${waiting}, which is TOO LONG: until then they may be altered unseen.`;
  yield 'No vault is running, or its linker fails: see tokenkeep_audit_chain_failures_total, and the log of the vault.';
  yield 'A vault that is stopped links its last entries at its end; after a kill they wait until one runs: start it.';
}

function* linesOfSeals({ foreignHeads, sealedByOthers, unsealed }: Verification): Generator<string> {
  if (foreignHeads > 0) {
    const heads = counted(foreignHeads, 'head was', 'heads were');
    const seals = plural(foreignHeads, 'its seal is', 'their seals are');
    yield `${heads} sealed by another key management, before an import: ${seals} not checked.`;
  }
  const { chains, latestMs } = sealedByOthers;
  if (chains > 0) {
    const ends = counted(chains, 'chain has its end', 'chains have their ends');
    const late = `${chains === 1 ? '' : 'up to '}${formatAge(latestMs)} late`;
    yield `${ends} sealed by another writer, ${late}, as after a kill: --anchors shows whether nothing changed before.`;
  }
  if (unsealed > 0) {
    yield `${counted(unsealed, 'link is', 'links are')} at the end of a chain whose head is not sealed yet.`;
  }
}

function* linesOf(verification: Verification): Generator<string> {
  const { fault, chains, links, entries, removed, queue, horizon } = verification;
  const whole = `${counted(entries, 'entry', 'entries')} in ${counted(links, 'link')} of ${counted(chains, 'chain')}`;
  yield `${whole}, as far back as ${horizon.toISOString()}.`;
  for (const [tenantId, count] of removed) {
    const gone = `${count} of them ${plural(count, 'is', 'are')} gone with the tenant ${tenantId}`;
    yield `${gone}, which the database has as deleted: see that it was.`;
  }
  yield* linesOfSeals(verification);
  yield* linesOfQueue(queue);
  if (fault === undefined) yield 'Nothing was altered, removed, added or reordered.';
  else yield* linesOfFault(fault);
}

/** Whoever can write to the database can make retention seem shorter than it is, and so what is gone seem expired. */
function reachesBack({ horizon, queue }: Verification, since: number | undefined): boolean {
  return since === undefined || horizon.getTime() <= queue.now.getTime() - since + REACH_TOLERANCE_MS;
}

/**
 * Verifies the audit log of a vault, running or not. Resolves to the exit code: 1 where something is at fault, the
 * log does not reach as far back as it must, or entries wait for a link for too long.
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
        progress(`${hour.toISOString()}: ${counted(entries, 'entry', 'entries')}, ${counted(links, 'link')} so far`),
    });
    if (told !== undefined) {
      write(`Held against the heads of ${counted([...told.values()].flat().length, 'chain')} in the log.`);
    }
    for (const line of linesOf(verification)) write(line);
    const reaches = reachesBack(verification, config.since);
    if (!reaches) write('The log does NOT REACH BACK as far as it must: see what retention its tenants have had.');
    return verification.fault === undefined && reaches && !isStale(verification.queue) ? 0 : 1;
  } finally {
    await parts.close();
  }
}
