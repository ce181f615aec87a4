import { inspect } from 'node:util';
import { expect } from 'chai';
import { createKubernetesClient } from '../../../../src/platform/kubernetes/client.ts';
import type { KubernetesClient, RequestObservation } from '../../../../src/platform/kubernetes/client.ts';
import { KubernetesError } from '../../../../src/platform/kubernetes/errors.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  event,
  json,
  object,
  page,
  refusal,
  reset,
  startScriptedApi,
  stream,
  streamAndEnd,
} from '../../../support/kubernetes/scripted-api.ts';
import type { ScriptedApi } from '../../../support/kubernetes/scripted-api.ts';
import { rejection } from '../../../support/rejection.ts';

const SECRETS = { group: '', version: 'v1', plural: 'secrets', namespace: 'default' };
const SECRET = { ...SECRETS, name: 'checkout-api-key' };
const APPLICATION = {
  group: 'tokenkeep.dev',
  version: 'v1alpha1',
  plural: 'applications',
  namespace: 'payments',
  name: 'checkout',
};
const TIMEOUT_MS = 30_000;

describe('the Kubernetes client', () => {
  let api: ScriptedApi;
  let client: KubernetesClient;
  let observed: RequestObservation[];

  beforeEach(async () => {
    api = await startScriptedApi();
    observed = [];
    client = clientWith(TIMEOUT_MS);
  });

  afterEach(async () => {
    client.close();
    await api.close();
  });

  function clientWith(timeoutMs: number): KubernetesClient {
    const onRequest = (observation: RequestObservation): void => void observed.push(observation);
    return createKubernetesClient({ kubeConfig: api.kubeConfig, timeoutMs, onRequest });
  }

  async function failureOf(attempt: Promise<unknown>): Promise<KubernetesError> {
    const error = await rejection(attempt);
    expect(error).to.be.instanceOf(KubernetesError);
    return error as KubernetesError;
  }

  it('reads an object with its token, over a connection that it keeps', async () => {
    api.others.push(json(object('checkout', 1)), json(object('checkout', 2)));
    await client.read(APPLICATION);
    expect(await client.read(APPLICATION)).to.deep.equal(object('checkout', 2));
    expect(api.seen.map(({ method, path }) => `${method} ${path}`)).to.deep.equal(
      Array(2).fill('GET /apis/tokenkeep.dev/v1alpha1/namespaces/payments/applications/checkout'),
    );
    expect(api.seen[0]?.headers.authorization).to.equal('Bearer the-token');
    expect(api.connections()).to.equal(1);
  });

  it('answers undefined for an object that is not there, and escapes every part of a path', async () => {
    api.others.push(refusal(404, 'NotFound'));
    expect(await client.read({ ...SECRET, name: 'a/../b?c' })).to.equal(undefined);
    expect(api.seen[0]?.path).to.equal('/api/v1/namespaces/default/secrets/a%2F..%2Fb%3Fc');
  });

  it('lists a page with its selectors, of metadata alone where asked', async () => {
    api.lists.push(page([object('a', 7)], 9, 'more'), page([], 9));
    const query = { limit: 1, labelSelector: 'a=b', fieldSelector: 'metadata.name=a', metadataOnly: true };
    const first = await client.listPage(SECRETS, query);
    expect(first).to.deep.equal({ items: [object('a', 7)], resourceVersion: '9', continue: 'more' });
    const last = await client.listPage(SECRETS, { continue: 'more' });
    expect(last).to.deep.equal({ items: [], resourceVersion: '9' });
    expect(api.seen[0]?.query).to.deep.equal({ limit: '1', labelSelector: 'a=b', fieldSelector: 'metadata.name=a' });
    expect(api.seen[0]?.headers.accept).to.equal('application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1');
    expect(api.seen[1]?.query).to.deep.equal({ continue: 'more' });
    expect(api.seen[1]?.headers.accept).to.equal('application/json');
  });

  it('writes in each way with the media type and parameters of that way', async () => {
    api.others.push(...Array.from({ length: 7 }, () => json({})));
    await client.create(SECRETS, { a: 1 });
    await client.apply({ ...APPLICATION, subresource: 'status' }, { a: 1 });
    await client.apply(APPLICATION, { a: 1 }, 'tokenkeep-finalizer');
    await client.mergePatch(SECRET, { a: 1 });
    await client.replace(SECRET, { a: 1 });
    await client.remove(SECRET, { uid: 'u', resourceVersion: '4' });
    await client.remove(SECRET);
    const manager = 'tokenkeep-operator';
    expect(
      api.seen.map(({ method, query, headers }) => [method, headers['content-type']?.split('/')[1], query]),
    ).to.deep.equal([
      ['POST', 'json', { fieldManager: manager }],
      ['PATCH', 'apply-patch+yaml', { fieldManager: manager, force: 'true' }],
      ['PATCH', 'apply-patch+yaml', { fieldManager: 'tokenkeep-finalizer', force: 'true' }],
      ['PATCH', 'merge-patch+json', { fieldManager: manager }],
      ['PUT', 'json', { fieldManager: manager }],
      ['DELETE', 'json', {}],
      ['DELETE', 'json', {}],
    ]);
    expect(api.seen[1]?.path).to.match(/\/applications\/checkout\/status$/);
    expect(JSON.parse(api.seen[5]?.body ?? '')).to.deep.equal({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: 'u', resourceVersion: '4' },
    });
    expect(JSON.parse(api.seen[6]?.body ?? '')).to.deep.equal({ apiVersion: 'v1', kind: 'DeleteOptions' });
  });

  it('removes what is not there, but not what is another than expected', async () => {
    api.others.push(refusal(404, 'NotFound'), refusal(409, 'Conflict'));
    await client.remove(SECRET);
    const { status, reason } = await failureOf(client.remove(SECRET, { uid: 'u' }));
    expect([status, reason]).to.deep.equal([409, 'Conflict']);
  });

  it('says what was refused, without a word of the answer in its message', async () => {
    const secret = 'key_prod_canary';
    const refused = { message: `Secret is invalid: ${secret}`, details: { causes: [{ message: secret }] } };
    api.others.push(refusal(422, 'Invalid', refused));
    const error = await failureOf(client.create(SECRETS, { data: secret }));
    expect(error.message).to.equal('POST /api/v1/namespaces/default/secrets: 422 Invalid');
    expect(error.detail).to.equal(`Secret is invalid: ${secret}`);
    expect(inspect({ ...error, detail: undefined, message: error.message, cause: error.cause })).not.to.include(secret);
  });

  it('takes no reason that is not a plain word, and none at all from a proxy in between', async () => {
    api.others.push(refusal(403, 'no\nsuch word'), (response) => response.writeHead(502).end('<html>key_canary'));
    const odd = await failureOf(client.read(SECRET));
    expect(odd.message).to.equal('GET /api/v1/namespaces/default/secrets/checkout-api-key: 403');
    const proxied = await failureOf(client.read(SECRET));
    expect(proxied.message).to.match(/: 502$/);
    expect(proxied.detail).to.equal(undefined);
  });

  it('reads how long it is to wait, from the header or the body', async () => {
    api.others.push(
      json({}, 429, { 'retry-after': '7' }),
      refusal(503, 'ServiceUnavailable', { details: { retryAfterSeconds: 3 } }),
      json({}, 429, { 'retry-after': 'soon' }),
    );
    const waits = [];
    for (let request = 0; request < 3; request += 1) {
      waits.push((await failureOf(client.read(SECRET))).retryAfterMs);
    }
    expect(waits).to.deep.equal([7_000, 3_000, undefined]);
  });

  it('gives up on an answer that does not come, is cut off, or is no JSON', async () => {
    const impatient = clientWith(200);
    const silent = await failureOf(impatient.read(SECRET));
    impatient.close();
    expect(silent.reason).to.equal('TimedOut');
    await eventually(() => expect(api.connections()).to.equal(0));

    api.others.push(reset, (response) => response.end('{"data": "key_canary'));
    const cut = await failureOf(client.read(SECRET));
    expect([cut.status, cut.reason]).to.deep.equal([undefined, 'Disconnected']);
    const malformed = await failureOf(client.read(SECRET));
    expect(malformed.reason).to.equal('Malformed');
    expect(inspect(malformed)).not.to.include('key_canary');
  });

  it('tells of every request with its method and code, also where none came', async () => {
    api.others.push(json({}), refusal(409, 'Conflict'), reset);
    await client.read(SECRET);
    await failureOf(client.replace(SECRET, {}));
    await failureOf(client.read(SECRET));
    expect(observed.map(({ method, code }) => [method, code])).to.deep.equal([
      ['GET', '200'],
      ['PUT', '409'],
      ['GET', '<error>'],
    ]);
    expect(`http://${observed[0]?.host}`).to.equal(api.kubeConfig.getCurrentCluster()?.server);
  });

  it('breaks off what is under way when it is closed, and refuses what comes later', async () => {
    const waiting = failureOf(client.read(SECRET));
    const watching = failureOf(client.watch(SECRETS, watchFrom('1'), new AbortController().signal).next());
    await eventually(() => expect(api.seen).to.have.length(2));
    client.close();
    expect((await waiting).reason).to.equal('BrokenOff');
    expect((await watching).reason).to.equal('BrokenOff');
    expect((await failureOf(client.read(SECRET))).reason).to.equal('BrokenOff');
    await eventually(() => expect(api.connections()).to.equal(0));
  });

  it('breaks off a list whose caller no longer wants it', async () => {
    const caller = new AbortController();
    const listing = failureOf(client.listPage(SECRETS, {}, caller.signal));
    await eventually(() => expect(api.seen).to.have.length(1));
    caller.abort();
    expect((await listing).reason).to.equal('BrokenOff');
    await eventually(() => expect(api.connections()).to.equal(0));
  });

  describe('watching', () => {
    const added = event('ADDED', object('é', 2));

    async function eventsOf(signal = new AbortController().signal): Promise<unknown[]> {
      const events = [];
      for await (const { type } of client.watch(SECRETS, watchFrom('1'), signal)) events.push(type);
      return events;
    }

    it('asks for bookmarks and an end, of metadata alone where asked', async () => {
      api.watches.push(streamAndEnd());
      const query = { ...watchFrom('1'), labelSelector: 'a=b', metadataOnly: true };
      for await (const _ of client.watch(SECRETS, query, new AbortController().signal)) expect.fail();
      expect(api.seen[0]?.query).to.deep.equal({
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: '1',
        timeoutSeconds: '300',
        labelSelector: 'a=b',
      });
      expect(api.seen[0]?.headers.accept).to.equal('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1');
    });

    it('reads events however they are cut into pieces, until the API ends the watch', async () => {
      const bytes = Buffer.from(added + event('BOOKMARK', object('', 3)) + event('DELETED', object('é', 4)));
      api.watches.push((response) => {
        const inMiddleOfLetter = bytes.indexOf(0xa9);
        response.write(bytes.subarray(0, inMiddleOfLetter));
        setImmediate(() => response.end(bytes.subarray(inMiddleOfLetter)));
      });
      expect(await eventsOf()).to.deep.equal(['ADDED', 'BOOKMARK', 'DELETED']);
    });

    it('throws what the API says in a stream, as if it were the answer', async () => {
      const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
      api.watches.push(stream(added, event('ERROR', expired)), refusal(410, 'Gone'));
      const inStream = await failureOf(eventsOf());
      expect([inStream.status, inStream.reason]).to.deep.equal([410, 'Expired']);
      expect((await failureOf(eventsOf())).status).to.equal(410);
      await eventually(() => expect(api.open).to.be.empty);
    });

    for (const [what, line] of [
      ['half a line', added.slice(0, 30)],
      ['what is no JSON', 'key_canary\n'],
      ['an event without an object', '{"type":"ADDED"}\n'],
      ['an event of a type that there is not', event('SOLD', object('a', 2))],
      ['no event at all', 'null\n'],
    ] as const) {
      it(`throws where there comes ${what}, and repeats nothing of it`, async () => {
        api.watches.push(streamAndEnd(added, line));
        const error = await failureOf(eventsOf());
        expect(error.reason).to.equal('Malformed');
        expect(inspect(error)).not.to.include('key_canary');
      });
    }

    it('throws where the connection breaks in the middle, or the head does not come', async () => {
      api.watches.push((response) => {
        response.write(added, () => response.destroy());
      });
      expect((await failureOf(eventsOf())).reason).to.equal('Disconnected');
      const impatient = clientWith(200);
      const head = failureOf(impatient.watch(SECRETS, watchFrom('1'), new AbortController().signal).next());
      expect((await head).reason).to.equal('TimedOut');
      impatient.close();
    });

    it('ends quietly, with its connection, where its caller no longer wants it', async () => {
      const caller = new AbortController();
      api.watches.push(stream(added));
      const events = eventsOf(caller.signal);
      await eventually(() => expect(api.open).to.have.length(1));
      caller.abort();
      await events;
      await eventually(() => expect(api.open).to.be.empty);
    });
  });
});

function watchFrom(resourceVersion: string): { resourceVersion: string; timeoutSeconds: number } {
  return { resourceVersion, timeoutSeconds: 300 };
}
