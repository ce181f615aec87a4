import { getApplication } from '../../data/applications.ts';
import type { Database } from '../../data/database.ts';
import { withinTenant } from '../../data/tenant-scope.ts';
import { generateApplicationKey } from '../../domain/application-keys.ts';
import type { Caller } from '../../domain/caller.ts';
import { DomainError, ViolationCollector } from '../../domain/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import { REACTOR_LIMITS, type Reactor } from '../../domain/reactors.ts';
import type { Token } from '../../domain/tokens.ts';
import { findReferences, resolveReferences } from '../../expressions/references.ts';
import type { ReactorClient } from '../../reactors/client.ts';
import { FAILURES } from '../../reactors/errors.ts';
import type { CustomResponse, Invocation, InvocationOutcome, SvcAccess } from '../../reactors/types.ts';
import type { Audit } from '../audit.ts';
import type { AccessRecord, Authentication } from '../authentication.ts';
import { actorOf, logEntry } from '../log-entries.ts';
import type { TokenParts } from '../tokens/create.ts';
import { referable, type RenderToken } from '../tokens/detokenize.ts';
import { resolveTokens } from '../tokens/resolve.ts';
import { tokenize, type TokenizeOptions } from '../tokens/tokenize.ts';
import { openReactor } from './open.ts';
import { revisedOf } from './revised.ts';
import type { ReactorVault } from './vault.ts';

/** Where this process is reached, and by which name it proves to be the one. */
export type ApiAccess = Pick<SvcAccess, 'baseUrl' | 'serverName'>;

export interface ReactParts {
  readonly database: Database;
  readonly vault: ReactorVault;
  readonly client: ReactorClient;
  readonly tokens: TokenParts;
  readonly authentication: Authentication;
  readonly audit: Audit;
  /** Where instances reach this process with the key of one invocation. */
  readonly apiAccess: () => ApiAccess;
  /** Of the headers in which this process takes a key. */
  readonly headerPrefix: string;
}

export interface ReactRequest {
  reactorId: string;
  args: JsonObject;
  traceId: string;
}

/** Checks of token objects and their rendering, which are the API's. */
export type TokenSurface = Pick<TokenizeOptions, 'check'> & { render: RenderToken };

/** What the code gave, its tokens stored; what it wants answered in its own words; or how it failed. */
export type ReactOutcome = { kind: 'done'; raw?: Json; tokens?: Json } | CustomResponse | ReactFailure;

export interface ReactFailure {
  kind: 'failed';
  status: number;
  title: string;
  detail?: string;
  errors?: Record<string, string[]>;
}

/** How an invocation that nobody waits for differs from one that somebody does. */
export interface Unattended extends Required<Pick<Invocation, 'begin' | 'signal'>> {
  /** Told before the code begins where a token that the arguments name holds a card verification code. */
  readonly onCode: () => void;
}

export interface ResolvedArguments {
  args: Json;
  /** As JSON text. */
  argsBytes: number;
  /** Whether a token that they name holds a card verification code, whichever part of it they name. */
  holdCode: boolean;
}

function holdsCode({ type, data }: Token): boolean {
  return type === 'card' && isJsonObject(data) && data['cvc'] !== undefined;
}

/**
 * The arguments as the code gets them; throws where they cannot be, or the caller may not use a token that they name.
 * The uses are logged.
 */
export async function resolveArguments(
  parts: ReactParts,
  caller: Caller,
  reactor: Reactor,
  args: JsonObject,
  render: RenderToken,
): Promise<ResolvedArguments> {
  const violations = new ViolationCollector();
  const { tokens: named } = findReferences(args, violations, 'args');
  const tokens = await resolveTokens(parts.tokens, caller, {
    named,
    violations,
    path: 'args',
    permission: 'token:use',
    operation: 'use',
    limit: REACTOR_LIMITS.tokensPerInvocation,
  });
  const { configuration } = reactor;
  const resolved = resolveReferences(args, { tokens: referable(tokens, render), configuration }, 'args');
  const argsBytes = Buffer.byteLength(JSON.stringify(resolved));
  if (argsBytes > REACTOR_LIMITS.payloadBytes) {
    throw new DomainError('too-large', 'The arguments must not be larger than 1 MB once expressions are replaced.');
  }
  return { args: resolved, argsBytes, holdCode: [...tokens.values()].some(holdsCode) };
}

/**
 * A key with the access of the reactor's application that is good in this process until it is revoked. It is stored
 * nowhere, and the code never sees it: the instance's supervisor holds it. What becomes of the application meanwhile
 * counts for it as for any key.
 */
