import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { CallbackReceiver, type Behaviour } from '../../support/callback-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { invocationIdOf } from '../../support/invocation-id.ts';
import { descendantsOf } from '../../support/processes.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const CODE = `module.exports = async function ({ args }) {
  if (args.ms) await new Promise((resolve) => setTimeout(resolve, args.ms));
  return { raw: args.raw };
};`;

const ADDRESSES: Record<string, string> = {
  'inside.test': '10.0.0.1',
  'link.test': '169.254.169.254',
  'here.test': '127.0.0.1',
};

interface Row {
  state: string;
  attempts: number;
  /** Until it is tried again; null: never. */
  waitSeconds: number | null;
  hasUrl: boolean;
  isLeased: boolean;
}

/** Processes that this one has started as instances of reactors. */
function supervisors(): number[] {
  return descendantsOf(process.pid).flatMap(({ pid }) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('main.ts\0reactor') ? [pid] : [],
  );
}

describe('the callbacks of asynchronous invocations', () => {
  let vault: TestVault;
  let receiver: CallbackReceiver;
  let manager: TestApplication;
  let user: TestApplication;
  let reactorId: string;

  before(async () => {
    receiver = await CallbackReceiver.start();
    vault = await startTestVault({
      reactors: true,
      callbackHttpHosts: [receiver.host, 'link.test', 'here.test'],
      callbackEgress: { resolve: async (host) => [ADDRESSES[host] ?? '192.0.2.1'] },
    });
    manager = await vault.application({ type: 'management' });
    user = await vault.application();
    const made = await vault.request('POST', '/reactors', {
      ...{ key: manager.key, body: { name: 'Reactor', code: CODE, configuration: {} } },
    });
    reactorId = made.body.id as string;
  });
  after(async () => {
    await vault.stop();
    await receiver.stop();
  });

  async function ask(url: string, args: object = { raw: 'out' }): Promise<string> {
    const body = { args, callback_url: url };
    const answer = await vault.request('POST', `/reactors/${reactorId}/react`, { key: user.key, body });
    expect(answer.status).to.equal(202);
    return invocationIdOf(answer);
  }

  async function askWith(behaviour: Behaviour): Promise<{ id: string; path: string }> {
    const path = randomUUID();
    receiver.behave(path, behaviour);
    return { id: await ask(receiver.url(path)), path };
  }

  async function rowOf(id: string): Promise<Row> {
    const [row] = await vault.database.run<Row>(
      {
        text: `
          select state, attempts, extract(epoch from due_at - now())::float8 as "waitSeconds",
            callback_url is not null as "hasUrl", lease is not null as "isLeased"
          from reactor_invocations where invocation_id = $1`,
      },
      [id],
    );
    return row!;
  }

  /** The row once that many attempts have been made, and what became of the last is stored. */
  function afterAttempt(id: string, attempt: number): Promise<Row> {
    return eventually(async () => {
      const row = await rowOf(id);
      expect(row).to.include({ attempts: attempt, isLeased: false });
      return row;
    });
  }

  /** As if the time of the next attempt had come. */
  async function hasten(id: string): Promise<void> {
    await vault.database.run(
      { text: 'update reactor_invocations set due_at = now() where invocation_id = $1 and lease is null' },
      [id],
    );
  }

  async function countOf(result: string): Promise<number> {
    const { values } = await vault.metrics.registry.getSingleMetric('tokenkeep_callback_attempts_total')!.get();
    return values.find(({ labels }) => labels['result'] === result)?.value ?? 0;
  }

  async function secrets(): Promise<{ secret: string; replaced: { secret: string; expires_at: string }[] }> {
    return (await vault.request('GET', '/tenants/self/webhook-secret', { key: manager.key })).body;
  }

  it('are tried ten times under one id, ever further apart, and then given up', async () => {
    const { id, path } = await askWith((response) => response.writeHead(500).end());
    const { secret } = await secrets();
    let expectedSeconds = 5;
    for (let attempt = 1; attempt <= 10; attempt++) {
      const { state, waitSeconds, hasUrl } = await afterAttempt(id, attempt);
      const { headers, text } = receiver.received(path)[attempt - 1]!;
      expect(headers['webhook-id']).to.equal(id);
      receiver.verify(secret, headers, text);
      if (attempt === 10) {
        expect({ state, waitSeconds, hasUrl }).to.deep.equal({ state: 'given_up', waitSeconds: null, hasUrl: false });
      } else {
        expect(state).to.equal('done');
        expect(waitSeconds).to.be.within(expectedSeconds * 0.8 - 2, expectedSeconds * 1.2);
        expectedSeconds *= 2.4;
        await hasten(id);
      }
    }
    expect(receiver.received(path)).to.have.length(10);
    const { status, body } = await vault.request('GET', `/reactors/${reactorId}/results/${id}`, { key: user.key });
    expect([status, body]).to.deep.equal([200, { raw: 'out' }]);
    const given = vault.metrics.registry.getSingleMetric('tokenkeep_callbacks_given_up_total')!;
    expect((await given.get()).values[0]!.value).to.equal(1);
  });

  it('are delivered by a later attempt, with its own time', async () => {
    const { id, path } = await askWith((response, attempt) => response.writeHead(attempt === 1 ? 503 : 204).end());
    await afterAttempt(id, 1);
    // Seconds are what is signed.
    await eventually(() => expect(Date.now() - receiver.received(path)[0]!.at).to.be.above(1_000));
    await hasten(id);
    expect(await afterAttempt(id, 2)).to.include({ state: 'delivered', waitSeconds: null, hasUrl: false });
    const [first, second] = receiver.received(path).map(({ headers }) => Number(headers['webhook-timestamp']));
    expect(second).to.be.above(first!);
  });

  it('are stopped by 410', async () => {
    const { id, path } = await askWith((response) => response.writeHead(410).end());
    expect(await afterAttempt(id, 1)).to.include({ state: 'stopped', waitSeconds: null, hasUrl: false });
    expect(receiver.received(path)).to.have.length(1);
  });

  it('follow no redirect, and take it for a failure', async () => {
    const elsewhere = randomUUID();
    const { id } = await askWith((response) => response.writeHead(302, { location: receiver.url(elsewhere) }).end());
    const before = await countOf('redirect');
    expect(await afterAttempt(id, 1)).to.include({ state: 'done' });
    await hasten(id);
    await afterAttempt(id, 2);
    expect(await countOf('redirect')).to.be.above(before);
    expect(receiver.received(elsewhere)).to.have.length(0);
  });

  it('come no sooner than the receiver asks', async () => {
    const { id } = await askWith((response) => response.writeHead(429, { 'retry-after': '600' }).end());
    expect((await afterAttempt(id, 1)).waitSeconds).to.be.within(590, 600);
    const late = await askWith((response) => response.writeHead(503, { 'retry-after': '1000000' }).end());
    expect((await afterAttempt(late.id, 1)).waitSeconds, 'an hour at most').to.be.within(3_590, 3_600);
  });

  it('are tried again where the connection breaks', async () => {
    const { id } = await askWith((response, attempt) => (attempt === 1 ? response.destroy() : response.end()));
    expect(await afterAttempt(id, 1)).to.include({ state: 'done' });
    await hasten(id);
    expect(await afterAttempt(id, 2)).to.include({ state: 'delivered' });
  });

  for (const [what, url] of [
    ['has a private address', 'https://inside.test/'],
    ['is named, and leads to the metadata of a cloud', 'http://link.test/'],
    ['is named, and leads to this machine', 'http://here.test:PORT/'],
  ] as const) {
    it(`are not sent where the host ${what}, at whatever attempt`, async () => {
      const before = await countOf('refused');
      const id = await ask(url.replace('PORT', receiver.host.split(':')[1]!));
      expect(await afterAttempt(id, 1)).to.include({ state: 'done' });
      expect(await countOf('refused')).to.equal(before + 1);
    });
  }

  for (const [what, url, fault] of [
    ['a private address', 'https://10.0.0.1/', 'must lead to a public address'],
    ['an address of this machine', 'https://2130706433/', 'must lead to a public address'],
    ['a mapped metadata address', 'https://[::ffff:a9fe:a9fe]/', 'must lead to a public address'],
    ['a name of this machine', 'https://localhost/', 'must lead to a public address'],
    ['another port than that of https', 'https://outside.test:8443/', 'must have no port but 443'],
    ['a password', 'https://a:b@outside.test/', 'must hold no user name and no password'],
    ['another scheme than https', 'http://outside.test/', 'must begin with https://'],
  ] as const) {
    it(`are not promised to a URL with ${what}`, async () => {
      const answer = await vault.request('POST', `/reactors/${reactorId}/react`, {
        ...{ key: user.key, body: { callback_url: url } },
      });
      expect([answer.status, answer.body.errors]).to.deep.equal([400, { callback_url: [fault] }]);
    });
  }

  it('are signed with the secret and, for 24 hours, with the one that it replaced', async () => {
    const old = (await secrets()).secret;
    const rotated = await vault.request('POST', '/tenants/self/webhook-secret/rotate', { key: manager.key });
    expect(rotated.headers.get('cache-control')).to.equal('no-store');
    const { secret, replaced } = rotated.body as Awaited<ReturnType<typeof secrets>>;
    expect(secret)
      .to.match(/^whsec_[A-Za-z0-9+/]{43}=$/)
      .and.not.equal(old);
    expect(replaced.map((one) => one.secret)).to.deep.equal([old]);
    expect(Date.parse(replaced[0]!.expires_at)).to.be.closeTo(Date.now() + 24 * 3600_000, 10_000);
    expect(await secrets()).to.deep.equal(rotated.body);

    const both = await deliveredAt(randomUUID());
    for (const one of [secret, old]) receiver.verify(one, both.headers, both.text);
    const forged = both.text.replace('out', 'in');
    expect(() => receiver.verify(secret, both.headers, forged)).to.throw('No matching signature');

    await vault.database.run({ text: `update webhook_secrets set expires_at = now() where expires_at is not null` });
    const one = await deliveredAt(randomUUID());
    receiver.verify(secret, one.headers, one.text);
    expect(() => receiver.verify(old, one.headers, one.text)).to.throw('No matching signature');
    expect((await secrets()).replaced).to.deep.equal([]);
  });

  it('are signed with five secrets at most: the oldest give way', async () => {
    const made: string[] = [(await secrets()).secret];
    for (let rotations = 0; rotations < 6; rotations += 1) {
      await vault.request('POST', '/tenants/self/webhook-secret/rotate', { key: manager.key });
      made.unshift((await secrets()).secret);
    }
    expect((await secrets()).replaced.map(({ secret }) => secret)).to.deep.equal(made.slice(1, 5));
    const { headers, text } = await deliveredAt(randomUUID());
    expect(String(headers['webhook-signature']).split(' ')).to.have.length(5);
    for (const secret of made.slice(0, 5)) receiver.verify(secret, headers, text);
    expect(() => receiver.verify(made[5]!, headers, text)).to.throw('No matching signature');
  });

  async function deliveredAt(path: string) {
    await ask(receiver.url(path));
    return receiver.next(path);
  }

  it('tell of a run whose instance was killed', async () => {
    const path = randomUUID();
    const id = await ask(receiver.url(path), { ms: 60_000 });
    await eventually(async () => expect((await rowOf(id)).state).to.equal('running'));
    for (const pid of supervisors()) process.kill(pid, 'SIGKILL');
    const { headers, text } = await receiver.next(path);
    const event = receiver.verify((await secrets()).secret, headers, text);
    expect([event.type, event.data.request_id, event.data.status]).to.deep.equal(['reactor.failed', id, 502]);
  });

  it('are counted, and what waits is measured, without ids', async () => {
    const text = await vault.metrics.registry.metrics();
    expect(text).to.match(/^tokenkeep_callback_attempts_total\{result="delivered"\} [1-9]/m);
    expect(text).to.match(/^tokenkeep_asynchronous_invocations_ended_total\{outcome="completed"\} [1-9]/m);
    for (const id of [reactorId, user.tenantId, user.id]) expect(text).not.to.include(id);
  });
});
