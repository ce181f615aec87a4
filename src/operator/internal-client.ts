import type {
  ApplicationDeclaration,
  DeclarationChange,
  ReactorDeclaration,
  ReactorDemand,
  ReactorInstance,
  ReactorList,
  TenantDeclaration,
} from '../domain/declarations.ts';
import type { Violations } from '../domain/errors.ts';
import { isJsonObject } from '../domain/json.ts';
import { createInternalConnection } from './internal-connection.ts';
import type { InternalAnswer, InternalApiAccess } from './internal-connection.ts';
import { createTurns } from './turns.ts';

/** The data plane said no, or could not be asked. The message holds no declared value. */
export class InternalApiError extends Error {
  override readonly name = 'InternalApiError';
  /** HTTP status; undefined where no answer came. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.status = status;
  }

  /** Whether repeating the same request cannot help. */
  get isTerminal(): boolean {
    return this.status === 400 || this.status === 413 || this.status === 422;
  }

  /** Whether it tells of the API, or of the operator's own standing there, rather than of what was declared. */
  get isOutage(): boolean {
    const { status } = this;
    return status === undefined || status === 401 || status === 403 || status === 429 || status >= 500;
  }
}

export interface Declared {
  /** Whether the API held something else before. */
  changed: boolean;
}

/**
 * The internal API of the data plane. Every method rejects with an InternalApiError. Of the calls that change one
 * object, each waits for the one before it.
 */
export interface InternalClient {
  putTenant(tenantId: string, declaration: TenantDeclaration): Promise<Declared>;
  deleteTenant(tenantId: string): Promise<void>;
  putApplication(tenantId: string, id: string, declaration: ApplicationDeclaration): Promise<Declared>;
  deleteApplication(tenantId: string, id: string): Promise<void>;
  /** Has the keys that were declared for an application work no longer, and leaves it otherwise as it is. */
  revokeDeclaredKeys(tenantId: string, id: string): Promise<void>;
  putReactor(tenantId: string, id: string, declaration: ReactorDeclaration): Promise<Declared>;
  deleteReactor(tenantId: string, id: string): Promise<void>;
  listReactors(): Promise<ReactorList>;
  listDemand(): Promise<ReactorDemand[]>;
  putInstances(tenantId: string, reactorId: string, instances: ReactorInstance[]): Promise<void>;
  putChecker(instance: ReactorInstance): Promise<void>;
  /** Lines of the change stream, until it breaks or falls silent (rejects), or `signal` aborts. */
  changes(signal: AbortSignal): AsyncGenerator<DeclarationChange>;
  /** Breaks off every call that is under way, and refuses later ones. */
  close(): void;
}

/** Told how calls end: whether there is an API to ask. */
export interface CallObserver {
  /** A change was taken, or refused for what it was. */
  answered(): void;
  /** No other call can be expected to do better. */
  unanswered(): void;
}

export interface InternalClientOptions extends InternalApiAccess {
  observer?: CallObserver;
  /** For a whole request, in ms. Default 10,000. */
  timeoutMs?: number;
  /** For the requests that may wait for a code check or work in batches, in ms. Default 60,000. */
  slowTimeoutMs?: number;
  /** The stream pings every few seconds; silence for longer than this is a dead connection. */
  silenceMs?: number;
}

const TIMEOUT_MS = 10_000;
// Longer than the API takes at worst: a repeated call would come beside the one that still works there.
const SLOW_TIMEOUT_MS = 60_000;
const SILENCE_MS = 20_000;
// It is asked for every second, and what it was a while ago is of little use.
const DEMAND_TIMEOUT_MS = 2_000;

