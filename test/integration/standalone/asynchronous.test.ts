import { expect } from 'chai';
import { CallbackReceiver } from '../../support/callback-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { invocationIdOf } from '../../support/invocation-id.ts';
import { createStandaloneFolder, type StandaloneFolder, UNLIMITED_TENANT } from '../../support/standalone-folder.ts';
import { startStandalone, type StandaloneProgram } from '../../support/standalone.ts';

const ROUNDS = 3;
const CODE = `module.exports = async function ({ args }) {
  await new Promise((resolve) => setTimeout(resolve, args.ms));
  return { raw: args.name };
};`;
/** Longer than a lease, so that a run that goes on would be seen to end. */
const LONG_MS = 120_000;

describe('asynchronous invocations in a program that is killed', function () {
  this.timeout(180_000);
  let folder: StandaloneFolder;
  let program: StandaloneProgram;
  let receiver: CallbackReceiver;
  let secret: string;

  const start = () =>
    startStandalone({ ...folder, flags: ['--ip-rate-limits', 'off', '--callback-http-hosts', receiver.host] });

  before(async () => {
    receiver = await CallbackReceiver.start();
    folder = await createStandaloneFolder();
    const permissions = ['reactor:create', 'tenant:update', 'log:read'];
    await folder.write('access.yaml', [
      UNLIMITED_TENANT,
      { kind: 'Application', name: 'manager', spec: { displayName: 'Manager', type: 'management', permissions } },
      { kind: 'Application', name: 'user', spec: { displayName: 'User', type: 'private', permissions: ['token:use'] } },
    ]);
    program = await start();
    const key = await program.keyOf('manager');
    const { status, body } = await program.request('GET', '/tenants/self/webhook-secret', { key });
    expect(status, JSON.stringify(body)).to.equal(200);
    secret = body.secret;
  });
  after(async () => {
    await program.stop();
    await receiver.stop();
    await folder.dispose();
  });

  async function reactor(): Promise<string> {
    const key = await program.keyOf('manager');
    const { status, body } = await program.request('POST', '/reactors', {
      ...{ key, body: { name: 'Slow', code: CODE, configuration: {} } },
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.id as string;
  }

  async function ask(reactorId: string, name: string, ms: number): Promise<string> {
    const key = await program.keyOf('user');
    const body = { args: { name, ms }, callback_url: receiver.url(name) };
    const answer = await program.request('POST', `/reactors/${reactorId}/react`, { key, body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(202);
    return invocationIdOf(answer);
  }

  async function stateOf(reactorId: string, id: string): Promise<string> {
    const key = await program.keyOf('user');
    const { status, body } = await program.request('GET', `/reactors/${reactorId}/results/${id}`, { key });
    return status === 202 ? (body.state as string) : 'ended';
  }

  /** How often its code was let begin, as the audit log has it: at most once for each invocation. */
  async function runsOf(reactorId: string): Promise<number> {
    const key = await program.keyOf('manager');
    const query = `entity_type=reactor&entity_id=${reactorId}&size=100`;
    const { body } = await program.request('GET', `/logs?${query}`, { key });
    return body.data.filter(({ message }: { message: string }) => message === 'reactor invoked').length;
  }

  async function eventOf(name: string, attempt = 1) {
    const { headers, text } = await receiver.next(name, attempt, 60_000);
    return { id: headers['webhook-id'], ...receiver.verify(secret, headers, text) };
  }

  it('run once at most and are delivered at least once, whenever it was killed', async () => {
    const [slow, quick] = [await reactor(), await reactor()];
    // Its receiver has it, and has not answered.
    receiver.behave('delivering', (response, attempt) => void (attempt > 1 && response.end()));
    const delivering = await ask(quick, 'delivering', 0);
    await eventOf('delivering');
    const running = await ask(slow, 'running', LONG_MS);
    await eventually(async () => expect(await stateOf(slow, running)).to.equal('running'), { deadlineMs: 30_000 });
    // There is one instance, and it is taken.
    const waiting = await Promise.all(Array.from({ length: ROUNDS }, (_, index) => ask(slow, `waiting-${index}`, 0)));
    for (const id of waiting) expect(await stateOf(slow, id)).to.equal('waiting');
    expect(await runsOf(quick)).to.equal(1);

    await program.kill();
    program = await start();

    const again = await eventOf('delivering', 2);
    expect(again).to.deep.include({ id: delivering, type: 'reactor.completed' });
    expect(again.data.body).to.deep.equal({ raw: 'delivering' });
    const interrupted = await eventOf('running');
    expect(interrupted).to.deep.include({ id: running, type: 'reactor.failed' });
    expect(interrupted.data.body).to.deep.include({ status: 502, title: 'The invocation was interrupted.' });
    for (const [index, id] of waiting.entries()) {
      const event = await eventOf(`waiting-${index}`);
      expect(event).to.deep.include({ id, type: 'reactor.completed' });
      expect(event.data.body).to.deep.equal({ raw: `waiting-${index}` });
    }
    // Those that had to wait may be logged each time that they were about to begin; what ran is not run again.
    expect(await runsOf(quick)).to.equal(1);
    await eventually(async () => expect(await stateOf(slow, running)).to.equal('ended'));
    for (const name of ['running', 'waiting-0', 'waiting-1', 'waiting-2']) {
      expect(receiver.received(name), name).to.have.length(1);
    }
  });

  it('are interrupted by SIGTERM, and what waits is left to the next start', async () => {
    const slow = await reactor();
    const running = await ask(slow, 'stopped', LONG_MS);
    await eventually(async () => expect(await stateOf(slow, running)).to.equal('running'), { deadlineMs: 30_000 });
    await ask(slow, 'left', 0);
    const { code, elapsedMs } = await program.stop();
    expect(code).to.equal(0);
    expect(elapsedMs).to.be.below(10_000);
    program = await start();
    expect((await eventOf('stopped')).data.body.title).to.equal('The invocation was interrupted.');
    expect((await eventOf('left')).data.body).to.deep.equal({ raw: 'left' });
  });
});
