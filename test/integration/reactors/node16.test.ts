import { expect } from 'chai';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Json } from '../../../src/domain/json.ts';
import { Instance } from '../../../src/reactors/host/instance.ts';
import type { InvocationOutcome } from '../../../src/reactors/types.ts';
import { workloadOf } from '../../support/reactors.ts';
import { PEER_KEYS, startPeer } from '../../support/reactors/node16-peer.ts';
import type { Peer } from '../../support/reactors/node16-peer.ts';
import { runInPlainNode } from '../../support/reactors/plain-node.ts';
import type { Ended } from '../../support/reactors/plain-node.ts';

const FOLDER = fileURLToPath(new URL('../../fixtures/reactors-node16/', import.meta.url));
/** A name that leads to this machine for the instances of this test alone: no policy lets them call loopback. */
const HOST = 'peer.test';
const network = { resolve: async () => ['127.0.0.1'], allowAddress: () => true };
const ID = '3e8a6a5f-6ab6-4f53-a4a5-0c2b2e8b9a01';
const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const PEM = { pkcs8: { format: 'pem', type: 'pkcs8' }, spki: { format: 'pem', type: 'spki' } } as const;
const KEYS = {
  PRIVATE_KEY: String(rsa.privateKey.export(PEM.pkcs8)),
  PUBLIC_KEY: String(rsa.publicKey.export(PEM.spki)),
  EC_PRIVATE_KEY: String(ec.privateKey.export(PEM.pkcs8)),
  EC_PUBLIC_KEY: String(ec.publicKey.export(PEM.spki)),
};

const book = (category: string, author: string, title: string, price: number, isbn?: string) => ({
  ...{ category, author, title, price },
  ...(isbn === undefined ? {} : { isbn }),
});
const document = {
  store: {
    owner: 'Ada',
    book: [
      book('reference', 'Nigel Rees', 'Sayings', 8.95),
      book('fiction', 'Evelyn Waugh', 'Honour', 12.99),
      book('fiction', 'Herman Melville', 'Moby Dick', 8.99, '0-553-21311-3'),
    ],
    bicycle: { color: 'red', price: 19.95 },
  },
};

interface Case {
  args?: Json;
  configuration?: Record<string, string>;
  /** Whether it is given `svc`. */
  svc?: boolean;
}

/** What each reactor is called with. `{runtime}` in arguments differs, where the peer counts. */
const CASES: Record<string, Case[]> = {
  'axios-forms.js': [{ args: { amount: 5 }, configuration: { USER: 'merchant', PASSWORD: 'pä:ss' } }],
  'callbacks.js': [{ args: { value: 21 } }],
  'charge-card.js': [
    { args: { card, amount: 1250, currency: 'eur' }, configuration: PEER_KEYS },
    { args: { card: { ...card, number: '4000000000000002' }, amount: 1, currency: 'eur' }, configuration: PEER_KEYS },
    { args: { card, amount: 1, currency: 'eur' }, configuration: { SECRET_KEY: 'wrong' } },
  ],
  'event-pipeline.js': [{ args: { opening: 10, bookings: [5, -20, 1] } }, { args: { opening: 10, bookings: [1, 2] } }],
  'extract-fields.js': [{ args: { document } }],
  'fingerprints.js': [
    { args: { iv: '000102030405060708090a0b', text: 'häuser 4242' }, configuration: { PASSPHRASE: 'correct horse' } },
  ],
  'formatting.js': [{ args: { names: ['b', 'a', 'C'] } }],
  'idempotency-keys.js': [{ args: { merchant: 'm-1', order: 'o-1' } }],
  'links.js': [{ args: { base: 'https://shop.example', returnTo: 'https://a.example/?x=1&y=ü' } }],
  'message-packing.js': [{ args: { pan: '4242424242424242', amount: 123456, trace: 42 } }],
  'pages.js': [{ args: { limit: 100 } }, { args: { limit: 4 } }],
  'refusals.js': [
    { args: { document: '{"a":1}' } },
    { args: { document: '{"a":null,"b":null}', class: 'BadRequestError' } },
    { args: { document: '{', class: 'InvalidReactorConfigurationError', wrapped: true } },
    { args: { document: '{"4242":' } },
    { args: { document: '{}', class: 'RateLimitError', message: ['slow', 'down'] } },
    { args: { document: '{}', class: 'ReactorRuntimeError', message: 'failed' } },
    { args: { custom: true } },
  ],
  'retrying-client.js': [
    { args: { key: '{runtime}-1', order: { id: 7 } } },
    { args: { key: 'refused-{runtime}', order: { id: 8 } } },
  ],
  'signed-request.js': [
    { args: { account: '0532013000', memo: 'ünïcode €', timestamp: 1635724800 }, configuration: { SECRET: 'whsec' } },
  ],
  'signing-keys.js': [{ args: { message: 'pay 10' }, configuration: KEYS }],
  'time-limits.js': [{}],
  'vault-client.js': [{ args: { token: ID }, svc: true }, { args: { token: ID } }],
  'web-platform.js': [{ args: { text: 'grüße €' } }],
};

