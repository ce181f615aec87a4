import { expect } from 'chai';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ReactorInstance } from '../../../src/domain/declarations.ts';
import { createReactorClient } from '../../../src/reactors/client.ts';
import type { ReactorClient } from '../../../src/reactors/client.ts';
import { BUSY_HEADER, CONCURRENCY_HEADER } from '../../../src/reactors/protocol.ts';
import type { InvokeRequest } from '../../../src/reactors/protocol.ts';
import type { Invocation, InvocationOutcome } from '../../../src/reactors/types.ts';
import { eventually } from '../../support/eventually.ts';

interface LocalInstance {
  instance: ReactorInstance;
  requests: InvokeRequest[];
}

/** Answers each request in the order in which they come; a held one once `release` is called. */
type Behaviour = (request: InvokeRequest, nth: number) => Promise<number | InvocationOutcome | 'reset'>;

describe('the client of reactors', () => {
  const closers: (() => void)[] = [];
  let client: ReactorClient;
  let noticed: string[];
  let observed: string[];
  beforeEach(() => {
    noticed = [];
    observed = [];
    client = createReactorClient({
      maxWaitMs: 400,
      onWaiting: (tenantId, reactorId) => void noticed.push(`${tenantId}/${reactorId}`),
      observer: {
        coldStarted: (waitedMs) => void observed.push(waitedMs < 400 ? 'cold start' : 'cold start that took long'),
        rejected: (reason) => void observed.push(reason),
        ended: () => undefined,
      },
    });
  });
  afterEach(async () => {
    await client.stop();
    closers.splice(0).forEach((close) => close());
  });

  async function instance(behave: Behaviour, { revision = 'r1', concurrency = 1 } = {}): Promise<LocalInstance> {
    const requests: InvokeRequest[] = [];
    const listener: RequestListener = (request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        const body = JSON.parse(text) as InvokeRequest;
        void behave(body, requests.push(body)).then((answer) => {
          if (answer === 'reset') return request.socket.resetAndDestroy();
          response.setHeader(CONCURRENCY_HEADER, String(concurrency));
          if (typeof answer === 'object') return response.end(JSON.stringify(answer));
          if (answer === 503) response.setHeader(BUSY_HEADER, '1');
          response.statusCode = answer;
          return response.end();
        });
      });
    };
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      server.close();
      server.closeAllConnections();
    });
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { instance: { address, credential: 'c', revision }, requests };
  }

  const returned: InvocationOutcome = { kind: 'returned', raw: 1 };
  const put = (...locals: LocalInstance[]) =>
    client.instances.replace(
      't',
      'r',
      locals.map((local) => local.instance),
    );
  const invoke = (revision = 'r1', args: string | null = null, overrides: Partial<Invocation> = {}) =>
    client.invoke({ tenantId: 't', reactorId: 'r', revision, args, traceId: 'trace', timeoutMs: 1_000, ...overrides });

  it('holds an invocation until an instance is there', async () => {
    const outcome = invoke();
    expect(client.demand()[0]).to.deep.include({ tenantId: 't', reactorId: 'r', inFlight: 0, waiting: 1 });
    expect(client.demand()[0]?.average.stable).to.be.closeTo(1, 1e-6);
    put(await instance(async () => returned));
    expect(await outcome).to.deep.equal(returned);
    expect(observed).to.deep.equal(['cold start']);
  });

  it('tells of demand for a minute after it has ended, and of none where there never was any', async () => {
    const local = await instance(async () => returned);
    put(local);
    expect(client.demand()).to.deep.equal([]);
    await invoke();
    const [demand] = client.demand();
    expect(demand).to.deep.include({ inFlight: 0, waiting: 0 });
    expect(demand?.average.stable).to.be.above(0).and.to.be.below(1);
    expect(client.load()).to.deep.equal({ inFlight: 0, waiting: 0 });
  });

  it('gives up when no instance comes in time', async () => {
    expect(await invoke()).to.deep.equal({ kind: 'unavailable' });
    expect(observed).to.deep.equal(['no-instance-in-time']);
  });

  it('waits for an instance also where the code itself may take less time than that', async () => {
    const local = await instance(async () => returned);
    const outcome = invoke('r1', null, { timeoutMs: 1 });
    setTimeout(() => put(local), 50);
    expect(await outcome).to.deep.equal(returned);
  });

  it('tells at once that something waits, and once more how much it has become', async () => {
    const held = [invoke(), invoke(), invoke()];
    expect(noticed).to.deep.equal(['t/r']);
    await eventually(() => expect(noticed).to.deep.equal(['t/r', 't/r']), { deadlineMs: 300 });
    put(await instance(async () => returned));
    await Promise.all(held);
    expect(noticed).to.have.length(2);
  });

  it('tells nobody of an invocation that finds an instance', async () => {
    put(await instance(async () => returned));
    await invoke();
    expect([noticed, observed]).to.deep.equal([[], []]);
  });

  it('waits for the revision that was asked for', async () => {
    const other = await instance(async () => returned, { revision: 'r2' });
    put(other);
    expect(await invoke('r1')).to.deep.equal({ kind: 'unavailable' });
    expect(other.requests).to.be.empty;
  });

  it('refuses invocations beyond ten for each that could run at once', async () => {
    const scaling = { concurrency: 1, maxReplicas: 1 };
    const held = Array.from({ length: 10 }, () => invoke('r1', null, { scaling }));
    expect(await invoke('r1', null, { scaling })).to.deep.equal({ kind: 'unavailable' });
    expect(observed).to.deep.equal(['queue-full']);
    put(await instance(async () => returned));
    expect(await Promise.all(held)).to.deep.equal(Array(10).fill(returned));
  });

  it('refuses what brings the arguments that wait, of whatever reactor, over their bytes', async () => {
    const few = createReactorClient({ maxWaitMs: 5_000, maxHeldBytes: 100 });
    const call = (reactorId: string, argsBytes: number) =>
      few.invoke({
        ...{ tenantId: 't', reactorId, revision: 'r1', args: null, argsBytes },
        ...{ traceId: 'trace', timeoutMs: 1_000 },
      });
    try {
      const first = call('a', 60);
      expect(await call('b', 41)).to.deep.equal({ kind: 'unavailable' });
      const second = call('b', 40);
      const local = await instance(async () => returned);
      few.instances.replace('t', 'a', [local.instance]);
      expect(await first).to.deep.equal(returned);
      // What waits no more makes room.
      const third = call('c', 60);
      for (const reactorId of ['b', 'c']) few.instances.replace('t', reactorId, [local.instance]);
      expect(await Promise.all([second, third])).to.deep.equal([returned, returned]);
    } finally {
      await few.stop();
    }
  });

  it('runs what waits in the order in which it came', async () => {
    const held = ['a', 'b', 'c'].map((args) => invoke('r1', args));
    const local = await instance(async () => returned);
    put(local);
    await Promise.all(held);
    expect(local.requests.map(({ args }) => args)).to.deep.equal(['a', 'b', 'c']);
  });

  it('sends an instance no more at a time than it says that it runs', async () => {
    let running = 0;
    let most = 0;
    const both = Promise.withResolvers<void>();
    const local = await instance(
      async (_request, nth) => {
        most = Math.max(most, (running += 1));
        if (running === 2) both.resolve();
        if (nth > 1) await both.promise;
        running -= 1;
        return returned;
      },
      { concurrency: 2 },
    );
    put(local);
    await invoke();
    await Promise.all([invoke(), invoke(), invoke(), invoke()]);
    expect(most).to.equal(2);
  });

  it('fills a new instance up to the declared concurrency before it has answered', async () => {
    const both = Promise.withResolvers<InvocationOutcome>();
    const local = await instance(
      async (_request, nth) => {
        if (nth === 2) both.resolve(returned);
        return both.promise;
      },
      { concurrency: 2 },
    );
    const scaling = { concurrency: 2, maxReplicas: 1 };
    const held = [invoke('r1', null, { scaling }), invoke('r1', null, { scaling })];
    put(local);
    expect(await Promise.all(held)).to.deep.equal([returned, returned]);
  });

  it('says why the code was stopped once that was many times', async () => {
    put(await instance(async () => ({ kind: 'out-of-memory' })));
    for (let run = 1; run < 5; run += 1) await invoke();
    expect(client.demand()[0]).not.to.have.property('failure');
    await invoke();
    expect(client.demand()[0]).to.include({ failure: 'out-of-memory' });
  });

  it('prefers the instance with less to do', async () => {
    const release = Promise.withResolvers<InvocationOutcome>();
    const busy = await instance(() => release.promise);
    const idle = await instance(async () => returned);
    put(busy, idle);
    const first = invoke();
    await invoke();
    await invoke();
    release.resolve(returned);
    await first;
    expect([busy.requests.length, idle.requests.length]).to.deep.equal([1, 2]);
  });

  it('takes an invocation that was refused as busy elsewhere', async () => {
    put(await instance(async () => 503), await instance(async () => returned));
    expect(await invoke()).to.deep.equal(returned);
  });

  it('tries a busy instance again until it is free', async () => {
    put(await instance(async (_request, nth) => (nth < 3 ? 503 : returned)));
    expect(await invoke()).to.deep.equal(returned);
  });

  it('takes an invocation elsewhere when nobody listens', async () => {
    const gone = { instance: { address: 'http://127.0.0.1:1', credential: 'c', revision: 'r1' }, requests: [] };
    put(gone, await instance(async () => returned));
    expect(await invoke()).to.deep.equal(returned);
  });

  it('never repeats an invocation whose connection broke after it was sent', async () => {
    const breaks = await instance(async () => 'reset');
    const other = await instance(async () => returned);
    put(breaks, other);
    expect(await invoke()).to.deep.equal({ kind: 'crashed' });
    expect([breaks.requests.length, other.requests.length]).to.deep.equal([1, 0]);
  });

  it('fails what waits when it is stopped', async () => {
    const held = invoke();
    await client.stop();
    expect(await held).to.deep.equal({ kind: 'unavailable' });
    expect(await invoke()).to.deep.equal({ kind: 'unavailable' });
  });
});
