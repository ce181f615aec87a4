import { createServer } from 'node:http';
import { createServer as createSilentServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import type { ReactorInstance } from '../../../src/domain/declarations.ts';
import { createReactorClient } from '../../../src/reactors/client.ts';
import type { ReactorClient } from '../../../src/reactors/client.ts';
import type { InvokeRequest } from '../../../src/reactors/protocol.ts';
import { createTransport } from '../../../src/reactors/transport.ts';
import type { InvocationOutcome } from '../../../src/reactors/types.ts';

const BUDGET_MS = 400;
/** Of a machine that does much else. */
const SLACK_MS = 1_000;
const RETURNED: InvocationOutcome = { kind: 'returned', raw: 1 };

describe('the time in which an invocation is answered', () => {
  const servers: Server[] = [];
  let client: ReactorClient;
  beforeEach(() => {
    client = createReactorClient({
      maxWaitMs: 60_000,
      maxCheckMs: BUDGET_MS,
      transport: createTransport({ takeMs: 200 }),
    });
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) server.close();
    await client.stop();
  });

  async function listening(server: Server): Promise<ReactorInstance> {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, credential: 'c', revision: 'r1' };
  }

  /** Never answers what it is not given an outcome for; `asked` is what it was sent. */
  async function instance(outcome?: InvocationOutcome): Promise<{ instance: ReactorInstance; asked: InvokeRequest[] }> {
    const asked: InvokeRequest[] = [];
    const server = createServer((request, response) => {
      void json(request).then((body) => {
        asked.push(body as InvokeRequest);
        if (outcome) response.end(JSON.stringify(outcome));
      });
    });
    return { instance: await listening(server), asked };
  }

  /** Takes connections and says nothing, as one whose machine is gone. */
  const silent = (): Promise<ReactorInstance> =>
    listening(createSilentServer((socket) => socket.on('error', () => {})));

  const put = (...instances: ReactorInstance[]): void => client.instances.replace('t', 'r', instances);

  async function invoke(timeoutMs: number, budgetMs: number | undefined) {
    const since = performance.now();
    const outcome = await client.invoke({
      ...{ tenantId: 't', reactorId: 'r', revision: 'r1', args: null, traceId: 'trace', timeoutMs },
      ...(budgetMs === undefined ? {} : { answerBy: since + budgetMs }),
    });
    return { kind: outcome.kind, ms: performance.now() - since };
  }

  it('bounds the wait for an instance: nothing has run', async () => {
    const { kind, ms } = await invoke(60_000, BUDGET_MS);
    expect(kind).to.equal('unavailable');
    expect(ms).to.be.within(BUDGET_MS - 10, BUDGET_MS + SLACK_MS);
  });

  it('leaves the code what the wait has left of it, and is over with it', async () => {
    const { instance: one, asked } = await instance();
    const pending = invoke(60_000, BUDGET_MS);
    setTimeout(() => put(one), BUDGET_MS / 2);
    const { kind, ms } = await pending;
    expect(kind).to.equal('timed-out');
    expect(ms).to.be.within(BUDGET_MS - 10, BUDGET_MS + SLACK_MS);
    expect(asked.map(({ timeoutMs }) => timeoutMs)[0]).to.be.within(1, BUDGET_MS / 2 + 10);
  });

  it('leaves the code no more than its own time', async () => {
    const { instance: one, asked } = await instance(RETURNED);
    put(one);
    expect((await invoke(1_000, 60_000)).kind).to.equal('returned');
    expect((await invoke(1_000, undefined)).kind).to.equal('returned');
    expect(asked.map(({ timeoutMs }) => timeoutMs)).to.deep.equal([1_000, 1_000]);
  });

  it('is not spent on an instance that does not take the request: another one does', async () => {
    put(await silent(), (await instance(RETURNED)).instance);
    const { kind, ms } = await invoke(60_000, 60_000);
    expect(kind).to.equal('returned');
    expect(ms).to.be.below(200 + SLACK_MS);
  });

  it('is that of no answer where no instance takes the request: no code has run', async () => {
    put(await silent());
    const { kind, ms } = await invoke(60_000, BUDGET_MS);
    expect(kind).to.equal('unavailable');
    expect(ms).to.be.within(BUDGET_MS - 10, BUDGET_MS + SLACK_MS);
  });

  it('of a check is bounded as well', async () => {
    client.instances.setChecker((await instance()).instance);
    const since = performance.now();
    expect(await client.check('code')).to.deep.equal({ ok: false, kind: 'unavailable' });
    expect(performance.now() - since).to.be.within(BUDGET_MS - 10, BUDGET_MS + SLACK_MS);
  });
});
