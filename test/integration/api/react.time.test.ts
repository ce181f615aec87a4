import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import { DEFAULT_SCALING, REACTOR_DEFAULTS } from '../../../src/domain/declarations.ts';
import { REACTOR_LIMITS } from '../../../src/domain/reactors.ts';
import type { InvokeRequest } from '../../../src/reactors/protocol.ts';
import { eventually } from '../../support/eventually.ts';
import { type Answer, startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const WAIT_MS = 700;

/** With an instance that only notes what it is asked, so that nothing has to take 30 s. */
describe('the time that a caller of a reactor waits', () => {
  let vault: TestVault;
  let server: Server;
  let user: TestApplication;
  let address: string;
  const asked: InvokeRequest[] = [];

  before(async () => {
    vault = await startTestVault();
    user = await vault.application();
    server = createServer((request, response) => {
      void json(request).then((body) => {
        if (request.url === '/check') return response.end(JSON.stringify({ ok: true }));
        asked.push(body as InvokeRequest);
        return response.end(JSON.stringify({ kind: 'timed-out' }));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await vault.internal('PUT', '/checker', { address, credential: 'c', revision: 'checker' });
  });
  after(async () => {
    await vault.stop();
    server.close();
  });

  async function reactor(): Promise<{ id: string; begin: () => Promise<void> }> {
    const id = randomUUID();
    const path = `/tenants/${user.tenantId}/reactors/${id}`;
    const put = await vault.internal('PUT', path, {
      ...{ name: 'Reactor', code: 'module.exports = () => ({});', configuration: {}, ...REACTOR_DEFAULTS },
      scaling: { ...DEFAULT_SCALING, concurrency: 1, maxReplicas: 1 },
      timeoutSeconds: REACTOR_LIMITS.timeoutSeconds,
    });
    expect(put.status).to.equal(200);
    const [row] = await vault.database.run<{ revision: string }>(
      { text: 'select revision from reactors where reactor_id = $1' },
      [id],
    );
    const instances = [{ address, credential: 'c', revision: row!.revision }];
    return { id, begin: async () => void (await vault.internal('PUT', `${path}/instances`, { instances })) };
  }

  const react = (id: string): Promise<Answer> =>
    vault.request('POST', `/reactors/${id}/react`, { key: user.key, body: {} });

  it('for an instance is taken from that for the code; what is over is answered 504', async () => {
    const { id, begin } = await reactor();
    const pending = react(id);
    setTimeout(() => void begin(), WAIT_MS);
    const answer = await pending;
    expect([answer.status, answer.body.title]).to.deep.equal([504, 'The reactor did not finish in time.']);
    expect(answer.headers.get('retry-after')).to.equal(null);
    const wholeMs = REACTOR_LIMITS.answerSeconds * 1000;
    expect(asked.map(({ timeoutMs }) => timeoutMs)[0]).to.be.within(wholeMs - WAIT_MS - 5_000, wholeMs - WAIT_MS / 2);
  });

  it('is none where too many wait already: 503, with when to try again', async () => {
    const { id, begin } = await reactor();
    const held = Array.from({ length: 10 }, () => react(id));
    await eventually(async () => {
      const { body } = await vault.internal('GET', '/demand');
      expect(body.data.find(({ reactorId }: { reactorId: string }) => reactorId === id)?.waiting).to.equal(10);
    });
    const { status, headers, body } = await react(id);
    expect([status, body.title]).to.deep.equal([503, 'No instance of the reactor is available.']);
    expect(headers.get('retry-after')).to.equal('1');
    await begin();
    expect((await Promise.all(held)).map((answer) => answer.status)).to.deep.equal(Array(10).fill(504));
  });
});
