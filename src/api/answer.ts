import { Readable } from 'node:stream';
import { renderInSlices } from './render-in-slices.ts';
import type { ApiReply } from './route.ts';
import type { ApiContext } from './state.ts';

/** An answer as it goes over the wire, so that it can be given again byte for byte. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent where the answer has no body. */
  readonly body?: string;
  /** The body of a long page, in UTF-8. */
  readonly pieces?: readonly Buffer[];
  readonly unkept?: boolean;
}

/** For every answer that may hold token data, keys or sessions: no cache keeps it (RFC 9111). */
export const UNSTORED = { 'Cache-Control': 'no-store' };

/** Strips a reply of what its schema does not name, and writes it out. */
export async function renderAnswer(
  reply: ApiReply,
  filters: ReadonlyMap<number, (answer: unknown) => void>,
): Promise<Answer> {
  const { status, body, page, headers = {}, contentType = 'application/json', verbatim, unkept } = reply;
  if (page !== undefined) {
    filters.get(status)?.(page);
    const rendered = await renderInSlices(page);
    const content = typeof rendered === 'string' ? { body: rendered } : { pieces: rendered };
    return { status, headers: { ...headers, 'Content-Type': contentType }, ...content, unkept: true };
  }
  if (body === undefined) return { status, headers };
  if (!verbatim) filters.get(status)?.(body);
  const text = typeof body === 'string' && !contentType.includes('json') ? body : JSON.stringify(body);
  return { status, headers: { ...headers, 'Content-Type': contentType }, body: text, ...(unkept ? { unkept } : {}) };
}

/** What the API says of itself, as the trace id, stands: an answer whose headers a reactor chose cannot change it. */
export function sendAnswer(ctx: ApiContext, { status, headers, body, pieces }: Answer): void {
  const said = new Set(Object.keys(ctx.response.headers));
  ctx.status = status;
  ctx.body = pieces === undefined ? (body ?? null) : Readable.from(pieces);
  if (pieces !== undefined) ctx.length = pieces.reduce((sum, { length }) => sum + length, 0);
  // Koa makes an answer without a body a 204.
  ctx.status = status;
  for (const [name, value] of Object.entries({ ...UNSTORED, ...headers })) {
    if (!said.has(name.toLowerCase())) ctx.set(name, value);
  }
}
