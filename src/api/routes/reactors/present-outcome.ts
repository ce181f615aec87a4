import type { ReactOutcome } from '../../../services/reactors/react.ts';
import { problemHeaders, PROBLEM_TYPE } from '../../problem.ts';
import type { ApiReply } from '../../route.ts';

// How the answer is framed and how long its connection lives is the server's business, never a reactor's. The body is
// text, which no coding has been applied to.
const FRAMING = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

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
      const body = { ...problem, title, status, detail, ...(errors ? { errors } : {}) };
      return { status, headers: problemHeaders(status), body, contentType: PROBLEM_TYPE, verbatim: true };
    }
  }
}
