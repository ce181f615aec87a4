import { randomCardNumber, randomDigits, randomRoutingNumber, randomSecret } from './canary.ts';
import { eventually } from './eventually.ts';
import { invocationIdOf } from './invocation-id.ts';
import type { Answer, RequestOptions } from './standalone.ts';

/** How canaries get into a running vault. */
export interface Planter {
  /** A value of its own for each place, so that a sighting tells where it came from. */
  plant(this: void, name: string, value?: string): string;
  /** Sends a request that must come to this status: one refused too early would plant nothing. */
  ask(this: void, status: number, method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** The same, where only the body of the answer is of use. */
  send(this: void, ...request: Parameters<Planter['ask']>): Promise<Answer['body']>;
  /** Of a management application; `send` uses that of a private one where a request names no other. */
  adminKey(this: void): string;
}

/** In the clear by design: what proves that the scan reads the right bytes. */
export const CLEAR = { metadata: `metadata${randomSecret()}`, id: `token-${randomSecret()}` };

/** In the data, masks and indexes of tokens of every type: created, patched, tokenized, deleted. */
export async function plantTokens({ plant, send }: Planter): Promise<void> {
  const card = { number: plant('card', randomCardNumber()), expiration_month: 1, expiration_year: 2031 };
  const cvc = randomDigits(4);
  plant('cvc as a member', `cvc":"${cvc}`);
  await send(201, 'POST', '/tokens', {
    body: {
      ...{ id: CLEAR.id, type: 'card', data: { ...card, cvc } },
      metadata: { clear: CLEAR.metadata },
      mask: { literal: plant('literal of a mask'), last4: '{{ data.number | last4 }}' },
      search_indexes: ['{{ data.number }}', '{{ data.number | append: "." }}'],
      fingerprint_expression: '{{ data.number }}{{ data.expiration_year }}',
    },
  });
  const account = plant('bank account', randomDigits(17));
  const routing = plant('routing number', randomRoutingNumber());
  const data = { account_number: account, routing_number: routing };
  await send(201, 'POST', '/tokens', { body: { id: 'bank', type: 'bank', data } });
  const primitives = {
    card_number: randomCardNumber(),
    us_bank_account_number: randomDigits(16),
    us_bank_routing_number: randomRoutingNumber(),
    social_security_number: randomDigits(9),
    employer_id_number: randomDigits(9),
    token: randomSecret(),
  };
  for (const [type, value] of Object.entries(primitives)) {
    await send(201, 'POST', '/tokens', { body: { id: `of-${type}`, type, data: plant(type, value) } });
  }
  const twin = { type: 'token', data: { a: plant('deduplicated') }, deduplicate_token: true };
  await send(201, 'POST', '/tokens', { body: twin });
  await send(200, 'POST', '/tokens', { body: twin });
  await send(200, 'PATCH', '/tokens/of-token', { body: { data: plant('patched'), mask: plant('patched mask') } });
  await send(200, 'POST', '/tokenize', {
    body: { plain: plant('tokenized'), object: { type: 'token', data: [plant('tokenized object')] } },
  });
  await send(201, 'POST', '/tokens', { body: { id: 'gone', type: 'token', data: plant('deleted') } });
  await send(204, 'DELETE', '/tokens/gone');
}

/** Reads what has been planted in tokens, in each way that there is. */
export async function readTokens({ plant, send }: Planter): Promise<void> {
  for (const path of [`/tokens/${CLEAR.id}`, '/tokens/bank', '/tokens', '/v2/tokens?size=100'])
    await send(200, 'GET', path);
  await send(200, 'POST', '/detokenize', { body: { tokens: [CLEAR.id, 'bank'] } });
  await send(200, 'POST', '/detokenize', {
    body: { number: `{{ ${CLEAR.id} | json: "$.number" }}`, plain: plant('plain beside expressions') },
  });
}

/** In requests that are refused: whatever is wrong with one must not be quoted. */
export async function plantInRefusals({ plant, send, adminKey }: Planter): Promise<void> {
  await send(400, 'POST', '/tokens', { rawBody: `{"type": "token", "data": "${plant('bad JSON')}"` });
  await send(400, 'POST', '/tokens', {
    body: { type: 'card', data: { number: `${plant('bad Luhn', `4${'1'.repeat(8)}${randomDigits(6)}`)}` } },
  });
  await send(400, 'POST', '/tokens', { body: { type: plant('bad type'), data: 1 } });
  await send(400, 'POST', '/tokens', { body: { type: 'token', data: 1, containers: [plant('bad container')] } });
  await send(400, 'POST', '/tokens', { body: { type: 'token', data: 1, id: `#${plant('bad id')}` } });
  await send(400, 'POST', '/tokens', { body: { type: 'token', data: 1, expires_at: plant('bad instant') } });
  await send(400, 'POST', '/tokens', {
    body: { type: 'token', data: plant('data beside a bad mask'), mask: `{{ data | ${plant('bad filter')} }}` },
  });
  await send(400, 'POST', '/tokens', {
    body: {
      type: 'token',
      data: { n: plant('data of a failing cast') },
      fingerprint_expression: '{{ data.n | to_number }}',
    },
  });
  await send(409, 'POST', '/tokens', { body: { id: 'bank', type: 'token', data: plant('data of a taken id') } });
  await send(415, 'POST', '/tokens', {
    rawBody: plant('body of another type'),
    headers: { 'content-type': 'text/plain' },
  });
  await send(413, 'POST', '/tokens', { rawBody: `"${plant('oversized body')}${' '.repeat(2 ** 20)}"` });
  await send(400, 'PATCH', '/tokens/bank', { body: { data: { account_number: plant('bad patch') } } });
  await send(404, 'PATCH', '/tokens/nowhere', { body: { data: plant('patch of nothing') } });
  await send(403, 'POST', '/tokens', { key: adminKey(), body: { type: 'token', data: plant('forbidden') } });
  await send(401, 'POST', '/tokens', {
    key: plant('malformed key'),
    body: { type: 'token', data: plant('unauthenticated') },
  });
  await send(404, 'GET', `/tokens/${plant('unknown id')}`, {});
  await send(404, 'GET', `/${plant('unknown path')}`, {});
  await send(400, 'GET', `/tokens?size=${plant('bad query')}`, {});
  await send(400, 'GET', `/v2/tokens?start=${plant('bad cursor')}`, {});
  await send(400, 'POST', '/detokenize', { body: { a: `{{ ${plant('unknown id in an expression')} }}` } });
  await send(400, 'POST', '/detokenize', { body: { a: '{{ of-token | to_number }}' } });
  await send(400, 'POST', '/tokenize', { body: { type: 'card', data: { number: plant('bad tokenize') } } });
  await send(400, 'POST', '/applications', {
    key: adminKey(),
    body: { name: 'x', type: plant('bad application type') },
  });
  await send(400, 'POST', '/reactors', { key: adminKey(), body: { name: 'x', code: plant('incomplete reactor') } });
  await send(422, 'POST', '/reactors', {
    key: adminKey(),
    body: {
      name: 'x',
      code: `module.exports = '${plant('code that is refused')}' ?! `,
      configuration: { A: plant('configuration beside it') },
    },
  });
}

/** In the keys of applications, and in a reactor that acts for one. */
export async function plantInApplications(planter: Planter): Promise<void> {
  const { plant, send, adminKey } = planter;
  const body = { name: 'Made', type: 'private', permissions: ['token:create', 'token:read', 'token:use'] };
  const made = await send(201, 'POST', '/applications', { key: adminKey(), body });
  plant('key of a new application', made.key);
  await send(200, 'GET', '/applications/key', { key: adminKey() });
  const key = await send(201, 'POST', `/applications/${made.id}/keys`, { key: adminKey() });
  plant('further key', key.key);
  await send(200, 'GET', '/tokens', { key: key.key });
  await send(204, 'DELETE', `/applications/${made.id}/keys/${key.id}`, { key: adminKey() });
  await send(401, 'GET', '/tokens', { key: key.key });
  await plantInReactors(planter, made.id as string);
}

/**
 * In code, configuration, arguments, results and failures of a reactor. What its code prints of its own accord is not
 * among them: that is meant to be read. What it prints of a request is.
 */
async function plantInReactors({ plant, ask, send, adminKey }: Planter, application: string): Promise<void> {
  const code = `
    module.exports = async ({ args, configuration, svc }) => {
      const kept = '${plant('literal of code')}';
      console.log('invoked', args, configuration, args.secret, 'secret: ' + configuration.SECRET, args.card.number);
      console.error(JSON.stringify({ args, configuration }), kept.length);
      if (args.what === 'throw') throw new Error('${plant('thrown by code')}' + args.secret + configuration.SECRET);
      if (args.what === 'custom') {
        throw new CustomHttpResponseError({ status: 418, headers: {}, body: { a: args.secret } });
      }
      if (args.what === 'bad') throw new BadRequestError(args.secret);
      if (args.what === 'reject') return new Promise((_, reject) => setTimeout(() => reject(args.secret), 5));
      if (args.what === 'loop') for (;;);
      if (args.what === 'unserializable') return { raw: BigInt(1), secret: args.secret };
      if (args.what === 'svc') {
        const token = await svc.tokens.create({ type: 'token', data: args.secret });
        await svc.tokens.retrieve(token.id);
        await svc.tokens.create({ type: 'card', data: { number: args.secret } });
      }
      return { raw: { card: args.card }, tokenize: { kept: args.secret } };
    };`;
  const configuration = { SECRET: plant('configuration') };
  const body = { name: 'Canaries', code, configuration, application: { id: application } };
  const { id } = await send(201, 'POST', '/reactors', { key: adminKey(), body });
  await send(200, 'GET', `/reactors/${id}`, { key: adminKey() });
  await send(200, 'GET', '/reactors', { key: adminKey() });
  const react = (status: number, what: string) =>
    send(status, 'POST', `/reactors/${id}/react`, {
      body: { args: { what, secret: plant(`argument: ${what}`), card: `{{ ${CLEAR.id} }}` } },
    });
  await react(200, 'tokenize');
  await react(500, 'throw');
  await react(418, 'custom');
  await react(400, 'bad');
  await react(500, 'reject');
  await react(500, 'unserializable');
  await react(400, 'svc');
  const asked = await ask(202, 'POST', `/reactors/${id}/react`, {
    body: {
      args: { what: 'tokenize', secret: plant('asynchronous argument'), card: `{{ ${CLEAR.id} }}` },
      callback_url: `https://callback.invalid/${plant('callback URL')}`,
    },
  });
  await eventually(() => send(200, 'GET', `/reactors/${id}/results/${invocationIdOf(asked)}`), { deadlineMs: 30_000 });
  await send(204, 'PATCH', `/reactors/${id}`, {
    key: adminKey(),
    body: { configuration: { SECRET: plant('patched configuration') } },
  });
}

/** In idempotency keys and what is kept under them, and in sessions. */
export async function plantInKeptAnswers({ plant, send, adminKey }: Planter): Promise<void> {
  const keyed = (name: string) => ({ headers: { 'svc-idempotency-key': plant(name) } });
  const body = { type: 'token', data: plant('data of a repeated request'), mask: plant('mask in a kept answer') };
  const repeated = { ...keyed('idempotency key'), body };
  await send(201, 'POST', '/tokens', repeated);
  await send(201, 'POST', '/tokens', repeated);
  await send(400, 'POST', '/tokens', { ...keyed('idempotency key of a refusal'), body: {} });
  const { key } = await send(201, 'POST', '/applications', {
    ...{ key: adminKey(), ...keyed('idempotency key of an application') },
    body: { name: 'Browser', type: 'public', permissions: ['token:create'] },
  });
  plant('key in a kept answer', key);
  const session = await send(201, 'POST', '/sessions', { key });
  const nonce = plant('nonce', session.nonce);
  await send(200, 'POST', '/sessions/authorize', { body: { nonce, permissions: ['token:create'] } });
  await send(409, 'POST', '/sessions/authorize', { body: { nonce, permissions: ['token:create'] } });
  await send(404, 'POST', '/sessions/authorize', {
    body: { nonce: plant('bad nonce'), permissions: ['token:create'] },
  });
  const data = plant('data from a session');
  await send(201, 'POST', '/tokens', { key: plant('session key', session.session_key), body: { type: 'token', data } });
}
