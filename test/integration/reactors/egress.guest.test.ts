import { expect } from 'chai';
import type { EgressPolicy } from '../../../src/domain/egress.ts';
import type { Json } from '../../../src/domain/json.ts';
import { Instance } from '../../../src/reactors/host/instance.ts';
import { INVOCATION_LIMITS } from '../../../src/reactors/types.ts';
import { startDnsServer, type DnsServer } from '../../support/egress/dns-server.ts';
import { startListeners, type Listeners } from '../../support/egress/listeners.ts';
import { atPort, TRICKS, ZONE } from '../../support/egress/tricks.ts';
import { eventually } from '../../support/eventually.ts';
import { BODY_RUNNER, workloadOf } from '../../support/reactors.ts';

const ALLOWED = '127.0.0.2';
/** What the code gives back, or how it ended otherwise. */
type Outcome = Record<string, Json>;

const FETCH = `
  const { url, method, headers, redirect } = req.args.request;
  try {
    const answer = await fetch(url, { method, headers, redirect });
    return { raw: { status: answer.status, url: answer.url, text: await answer.text() } };
  } catch (error) {
    return { raw: { failed: error.name, message: error.message } };
  }`;

describe('fetch of a reactor', () => {
  let listeners: Listeners;
  let names: DnsServer;
  const instances: Instance[] = [];
  let strict: Instance;
  let named: Instance;

  before(async () => {
    listeners = await startListeners((request, response) => {
      if (request.url === '/slow') return;
      response.end(request.url === '/large' ? Buffer.alloc(900_000) : 'hello');
    });
    names = await startDnsServer(ZONE);
    strict = await start(undefined);
    named = await start({ allow: Object.keys(ZONE).map((name) => `${name}:${listeners.port}`) });
  });
  after(async () => {
    await Promise.all(instances.map((instance) => instance.kill()));
    await listeners.stop();
    await names.stop();
  });
  beforeEach(() => listeners.forget());

  async function start(egress: EgressPolicy | undefined): Promise<Instance> {
    const instance = new Instance({
      workload: workloadOf(BODY_RUNNER, egress ? { egress } : {}),
      onStopped: () => undefined,
      network: {
        resolve: (host) => names.resolve(host),
        allowAddress: (address, host) => address === ALLOWED && host === 'good.test',
      },
    });
    instances.push(instance);
    expect(await instance.start()).to.equal(undefined);
    return instance;
  }

  async function run(
    instance: Instance,
    body: string,
    args: { [name: string]: Json } = {},
    timeoutMs = 10_000,
  ): Promise<Outcome> {
    // A process that an earlier call left too full is replaced first.
    await eventually(() => expect(instance.isFree).to.equal(true));
    const outcome = await instance.invoke({ revision: '', args: { body, ...args }, traceId: 'trace', timeoutMs });
    return (outcome.kind === 'returned' ? outcome.raw : { ...outcome }) as Outcome;
  }

  it('gives back the places of what the code breaks off, also at the host', async () => {
    const body = `
      const names = [];
      for (let round = 0; round < 3; round += 1) {
        const breaker = new AbortController();
        const ask = () => fetch(req.args.url + 'slow', { signal: breaker.signal }).catch(({ name }) => name);
        const all = Array.from({ length: ${INVOCATION_LIMITS.calls} }, ask);
        await new Promise((resolve) => setTimeout(resolve, 20));
        breaker.abort();
        names.push(...(await Promise.all(all)));
      }
      return { raw: { names: [...new Set(names)], then: await (await fetch(req.args.url)).text() } };`;
    const answer = await run(named, body, { url: `http://good.test:${listeners.port}/` });
    expect(answer).to.deep.equal({ names: ['AbortError'], then: 'hello' });
  });

  // A reactor's own idea of a URL may refuse a trick before it leaves: what counts is what arrives.
  for (const trick of TRICKS) {
    it(`reaches nothing by ${trick.what}`, async () => {
      const { url, request, hops = 0 } = atPort(trick, listeners.port);
      const { method = 'GET', headers = [], redirect = 'follow' } = request ?? {};
      const args = { request: { url, method, headers: headers.map(([name, value]) => [name, value]), redirect } };
      for (const instance of [strict, named]) {
        listeners.forget();
        const got = await run(instance, FETCH, args);
        // A reactor drops some of these by itself, as browsers do; then it has asked for what is allowed.
        const harmless =
          ['header', 'url'].includes(trick.rule) && JSON.stringify(got['url'] ?? '').startsWith('"http://good.test:');
        if (!harmless) expect(got, JSON.stringify(got)).to.have.property('failed');
        expect(listeners.connections.filter((address) => address !== ALLOWED)).to.deep.equal([]);
        if (!harmless) expect(listeners.connections).to.have.length(instance === named ? hops : 0);
      }
    });
  }

  it('reaches what its policy names, with what it sends, and nothing without one', async () => {
    const url = `http://good.test:${listeners.port}/charges?a=b`;
    const request = { url, method: 'POST', headers: [['x-key', 'k']], redirect: 'follow' };
    expect(await run(named, FETCH, { request })).to.deep.equal({ status: 200, url, text: 'hello' });
    expect(listeners.connections).to.deep.equal([ALLOWED]);
    expect(listeners.requests[0]).to.deep.include({ method: 'POST', url: '/charges?a=b' });
    expect(listeners.requests[0]!.headers).to.include({ host: `good.test:${listeners.port}`, 'x-key': 'k' });
    expect(await run(strict, FETCH, { request })).to.deep.equal({
      failed: 'TypeError',
      message: `good.test:${listeners.port} may only be called by https`,
    });
  });

  it('takes redirects as it is told to', async () => {
    const url = `http://good.test:${listeners.port}/to?status=302&location=/there`;
    const request = { url, method: 'GET', headers: [] };
    const there = { status: 200, url: `http://good.test:${listeners.port}/there`, text: 'hello' };
    expect(await run(named, FETCH, { request: { ...request, redirect: 'follow' } })).to.deep.equal(there);
    expect(await run(named, FETCH, { request: { ...request, redirect: 'manual' } })).to.include({ status: 302 });
    expect(await run(named, FETCH, { request: { ...request, redirect: 'error' } })).to.include({ failed: 'TypeError' });
    expect(listeners.connections).to.have.length(4);
  });

  it('rejects with a TypeError for an answer that is none, and refuses to look at integrity', async () => {
    const { port } = listeners;
    const body = `
      const tries = [
        () => fetch('http://good.test:${port}/to?status=999'),
        () => fetch('http://good.test:${port}/', { integrity: 'sha256-AAAA' }),
        () => fetch('http://good.test:${port}/', { integrity: '' }),
      ];
      return { raw: await Promise.all(tries.map((attempt) => attempt().then(() => 'answered', (error) => error.name))) };`;
    expect(await run(named, body)).to.deep.equal(['TypeError', 'TypeError', 'answered']);
    expect(listeners.requests).to.have.length(2);
  });

  it('begins so many requests, and moves so many bytes, for one call of the reactor', async () => {
    const { fetches, fetchBytes } = INVOCATION_LIMITS;
    const many = `
      let done = 0;
      try { for (;;) { await (await fetch(req.args.url)).text(); done += 1; } } catch (error) { return { raw: { done, message: error.message } }; }`;
    const at = (path: string): string => `http://good.test:${listeners.port}${path}`;
    expect(await run(named, many, { url: at('/') })).to.deep.equal({
      done: fetches,
      message: `One call of the reactor makes ${fetches} requests at most`,
    });
    const large = await run(named, many, { url: at('/large') });
    expect(large.done).to.equal(Math.ceil(fetchBytes / 900_000));
    expect(large.message).to.include(`${fetchBytes} bytes at most`);
  });

  it('has only so many under way at a time, and leaves none behind when the call has ended', async () => {
    const { fetchesAtOnce } = INVOCATION_LIMITS;
    const body = `
      for (let index = 0; index < 15; index += 1) fetch(req.args.url).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { raw: { ended: true } };`;
    expect(await run(named, body, { url: `http://good.test:${listeners.port}/slow` })).to.deep.equal({ ended: true });
    expect(listeners.requests.length).to.be.within(1, fetchesAtOnce);
    await eventually(() => expect(listeners.requests.every(({ socket }) => socket.destroyed)).to.equal(true));
    // Nor did those that waited for their turn begin after it.
    expect(listeners.requests.length).to.be.at.most(fetchesAtOnce);
  });
});
