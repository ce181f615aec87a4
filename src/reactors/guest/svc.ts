import type { GuestErrors } from './errors.ts';
import type { HostCall } from './types.ts';

/** The client of our own API: every call is a message to the supervisor, which alone holds address and key. */
export function createSvc(host: HostCall, errors: GuestErrors) {
  const { parse, stringify } = JSON;
  const pending = new Map<string, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let last = 0;

  function call(operation: string, input: Record<string, unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = String((last += 1));
      const refusal = host('svc', id, operation, stringify(input));
      if (refusal === '') pending.set(id, { resolve, reject });
      else reject(new errors.classes['RateLimitError']!(refusal));
    });
  }

  return {
    client: Object.freeze({
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
    }),
    answer(id: string, payload: string): void {
      const waiting = pending.get(id);
      pending.delete(id);
      const answer = parse(payload) as
        { ok: true; value: unknown } | { ok: false; class: string; status: number; errors: unknown };
      if (answer.ok) {
        waiting?.resolve(answer.value);
        return;
      }
      const error = new errors.classes[answer.class]!(answer.errors);
      Object.defineProperty(error, 'status', { value: answer.status, enumerable: true });
      waiting?.reject(error);
    },
  };
}
