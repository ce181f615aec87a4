import { absent, equals, memberAt, present } from './facts.ts';
import type { Narrator } from './narrator.ts';

const NUMBER = '4242424242424242';
const CARD = { number: NUMBER, expiration_month: 12, expiration_year: 2035, cvc: '123' };
const TOKEN = '/tokens/demo-card';

/** The life of one card among the applications of `config/samples`. */
export async function tellStory({ tell }: Narrator): Promise<void> {
  await tell({
    title: 'A checkout form tokenizes a card. What it sent does not come back',
    ...{ as: 'collector', method: 'POST', path: '/tokens', body: { id: 'demo-card', type: 'card', data: CARD } },
    ...{ status: 201, facts: [equals('data.number', 'XXXXXXXXXXXX4242'), absent('data.cvc')] },
  });
  await readAsEverybody(tell);
  await usePlaintext(tell);
  await runReactor(tell);
  await changeAndDelete(tell);
}

type Tell = Narrator['tell'];

async function readAsEverybody(tell: Tell): Promise<void> {
  await tell({
    title: 'The form itself can read nothing',
    ...{ as: 'collector', method: 'GET', path: TOKEN, status: 403 },
  });
  await tell({
    title: 'Auditors see that there is a card, redacted',
    ...{ as: 'auditor', method: 'GET', path: TOKEN },
    ...{ status: 200, facts: [equals('id', 'demo-card'), absent('data')] },
  });
  await tell({
    title: 'Support sees the last four digits: masked',
    ...{ as: 'support', method: 'GET', path: TOKEN },
    ...{ status: 200, facts: [equals('data.number', 'XXXXXXXXXXXX4242'), absent('data.cvc')] },
  });
  await tell({
    title: 'The payments backend sees all of it: revealed',
    ...{ as: 'payments', method: 'GET', path: TOKEN },
    ...{ status: 200, facts: [equals('data.number', NUMBER), equals('data.cvc', '123')] },
  });
}

async function usePlaintext(tell: Tell): Promise<void> {
  const body = {
    charge: { card: "{{ demo-card | json: '$.number' }}", amount: 1250 },
    receipt: "Paid with the card ending in {{ demo-card | json: '$.number' | last4 }}",
  };
  await tell({
    title: 'It takes parts of the card into a request of its own: detokenized expressions',
    ...{ as: 'payments', method: 'POST', path: '/detokenize', body, status: 200 },
    facts: [equals('charge', { card: NUMBER, amount: 1250 }), equals('receipt', 'Paid with the card ending in 4242')],
  });
  await tell({
    title: 'Support cannot get round its mask that way',
    ...{ as: 'support', method: 'POST', path: '/detokenize', body: { number: '{{ demo-card }}' }, status: 403 },
  });
}

async function runReactor(tell: Tell): Promise<void> {
  const reactors = await tell({
    title: 'The platform team looks up the reactor that is declared',
    ...{ as: 'admin', method: 'GET', path: '/reactors' },
    ...{ status: 200, facts: [equals('data.0.name', 'Card brand')] },
  });
  const outcome = await tell({
    title: 'Payments runs it on the card: code works on the plaintext, inside the vault',
    ...{ as: 'payments', method: 'POST', path: `/reactors/${textAt(reactors, 'data.0.id')}/react` },
    ...{ body: { args: { card: '{{ demo-card }}' } }, status: 200 },
    facts: [equals('raw', { brand: 'visa', last4: '4242' }), present('tokens.receipt')],
  });
  await tell({
    title: 'What the reactor tokenized is a token like any other',
    ...{ as: 'payments', method: 'GET', path: `/tokens/${textAt(outcome, 'tokens.receipt')}` },
    ...{ status: 200, facts: [equals('data', 'Paid with visa ending in 4242')] },
  });
}

async function changeAndDelete(tell: Tell): Promise<void> {
  await tell({
    title: 'The same card once more: deduplicated, it is the token that exists already',
    ...{ as: 'collector', method: 'POST', path: '/tokens' },
    body: { type: 'card', data: CARD, deduplicate_token: true },
    ...{ status: 200, facts: [equals('id', 'demo-card')] },
  });
  await tell({
    title: 'Payments notes whose card it is, in metadata',
    ...{ as: 'payments', method: 'PATCH', path: TOKEN, body: { metadata: { customer: 'c-1042' } } },
    ...{ status: 200, facts: [equals('metadata', { customer: 'c-1042' })] },
  });
  await tell({
    title: 'The log tells who did what to the card, newest first',
    ...{ as: 'admin', method: 'GET', path: '/logs?entity_id=demo-card&size=2', status: 200 },
    facts: [equals('data.0.operation', 'update'), present('data.0.actor_id')],
  });
  await tell({
    title: 'Payments deletes the token',
    ...{ as: 'payments', method: 'DELETE', path: TOKEN, status: 204 },
  });
  await tell({
    title: 'It is gone',
    ...{ as: 'payments', method: 'GET', path: TOKEN, status: 404 },
  });
}

/** A text that a later request takes from an earlier answer; where it is missing, that request fails visibly. */
function textAt(body: unknown, path: string): string {
  return encodeURIComponent(String(memberAt(body, path)));
}
