import type {
  ApplicationDeclaration,
  DeclarationChange,
  ReactorDeclaration,
  ReactorDemand,
  ReactorInstance,
  ReactorWorkload,
  TenantDeclaration,
} from '../domain/declarations.ts';
import type { Violations } from '../domain/errors.ts';
import { isJsonObject } from '../domain/json.ts';
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
    return this.status === 400 || this.status === 422;
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
  putReactor(tenantId: string, id: string, declaration: ReactorDeclaration): Promise<Declared>;
  deleteReactor(tenantId: string, id: string): Promise<void>;
  listReactors(): Promise<ReactorWorkload[]>;
  listDemand(): Promise<ReactorDemand[]>;
  putInstances(tenantId: string, reactorId: string, instances: ReactorInstance[]): Promise<void>;
  putChecker(instance: ReactorInstance): Promise<void>;
  /** Lines of the change stream, until it breaks or falls silent (rejects), or `signal` aborts. */
  changes(signal: AbortSignal): AsyncGenerator<DeclarationChange>;
  /** Breaks off every call that is under way, and refuses later ones. */
  close(): void;
}

export interface InternalClientOptions {
  baseUrl: string;
  token: string;
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

/** A client over HTTP, with keep-alive. */
export function createInternalClient(options: InternalClientOptions): InternalClient {
  const { timeoutMs = TIMEOUT_MS, slowTimeoutMs = SLOW_TIMEOUT_MS, silenceMs = SILENCE_MS } = options;
  const inTurn = createTurns();
  const closing = new AbortController();

  async function request(method: string, path: string, body: unknown, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { authorization: `Bearer ${options.token}` };
    if (body !== undefined) headers['content-type'] = 'application/json';
    let response: Response;
    try {
      response = await fetch(new URL(`/internal/${path}`, options.baseUrl), {
        method,
        headers,
        redirect: 'error',
        signal: AbortSignal.any([signal, closing.signal]),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (error) {
      throw new InternalApiError('The API does not answer', undefined, error);
    }
    if (!response.ok) throw await toError(response);
    return response;
  }

  async function call<Answer>(method: string, path: string, body?: unknown, limitMs = timeoutMs): Promise<Answer> {
    const response = await request(method, path, body, AbortSignal.timeout(limitMs));
    try {
      return (response.status === 204 ? undefined : await response.json()) as Answer;
    } catch (error) {
      throw new InternalApiError('The answer of the API broke off', undefined, error);
    }
  }

  const put = <Answer>(path: string, body: object, limitMs?: number): Promise<Answer> =>
    inTurn(path, () => call<Answer>('PUT', path, body, limitMs));
  const remove = (path: string, limitMs?: number): Promise<void> =>
    inTurn(path, () => call<void>('DELETE', path, undefined, limitMs)).catch((error: unknown) => {
      if (!(error instanceof InternalApiError && error.status === 404)) throw error;
    });
  const at = (...segments: string[]) => segments.map(encodeURIComponent).join('/');

  return {
    putTenant: (tenantId, declaration) => put(at('tenants', tenantId), declaration),
    deleteTenant: (tenantId) => remove(at('tenants', tenantId), slowTimeoutMs),
    putApplication: (tenantId, id, declaration) => put(at('tenants', tenantId, 'applications', id), declaration),
    deleteApplication: (tenantId, id) => remove(at('tenants', tenantId, 'applications', id)),
    putReactor: (tenantId, id, declaration) => put(at('tenants', tenantId, 'reactors', id), declaration, slowTimeoutMs),
    deleteReactor: (tenantId, id) => remove(at('tenants', tenantId, 'reactors', id)),
    listReactors: async () => (await call<{ data: ReactorWorkload[] }>('GET', 'reactors')).data,
    listDemand: async () => (await call<{ data: ReactorDemand[] }>('GET', 'demand')).data,
    putInstances: (tenantId, reactorId, instances) =>
      put(at('tenants', tenantId, 'reactors', reactorId, 'instances'), { instances }),
    putChecker: (instance) => put('checker', instance),

    close: () => closing.abort(),

    async *changes(signal) {
      const silence = new AbortController();
      const abort = () => silence.abort(new InternalApiError('The change stream fell silent'));
      let timer = setTimeout(abort, silenceMs);
      try {
        const response = await request('GET', 'changes', undefined, AbortSignal.any([signal, silence.signal]));
        const decoder = new TextDecoder();
        let rest = '';
        for await (const chunk of response.body ?? []) {
          clearTimeout(timer);
          timer = setTimeout(abort, silenceMs);
          const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
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
async function toError(response: Response): Promise<InternalApiError> {
  const problem: unknown = await response.json().catch(() => undefined);
  if (!isJsonObject(problem)) return new InternalApiError(`The API answered ${response.status}`, response.status);
  const violations = Object.entries((isJsonObject(problem['errors']) ? problem['errors'] : {}) as Violations);
  const faults = violations.map(([path, messages]) => `${path} ${messages.join(', ')}`.trim());
  const summary = [problem['detail'], problem['title']].find((text) => typeof text === 'string');
  const detail = faults.length > 0 ? faults.join('; ') : (summary ?? 'no reason given');
  return new InternalApiError(`The API answered ${response.status}: ${detail}`, response.status);
}
