import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { startOpenLoop } from '../../support/open-loop.ts';
import type { ProcessIdentity } from '../../support/processes.ts';
import { supervisorsBelow } from '../../support/reactor-processes.ts';
import {
  createStandaloneFolder,
  UNLIMITED_TENANT,
  type ManifestDocument,
  type StandaloneFolder,
} from '../../support/standalone-folder.ts';
import { startStandalone, type Answer, type StandaloneProgram } from '../../support/standalone.ts';

const SCALING = { minReplicas: 1, maxReplicas: 1, concurrency: 3, idleSeconds: 300 };
/** Calls of it that may wait for an instance. */
const HELD = 10 * SCALING.concurrency * SCALING.maxReplicas;
const PER_SECOND = 15;
const ROLLED_OUT_WITHIN_MS = 30_000;

const APPLICATIONS: ManifestDocument[] = [
  {
    ...{ kind: 'Application', name: 'caller' },
    spec: { displayName: 'Caller', type: 'private', permissions: ['token:use'] },
  },
  {
    ...{ kind: 'Application', name: 'admin' },
    spec: {
      ...{ displayName: 'Admin', type: 'management' },
      permissions: ['reactor:read', 'reactor:create', 'reactor:update'],
    },
  },
];

const CODE = 'module.exports = async ({ configuration }) => ({ raw: configuration });';

const declared = (version: string): ManifestDocument => ({
  ...{ kind: 'Reactor', name: 'declared' },
  spec: { displayName: 'Declared', code: CODE, configuration: { VERSION: version }, scaling: SCALING },
});

const versionOf = ({ status, body }: Answer): string => (status === 200 ? body.raw.VERSION : `status ${status}`);

describe('a change of a reactor, while calls come that wait for nobody', function () {
  this.timeout(90_000);
  let folder: StandaloneFolder;
  let vault: StandaloneProgram;
  let caller: string;
  let admin: string;

  before(async () => {
    folder = await createStandaloneFolder();
    await folder.write('tenant.yaml', [UNLIMITED_TENANT, ...APPLICATIONS]);
    await folder.write('reactor.yaml', [declared('1')]);
    vault = await startStandalone({ ...folder, flags: ['--ip-rate-limits', 'off'] });
    caller = await vault.keyOf('caller');
    admin = await vault.keyOf('admin');
  });
  after(async () => {
    await vault.stop();
    await folder.dispose();
  });

  const react = (id: string): Promise<Answer> =>
    vault.request('POST', `/reactors/${id}/react`, { key: caller, body: { args: {} } });

  /** The start of its next instance takes until this is called. */
  async function stopNextStart(known: readonly ProcessIdentity[]): Promise<() => void> {
    const isNew = ({ pid }: ProcessIdentity) => known.every((process) => process.pid !== pid);
    const [starting] = await eventually(
      () => {
        const started = supervisorsBelow(vault.pid).filter(isNew);
        expect(started).to.have.length(1);
        return started;
      },
      { deadlineMs: ROLLED_OUT_WITHIN_MS },
    );
    process.kill(starting!.pid, 'SIGSTOP');
    return () => void process.kill(starting!.pid, 'SIGCONT');
  }

  it('fails none of them, though more come during the start of an instance than may be held', async () => {
    const { body } = await vault.request('GET', '/reactors?name=Declared', { key: admin });
    const { id } = body.data[0];
    expect(versionOf(await react(id))).to.equal('1');
    const known = supervisorsBelow(vault.pid);
    const load = startOpenLoop(PER_SECOND, () => react(id));
    const more = (count: number) => {
      const enough = load.answers.length + count;
      return eventually(() => expect(load.answers.length).to.be.at.least(enough), { deadlineMs: ROLLED_OUT_WITHIN_MS });
    };
    await more(1);
    await folder.write('reactor.yaml', [declared('2')]);
    const goOn = await stopNextStart(known);
    await more(2 * HELD);
    goOn();
    await eventually(() => expect(versionOf(load.answers.at(-1)!)).to.equal('2'), { deadlineMs: ROLLED_OUT_WITHIN_MS });
    await more(PER_SECOND);
    const versions = (await load.stop()).map(versionOf);
    expect(new Set(versions)).to.deep.equal(new Set(['1', '2']));
  });

  it('is answered once what was put runs', async () => {
    const input = (version: string) => ({ name: 'made', code: CODE, configuration: { VERSION: version } });
    const { body } = await vault.request('POST', '/reactors', { key: admin, body: input('1') });
    expect(versionOf(await react(body.id))).to.equal('1');
    let answered = false;
    const change = vault.request('PUT', `/reactors/${body.id}`, { key: admin, body: input('2') });
    void change.then(() => (answered = true));
    while (!answered) expect(versionOf(await react(body.id))).to.be.oneOf(['1', '2']);
    expect((await change).status).to.equal(200);
    expect(versionOf(await react(body.id))).to.equal('2');
  });
});
