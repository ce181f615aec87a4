import type { ReactOutcome } from '../../../services/reactors/react.ts';
import type { ApiReply } from '../../route.ts';

const PROBLEM = 'application/problem+json';

// How the answer is framed and how long its connection lives is the server's business, never a reactor's.
const FRAMING = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What an answer of this status has to say, whoever fails with it. */
const FAILURE_HEADERS: Readonly<Record<number, Record<string, string>>> = {
  401: { 'WWW-Authenticate': 'ApiKey' },
  503: { 'Retry-After': '1' },
};

function presentCustom({ status, headers, body }: Extract<ReactOutcome, { kind: 'custom-response' }>): ApiReply {
  const kept = Object.entries(headers).filter(([name]) => !FRAMING.has(name.toLowerCase()));
  const contentType = kept.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? 'application/json';
  const bodiless = status === 204 || status === 304;
  return {
    status,
    headers: Object.fromEntries(kept),
    verbatim: true,
    ...(bodiless || body === null ? {} : { body, contentType }),
  };
}

/** How an invocation is answered: its output, its own custom answer, or a problem with the status of its error. */
export function presentOutcome(outcome: ReactOutcome, traceId: string): ApiReply {
  const problem = { type: 'about:blank', instance: traceId };
  switch (outcome.kind) {
    case 'done': {
      const { raw, tokens } = outcome;
      return {
        status: 200,
        body: { ...(tokens === undefined ? {} : { tokens }), ...(raw === undefined ? {} : { raw }) },
      };
    }
    case 'custom-response':
      return presentCustom(outcome);
    case 'failed': {
      const { status, title, detail = title, errors } = outcome;
      const headers = FAILURE_HEADERS[status] ?? {};
      const body = { ...problem, title, status, detail, ...(errors ? { errors } : {}) };
      return { status, headers, body, contentType: PROBLEM, verbatim: true };
    }
  }
}