/** A client over HTTP, with keep-alive. */
export function createInternalClient(options: InternalClientOptions): InternalClient {
  const { timeoutMs = TIMEOUT_MS, slowTimeoutMs = SLOW_TIMEOUT_MS, silenceMs = SILENCE_MS, observer } = options;
  const demandTimeoutMs = Math.min(timeoutMs, DEMAND_TIMEOUT_MS);
  const inTurn = createTurns();
  const closing = new AbortController();
  const connection = createInternalConnection(options);

  async function request(
    method: string,
    path: string,
    body: object | undefined,
    signal: AbortSignal,
  ): Promise<InternalAnswer> {
    let answer: InternalAnswer;
    try {
      answer = await connection.send({ method, path, body, signal: AbortSignal.any([signal, closing.signal]) });
    } catch (error) {
      if (error instanceof InternalApiError) throw error;
      throw new InternalApiError('The API does not answer', undefined, error);
    }
    if (answer.status < 200 || answer.status > 299) throw await toError(answer);
    return answer;
  }

  async function call<Answer>(method: string, path: string, body?: object, limitMs = timeoutMs): Promise<Answer> {
    const answer = await request(method, path, body, AbortSignal.timeout(limitMs));
    try {
      return (await answer.json()) as Answer;
    } catch (error) {
      throw new InternalApiError('The answer of the API broke off', undefined, error);
    }
  }

  /** Reads answer where writes would not: only changes tell that the API is back. */
  async function change<Answer>(method: 'PUT' | 'DELETE', path: string, body?: object, limitMs?: number) {
    try {
      const answer = await call<Answer>(method, path, body, limitMs);
      observer?.answered();
      return answer;
    } catch (error) {
      if (!closing.signal.aborted && error instanceof InternalApiError) tell(path, error);
      throw error;
    }
  }

  function tell(path: string, error: InternalApiError): void {
    // The code of a reactor is checked by an instance: it may be that which is away.
    if (error.status === 503 && path.includes('/reactors/')) return;
    if (error.isOutage) observer?.unanswered();
    else observer?.answered();
  }

  const put = <Answer>(path: string, body: object, limitMs?: number): Promise<Answer> =>
    inTurn(path, () => change<Answer>('PUT', path, body, limitMs));
  const remove = (path: string, limitMs?: number): Promise<void> =>
    inTurn(path, () => change<void>('DELETE', path, undefined, limitMs)).catch((error: unknown) => {
      if (!(error instanceof InternalApiError && error.status === 404)) throw error;
    });
  const at = (...segments: string[]) => segments.map(encodeURIComponent).join('/');

  return {
    putTenant: (tenantId, declaration) => put(at('tenants', tenantId), declaration),
    deleteTenant: (tenantId) => remove(at('tenants', tenantId), slowTimeoutMs),
    putApplication: (tenantId, id, declaration) => put(at('tenants', tenantId, 'applications', id), declaration),
    deleteApplication: (tenantId, id) => remove(at('tenants', tenantId, 'applications', id)),
    revokeDeclaredKeys: (tenantId, id) => remove(at('tenants', tenantId, 'applications', id, 'keys')),
    putReactor: (tenantId, id, declaration) => put(at('tenants', tenantId, 'reactors', id), declaration, slowTimeoutMs),
    deleteReactor: (tenantId, id) => remove(at('tenants', tenantId, 'reactors', id)),
    async listReactors() {
      // An API of an earlier release does not tell of damaged ones.
      const { data, damaged = [] } = await call<Pick<ReactorList, 'data'> & Partial<ReactorList>>('GET', 'reactors');
      return { data, damaged };
    },
    listDemand: async () => (await call<{ data: ReactorDemand[] }>('GET', 'demand', undefined, demandTimeoutMs)).data,
    putInstances: (tenantId, reactorId, instances) =>
      put(at('tenants', tenantId, 'reactors', reactorId, 'instances'), { instances }),
    putChecker: (instance) => put('checker', instance),

    close() {
      closing.abort();
      connection.close();
    },

    async *changes(signal) {
      const silence = new AbortController();
      const abort = () => silence.abort(new InternalApiError('The change stream fell silent'));
      let timer = setTimeout(abort, silenceMs);
      try {
        const answer = await request('GET', 'changes', undefined, AbortSignal.any([signal, silence.signal]));
        const decoder = new TextDecoder();
        let rest = '';
        for await (const chunk of answer.chunks) {
          clearTimeout(timer);
          timer = setTimeout(abort, silenceMs);
          const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as DeclarationChange;
        }
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Reads an RFC 9457 problem: its detail and violations name fields and never hold their values. */
async function toError(answer: InternalAnswer): Promise<InternalApiError> {
  const { status } = answer;
  const problem: unknown = await answer.json().catch(() => undefined);
  if (!isJsonObject(problem)) return new InternalApiError(`The API answered ${status}`, status);
  const violations = Object.entries((isJsonObject(problem['errors']) ? problem['errors'] : {}) as Violations);
  const faults = violations.map(([path, messages]) => `${path} ${messages.join(', ')}`.trim());
  const summary = [problem['detail'], problem['title']].find((text) => typeof text === 'string');
  const detail = faults.length > 0 ? faults.join('; ') : (summary ?? 'no reason given');
  return new InternalApiError(`The API answered ${status}: ${detail}`, status);
}