async function admitReactor(parts: ReactParts, caller: Caller, reactor: Reactor) {
  const { tenantId, applicationId } = reactor;
  if (applicationId === null) return undefined;
  const findAccess = async (): Promise<AccessRecord | undefined> => {
    // Also asked for where a key is presented, and it is not known yet whose.
    const application = await withinTenant(tenantId, () => getApplication(parts.database, tenantId, applicationId));
    if (application === undefined) return undefined;
    const { id, type, permissions, rules, expiresAt } = application;
    // Its own name, not that of a session that invokes it: logs and kept answers are its own.
    const { sessionId: _, ...invoker } = caller;
    return {
      caller: { ...invoker, keyId: id, applicationId: id, applicationType: type, permissions, rules },
      endsAt: expiresAt?.getTime() ?? Infinity,
    };
  };
  const access = await findAccess();
  if (access === undefined) {
    throw new DomainError('unprocessable', 'The application of the reactor does not exist any more.');
  }
  const key = generateApplicationKey(caller.tenantType, access.caller.applicationType);
  return { key, ...parts.authentication.admit(key, findAccess) };
}

interface Run extends Pick<ResolvedArguments, 'args' | 'argsBytes'> {
  traceId: string;
  answerBy: number;
  unattended?: Unattended | undefined;
}

async function invoke(parts: ReactParts, caller: Caller, reactor: Reactor, run: Run) {
  const { args, argsBytes, traceId, answerBy, unattended } = run;
  const admitted = await admitReactor(parts, caller, reactor);
  const timeoutSeconds = unattended ? REACTOR_LIMITS.asynchronousTimeoutSeconds : reactor.timeoutSeconds;
  try {
    return await parts.client.invoke({
      tenantId: reactor.tenantId,
      reactorId: reactor.id,
      ...revisedOf(reactor),
      ...{ args, argsBytes },
      ...(admitted ? { svc: { ...parts.apiAccess(), headerPrefix: parts.headerPrefix, key: admitted.key } } : {}),
      traceId,
      timeoutMs: timeoutSeconds * 1000,
      scaling: reactor.scaling,
      ...(unattended ? { ...unattended, asynchronous: true } : { answerBy }),
    });
  } finally {
    admitted?.revoke();
  }
}

/**
 * Runs a reactor on arguments whose expressions are replaced by plaintext.
 *
 * Every token that the arguments name takes a grant of `token:use`; what the code makes of the plaintext, and what of
 * it comes back in `raw`, its author answers for. The uses and the invocation are logged before the code begins.
 */
export async function runReactor(
  parts: ReactParts,
  caller: Caller,
  { reactorId, args, traceId }: ReactRequest,
  { render }: Pick<TokenSurface, 'render'>,
  unattended?: Unattended,
): Promise<InvocationOutcome> {
  const answerBy = performance.now() + REACTOR_LIMITS.answerSeconds * 1000;
  const reactor = await openReactor(parts, caller, 'react', reactorId);
  const resolved = await resolveArguments(parts, caller, reactor, args, render);
  if (resolved.holdCode) unattended?.onCode();
  await parts.audit.record([logEntry(actorOf(caller), 'react', 'reactor', reactorId)]);
  return invoke(parts, caller, reactor, { ...resolved, traceId, answerBy, unattended });
}

/** What becomes of what a run gave: what its code wants tokenized is stored. */
export async function takeOutcome(
  parts: ReactParts,
  caller: Caller,
  outcome: InvocationOutcome,
  surface: TokenSurface,
): Promise<ReactOutcome> {
  if (outcome.kind === 'custom-response') return outcome;
  if (outcome.kind === 'threw') return { ...outcome, kind: 'failed' };
  if (outcome.kind !== 'returned') return { kind: 'failed', ...FAILURES[outcome.kind] };
  const { raw, tokenize: payload } = outcome;
  return {
    kind: 'done',
    ...(raw === undefined ? {} : { raw }),
    ...(payload === undefined
      ? {}
      : {
          tokens: await tokenize(parts.tokens, caller, payload, {
            ...surface,
            path: 'tokenize',
            needsPermission: false,
          }),
        }),
  };
}

/** Runs a reactor for somebody who waits, and stores what it wants tokenized. */
export async function react(
  parts: ReactParts,
  caller: Caller,
  request: ReactRequest,
  surface: TokenSurface,
): Promise<ReactOutcome> {
  return takeOutcome(parts, caller, await runReactor(parts, caller, request, surface), surface);
}
