import type { GuestCalls } from './calls.ts';
import type { GuestErrors } from './errors.ts';

/** The client of our own API: every call is a message to the supervisor, which alone holds address and key. */
export function createSvc(calls: GuestCalls, errors: GuestErrors) {
  const { parse, stringify } = JSON;
  const refused = (reason: string): Error => new errors.classes['RateLimitError']!(reason);

  async function call(operation: string, input: Record<string, unknown>): Promise<unknown> {
    const answer = parse(await calls.call(`svc:${operation}`, stringify(input), refused).answer) as
      { ok: true; value: unknown } | { ok: false; class: string; status: number; errors: unknown };
    if (answer.ok) return answer.value;
    const error = new errors.classes[answer.class]!(answer.errors);
    Object.defineProperty(error, 'status', { value: answer.status, enumerable: true });
    throw error;
  }

  return Object.freeze({
    tokens: Object.freeze({
      create: (body: unknown) => call('tokens.create', { body }),
      retrieve: (id: unknown) => call('tokens.retrieve', { id }),
      update: (id: unknown, body: unknown) => call('tokens.update', { id, body }),
      delete: (id: unknown) => call('tokens.delete', { id }),
      list: (query: unknown) => call('tokens.list', { query }),
      search: (body: unknown) => call('tokens.search', { body }),
    }),
    tokenize: (body: unknown) => call('tokenize', { body }),
    detokenize: (body: unknown) => call('detokenize', { body }),
  });
}
