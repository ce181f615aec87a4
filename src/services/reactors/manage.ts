import { randomUUID } from 'node:crypto';
import { getApplication } from '../../data/applications.ts';
import type { Database } from '../../data/database.ts';
import { deleteReactor as deleteRow, insertReactor, pageOfReactors, replaceReactor } from '../../data/reactors.ts';
import type { Caller } from '../../domain/caller.ts';
import { DEFAULT_SCALING, REACTOR_DEFAULTS } from '../../domain/declarations.ts';
import { DomainError, invalid, ViolationCollector } from '../../domain/errors.ts';
import { mergePatch } from '../../domain/merge-patch.ts';
import { type DamagedReactor, REACTOR_LIMITS, type Reactor } from '../../domain/reactors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ReactorClient } from '../../reactors/client.ts';
import type { Audit } from '../audit.ts';
import { refusedAsDamaged } from '../damage.ts';
import { actorOf, logEntry } from '../log-entries.ts';
import { updatedByOthers, type UpdateTurns } from '../update-turns.ts';
import { findReactor, noSuchReactor, openReactor } from './open.ts';
import { revisedOf } from './revised.ts';
import type { ReactorVault } from './vault.ts';

export interface ReactorParts {
  readonly database: Database;
  readonly vault: ReactorVault;
  readonly client: ReactorClient;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** A reactor as a caller puts it. */
export interface ReactorInput {
  name: string;
  code: string;
  configuration: Record<string, string>;
  application?: { id: string } | null;
}

/** A merge patch of one. */
export interface ReactorPatch {
  name?: string;
  code?: string;
  configuration?: Record<string, string | null>;
  application?: { id?: string | null } | null;
}

/**
 * Longest time that the answer to a change waits for an instance that runs it, in ms: a start takes less, on a machine
 * that is not overloaded. So whoever has the answer calls what was put, unless its instances cannot start.
 */
const ROLLOUT_WAIT_MS = 10_000;

/** How often a patch is tried because a change by another replica, or a replacement, came first. */
const ATTEMPTS = 5;

/** Throws 'unprocessable' where the code does not compile or export a function. */
export async function checkCode(client: ReactorClient, code: string): Promise<void> {
  const verdict = await client.check(code);
  if (verdict.ok) return;
  if (verdict.kind === 'unavailable') throw new DomainError('unavailable', 'Code cannot be checked now; try again.');
  throw new DomainError('unprocessable', verdict.message, { violations: { code: [verdict.message] } });
}

/** Throws 'invalid' unless the application exists and may act in a reactor's name. */
export async function checkApplication(database: Database, tenantId: string, id: string): Promise<void> {
  const application = await getApplication(database, tenantId, id);
  if (application === undefined) throw invalid('application.id', 'must be the id of an application');
  if (application.type === 'management') throw invalid('application.id', 'must name a public or private application');
}

/** A reactor with its code and configuration; the read is logged before anything leaves. */
export async function readReactor(parts: ReactorParts, caller: Caller, id: string): Promise<Reactor> {
  const reactor = await openReactor(parts, caller, 'read', id);
  await parts.audit.record([logEntry(actorOf(caller), 'read', 'reactor', id)]);
  return reactor;
}

/** One page of the tenant's reactors, newest first. Damaged ones are on it, and shown as that. */
export async function pageReactors(
  { database, vault, audit }: ReactorParts,
  caller: Caller,
  filter: { ids?: string[]; name?: string },
  page: { page: number; size: number },
): Promise<{ items: (Reactor | DamagedReactor)[]; totalItems: number }> {
  const { rows, total } = await pageOfReactors(database, { tenantId: caller.tenantId, ...filter }, page);
  const opened = await vault.open(rows);
  const entries = rows.map(({ id }, index) => {
    const entry = logEntry(actorOf(caller), 'read', 'reactor', id);
    return opened[index] === undefined ? refusedAsDamaged(entry) : entry;
  });
  await audit.record(entries);
  const items = rows.map((row, index) => opened[index] ?? { ...row, damaged: true as const });
  return { items, totalItems: total };
}

export async function createReactor(parts: ReactorParts, caller: Caller, input: ReactorInput): Promise<Reactor> {
  const { tenantId, applicationId: createdBy } = caller;
  const applicationId = input.application?.id ?? null;
  if (applicationId !== null) await checkApplication(parts.database, tenantId, applicationId);
  await checkCode(parts.client, input.code);
  const { name, code, configuration } = input;
  const unversioned = {
    ...{ tenantId, id: randomUUID(), name, code, configuration, applicationId, createdBy },
    ...REACTOR_DEFAULTS,
    scaling: DEFAULT_SCALING,
    egress: null,
    createdAt: new Date(parts.clock.now()),
  };
  const reactor = { ...unversioned, revision: await parts.vault.revisionOf(unversioned), declared: false };
  const sealed = await parts.vault.seal(reactor);
  await insertReactor(
    parts.database,
    { ...reactor, ...sealed },
    logEntry(actorOf(caller), 'create', 'reactor', reactor.id),
  );
  return { ...reactor, modifiedBy: null, modifiedAt: null };
}

async function awaitRollout({ client }: ReactorParts, reactor: Reactor, signal?: AbortSignal): Promise<void> {
  const { tenantId, id: reactorId } = reactor;
  await client.rolledOut({ tenantId, reactorId, ...revisedOf(reactor) }, ROLLOUT_WAIT_MS, signal);
}

async function replace(
  parts: ReactorParts,
  caller: Caller,
  current: Omit<Reactor, 'code' | 'configuration'> & { readonly code?: string },
  input: ReactorInput,
  basedOn?: Pick<Reactor, 'revision' | 'modifiedAt'>,
): Promise<Reactor | undefined> {
  const applicationId = input.application?.id ?? null;
  if (applicationId !== null && applicationId !== current.applicationId) {
    await checkApplication(parts.database, caller.tenantId, applicationId);
  }
  if (input.code !== current.code) await checkCode(parts.client, input.code);
  const { name, code, configuration } = input;
  const changed = {
    ...current,
    ...{ name, code, configuration, applicationId },
    modifiedBy: caller.applicationId,
    modifiedAt: new Date(parts.clock.now()),
  };
  const reactor = { ...changed, revision: await parts.vault.revisionOf(changed) };
  const sealed = await parts.vault.seal(reactor);
  const log = logEntry(actorOf(caller), 'update', 'reactor', current.id);
  const row = await replaceReactor(parts.database, { ...reactor, ...sealed }, log, basedOn);
  return row && reactor;
}

/**
 * Replaces name, code, configuration and application, so that a damaged one is whole again. Waits a while for an
 * instance that runs it, until `signal` is aborted.
 */
export async function updateReactor(
  parts: ReactorParts,
  caller: Caller,
  id: string,
  input: ReactorInput,
  signal?: AbortSignal,
): Promise<Reactor> {
  const { row, reactor } = await findReactor(parts, caller, id);
  const { code: _, configuration: __, ...unopened } = row;
  const updated = await replace(parts, caller, reactor ?? unopened, input);
  if (updated === undefined) throw noSuchReactor();
  await awaitRollout(parts, updated, signal);
  return updated;
}

function patchedApplication(current: string | null, patch: ReactorPatch['application']): string | null {
  if (patch === null) return null;
  return patch?.id === undefined ? current : patch.id;
}

function patched(current: Reactor, patch: ReactorPatch): ReactorInput {
  const configuration = mergePatch(current.configuration, patch.configuration ?? {}) as Record<string, string>;
  const violations = new ViolationCollector();
  if (Object.keys(configuration).length > REACTOR_LIMITS.configurationEntries) {
    violations.add('configuration', `must have at most ${REACTOR_LIMITS.configurationEntries} entries`);
  }
  violations.throwIfAny();
  const named = patchedApplication(current.applicationId, patch.application);
  return {
    name: patch.name ?? current.name,
    code: patch.code ?? current.code,
    configuration,
    application: named === null ? null : { id: named },
  };
}

async function patchAmongReplicas(
  parts: ReactorParts,
  caller: Caller,
  id: string,
  patch: ReactorPatch,
): Promise<Reactor> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const current = await openReactor(parts, caller, 'update', id);
    const updated = await replace(parts, caller, current, patched(current, patch), current);
    if (updated !== undefined) return updated;
  }
  throw updatedByOthers('reactor');
}

/**
 * Applies a merge patch (RFC 7386), and waits as `updateReactor` does. Fails as `updateToken` does where others change
 * the reactor, or `signal` is aborted before its turn.
 */
export async function patchReactor(
  parts: ReactorParts & { readonly reactorUpdates: UpdateTurns },
  caller: Caller,
  id: string,
  patch: ReactorPatch,
  signal?: AbortSignal,
): Promise<void> {
  const { tenantId } = caller;
  const patchNow = () => patchAmongReplicas(parts, caller, id, patch);
  const updated = await parts.reactorUpdates.run({ tenantId, id }, patchNow, signal);
  // Not in its turn: others have theirs meanwhile.
  await awaitRollout(parts, updated, signal);
}

export async function deleteReactor(parts: ReactorParts, caller: Caller, id: string): Promise<void> {
  const log = logEntry(actorOf(caller), 'delete', 'reactor', id);
  if (!(await deleteRow(parts.database, caller.tenantId, id, log))) throw noSuchReactor();
}