function endOf(outcome: InvocationOutcome): Ended | { kind: string } {
  switch (outcome.kind) {
    case 'returned': {
      const { raw, tokenize } = outcome;
      return { ...(raw === undefined ? {} : { raw }), ...(tokenize === undefined ? {} : { tokenize }) };
    }
    case 'threw':
      return { status: outcome.status, ...(outcome.errors ? { errors: outcome.errors } : {}) };
    case 'custom-response':
      return { custom: { status: outcome.status, headers: outcome.headers, body: outcome.body } };
    default:
      return outcome;
  }
}

describe('reactors written for Node 16', function () {
  this.timeout(60_000);
  let peer: Peer;
  before(async () => {
    peer = await startPeer();
  });
  after(() => peer.close());

  /** An instance for each reactor and configuration. */
  const instances = new Map<string, Instance>();
  after(() => Promise.all([...instances.values()].map((instance) => instance.kill())));

  async function instanceOf(code: string, configuration: Record<string, string>): Promise<Instance> {
    const key = JSON.stringify([code, configuration]);
    const known = instances.get(key);
    if (known) return known;
    const workload = workloadOf(code, { configuration, egress: { allow: [`${HOST}:${peer.port}`] } });
    const instance = new Instance({ workload, onStopped: () => undefined, network });
    instances.set(key, instance);
    expect(await instance.start()).to.equal(undefined);
    return instance;
  }

  async function runInInstance(code: string, args: Json, configuration: Record<string, string>, svc: boolean) {
    const instance = await instanceOf(code, configuration);
    return instance.invoke({
      ...{ revision: 'any', args, traceId: 'trace', timeoutMs: 20_000 },
      ...(svc ? { svc: { baseUrl: peer.url, headerPrefix: 'SVC', key: 'key' } } : {}),
    });
  }

  it('are all tried', () => {
    expect(readdirSync(FOLDER).sort()).to.deep.equal(Object.keys(CASES).sort());
  });

  for (const [name, cases] of Object.entries(CASES)) {
    it(`${name} ends as it does in Node`, async () => {
      const code = readFileSync(FOLDER + name, 'utf8');
      for (const { args = {}, configuration: own = {}, svc = false } of cases) {
        const configurationFor = (url: string) => ({ ...own, URL: url, PROCESSOR_URL: url });
        const argsFor = (runtime: string): Json =>
          JSON.parse(JSON.stringify(args).replaceAll('{runtime}', runtime)) as Json;
        const svcUrl = svc ? peer.url : undefined;
        const expected = await runInPlainNode(FOLDER + name, code, {
          args: argsFor('node'),
          configuration: configurationFor(peer.url),
          svcUrl,
        });
        const outcome = await runInInstance(
          code,
          argsFor('ours'),
          configurationFor(`http://${HOST}:${peer.port}`),
          svc,
        );
        expect(endOf(outcome), JSON.stringify(outcome)).to.deep.equal(expected);
      }
    });
  }
});
