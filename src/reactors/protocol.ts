import type { Json } from '../domain/json.ts';
import type { StopReason } from '../domain/reactor-supervision.ts';
import type { CodeFault, SvcAccess } from './types.ts';

/** API to supervisor, HTTP: `POST /invoke` answers 200 with an InvocationOutcome, whatever the code did. */
export interface InvokeRequest {
  revision: string;
  args: Json;
  svc?: SvcAccess;
  traceId: string;
  timeoutMs: number;
  /** The reactor's own timeout does not apply. */
  asynchronous?: boolean;
}

/** API to checker, HTTP: `POST /check` answers 200 with a CheckOutcome. */
export interface CheckRequest {
  code: string;
}

/** On a 503: the instance took nothing on, no code has run, and the request may go elsewhere. */
export const BUSY_HEADER = 'x-reactor-busy';

/** On every answer: how many invocations the instance runs at a time. */
export const CONCURRENCY_HEADER = 'x-reactor-concurrency';

/** Supervisor to child: one JSON text a line. What is for the guest stays text in text: the child does not read it. */
export type ToChild =
  | { type: 'load'; guest: string; code: string; limits: ChildLimits }
  | { type: 'invoke'; id: number; request: string; svc: boolean }
  | { type: 'answer'; id: number; call: string; payload: string }
  /** The time of a run is over: it ends as 'stopped', unless it has ended otherwise, once no code of it runs. */
  | { type: 'stop'; id: number }
  /** To be answered at once: nothing but what the process computes for the guest keeps it from listening. */
  | { type: 'ping' };

export interface ChildLimits {
  heapMb: number;
  loadMs: number;
  sliceMs: number;
  cpuMs: number;
  resultBytes: number;
  timers: number;
  calls: number;
  callBytes: number;
  log: { lines: number; lineBytes: number; totalBytes: number };
}

/** Child to supervisor: as hostile as the code itself, see `parseFromChild`. */
export type FromChild =
  | { type: 'loaded' }
  /** `module`: what the code required and is not there. */
  | { type: 'refused'; fault: CodeFault; line?: number; module?: string }
  /** Of `svc` or `fetch`; the answer names `call`. */
  | { type: 'call'; id: number; call: string; operation: string; payload: string }
  /** The guest does not wait for the answer any more; none is due. */
  | { type: 'cancel'; id: number; call: string }
  /** Printed to the console, within LOG_LIMITS; one character more than fits in a line tells that it was cut. */
  | { type: 'log'; id: number; level: string; text: string }
  /** So many lines have been left out by now. */
  | { type: 'omitted'; id: number; lines: number }
  /** Comes before the end of a run that has left too little memory for another one in this process. */
  | { type: 'worn' }
  | { type: 'pong' }
  | ({ id: number } & Settled);

/** How guest code ended, as text that nobody has looked at yet. */
export type Settled =
  /** JSON texts; the empty text: absent. */
  | { type: 'returned'; raw: string; tokenize: string }
  /** Of an error class: JSON `{class, errors}`. */
  | { type: 'classed'; error: string }
  /** Of a CustomHttpResponseError: JSON `{status, headers, body}`. */
  | { type: 'custom'; response: string }
  /** `module`: what the code required and is not there. */
  | { type: 'threw'; name: string; line?: number; module?: string }
  /** No JSON form, or not of the contract's. */
  | { type: 'invalid' }
  | { type: 'too-large' }
  /** As it was told to; the process can go on. */
  | { type: 'stopped' }
  | { type: 'breach'; reason: StopReason };

type Shape = Record<string, 'string' | 'number' | 'string?' | 'number?'>;

const SHAPES: Record<FromChild['type'], Shape> = {
  loaded: {},
  refused: { fault: 'string', line: 'number?', module: 'string?' },
  call: { id: 'number', call: 'string', operation: 'string', payload: 'string' },
  cancel: { id: 'number', call: 'string' },
  log: { id: 'number', level: 'string', text: 'string' },
  omitted: { id: 'number', lines: 'number' },
  worn: {},
  pong: {},
  returned: { id: 'number', raw: 'string', tokenize: 'string' },
  classed: { id: 'number', error: 'string' },
  custom: { id: 'number', response: 'string' },
  threw: { id: 'number', name: 'string', line: 'number?', module: 'string?' },
  invalid: { id: 'number' },
  'too-large': { id: 'number' },
  stopped: { id: 'number' },
  breach: { id: 'number', reason: 'string' },
};

/** A message of the child, or undefined for anything that is not exactly one. */
export function parseFromChild(line: string): FromChild | undefined {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof message !== 'object' || message === null || !('type' in message)) return undefined;
  const { type } = message;
  if (typeof type !== 'string' || !Object.hasOwn(SHAPES, type)) return undefined;
  const members = message as Record<string, unknown>;
  for (const [name, kind] of Object.entries(SHAPES[type as FromChild['type']])) {
    const value = members[name];
    if (value === undefined && kind.endsWith('?')) continue;
    if (typeof value !== kind.replace('?', '')) return undefined;
  }
  return message as FromChild;
}
