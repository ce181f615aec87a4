import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { STATUS_FILE, type ReportedResource, type StatusReport } from '../../../src/domain/resource-status.ts';
import { eventually } from '../../support/eventually.ts';
import { isRunning } from '../../support/processes.ts';
import { instancesBelow } from '../../support/reactor-processes.ts';
import {
  createStandaloneFolder,
  UNLIMITED_TENANT,
  type ManifestDocument,
  type StandaloneFolder,
} from '../../support/standalone-folder.ts';
import { startStandalone, type Answer, type StandaloneProgram } from '../../support/standalone.ts';

const MOST = 3;
/** More than all instances together take at a time. */
const CALLERS = 6;
const CALL_MS = 100;
const SCALED_WITHIN_MS = 30_000;

const APPLICATIONS: ManifestDocument[] = [
  {
    ...{ kind: 'Application', name: 'caller' },
    spec: { displayName: 'Caller', type: 'private', permissions: ['token:use'] },
  },
  {
    ...{ kind: 'Application', name: 'admin' },
    spec: { displayName: 'Admin', type: 'management', permissions: ['reactor:read'] },
  },
];

const reactor = (version: number): ManifestDocument => ({
  ...{ kind: 'Reactor', name: 'scaled' },
  spec: {
    displayName: 'Scaled',
    code: `module.exports = async ({ args }) => {
      await new Promise((resolve) => setTimeout(resolve, args.ms));
      return { raw: { version: ${version} } };
    };`,
    scaling: { minReplicas: 0, maxReplicas: MOST, concurrency: 1, idleSeconds: 1 },
  },
});

describe('a reactor of standalone, from zero instances and back', function () {
  this.timeout(90_000);
  let folder: StandaloneFolder;
  let vault: StandaloneProgram;
  let key: string;
  let id: string;

  before(async () => {
    folder = await createStandaloneFolder();
    await folder.write('tenant.yaml', [UNLIMITED_TENANT, ...APPLICATIONS]);
    await folder.write('reactor.yaml', [reactor(1)]);
    vault = await startStandalone({ ...folder, flags: ['--ip-rate-limits', 'off'] });
    key = await vault.keyOf('caller');
    const { body } = await vault.request('GET', '/reactors', { key: await vault.keyOf('admin') });
    id = body.data[0].id as string;
  });
  after(async () => {
    await vault.stop();
    await folder.dispose();
  });

  const react = (ms: number): Promise<Answer> =>
    vault.request('POST', `/reactors/${id}/react`, { key, body: { args: { ms } } });
  const instances = () => instancesBelow(vault.pid);

  function expectInstances(count: number): Promise<void> {
    return eventually(() => void expect(instances()).to.have.length(count), { deadlineMs: SCALED_WITHIN_MS });
  }

  async function expectReady(said: string): Promise<void> {
    await eventually(
      async () => {
        const report = JSON.parse(await readFile(join(folder.dataDir, STATUS_FILE), 'utf8')) as StatusReport;
        const resource = report.resources.find(({ kind }: ReportedResource) => kind === 'Reactor');
        const condition = resource?.conditions.find(({ type }) => type === 'Ready');
        expect(condition).to.include({ status: 'True', message: `The API holds this reactor; ${said}` });
      },
      { deadlineMs: SCALED_WITHIN_MS },
    );
  }

  /** Callers that each call again as soon as they are answered. */
  function startLoad() {
    const versions: number[] = [];
    const failures: Answer[] = [];
    let mostInstances = 0;
    let stopped = false;
    const call = async (): Promise<void> => {
      while (!stopped) {
        const answer = await react(CALL_MS);
        if (answer.status === 200) versions.push((answer.body as { raw: { version: number } }).raw.version);
        else failures.push(answer);
        mostInstances = Math.max(mostInstances, instances().length);
      }
    };
    const callers = Promise.all(Array.from({ length: CALLERS }, call));
    return {
      versions,
      failures,
      mostInstances: () => mostInstances,
      /** Resolves once so many more calls have been answered well. */
      async goOn(calls: number) {
        const enough = versions.length + calls;
        await eventually(() => expect(versions.length).to.be.at.least(enough), { deadlineMs: SCALED_WITHIN_MS });
      },
      async stop() {
        stopped = true;
        await callers;
      },
    };
  }

  async function underLoad(check: (load: ReturnType<typeof startLoad>) => Promise<void>): Promise<void> {
    const load = startLoad();
    try {
      await expectInstances(MOST);
      await check(load);
    } finally {
      await load.stop();
    }
  }

  it('is Ready without any, and answers the first call', async () => {
    await expectReady('the next call starts an instance');
    expect(instances()).to.deep.equal([]);
    expect((await react(0)).body).to.deep.equal({ raw: { version: 1 } });
    expect(instances()).to.have.length.within(1, MOST);
  });

  it('grows under load to its most and no further, and says so', async () => {
    await underLoad(async (load) => {
      await expectReady(`${MOST} instances answer`);
      await load.goOn(20);
      await load.stop();
      expect(load.failures).to.deep.equal([]);
      expect(load.mostInstances()).to.equal(MOST);
    });
  });

  it('takes new code under load without a failed call', async () => {
    await underLoad(async (load) => {
      const former = instances();
      await load.goOn(1);
      const before = load.versions.at(-1)!;
      const next = before + 1;
      await folder.write('reactor.yaml', [reactor(next)]);
      await eventually(() => expect(load.versions.at(-1)).to.equal(next), { deadlineMs: SCALED_WITHIN_MS });
      await eventually(() => expect(former.filter(({ supervisor }) => isRunning(supervisor))).to.deep.equal([]), {
        deadlineMs: SCALED_WITHIN_MS,
      });
      const answered = load.versions.length;
      await load.goOn(20);
      await load.stop();
      expect(load.failures).to.deep.equal([]);
      expect(load.versions).to.include(before);
      expect(new Set(load.versions.slice(answered + CALLERS))).to.deep.equal(new Set([next]));
    });
  });

  for (const victim of ['supervisor', 'child'] as const) {
    it(`loses one call at most when the ${victim} of an instance is killed under load, and replaces it`, async () => {
      await underLoad(async (load) => {
        const struck = instances()[0]!;
        process.kill(struck[victim].pid, 'SIGKILL');
        await load.goOn(20);
        await eventually(
          () => {
            expect(isRunning(struck.child)).to.equal(false);
            const supervisors = instances().map(({ supervisor }) => supervisor.pid);
            expect(supervisors).to.have.length(MOST);
            expect(supervisors.includes(struck.supervisor.pid)).to.equal(victim === 'child');
          },
          { deadlineMs: SCALED_WITHIN_MS },
        );
        await load.goOn(20);
        await load.stop();
        const lost = load.failures.map(({ status }) => status);
        expect(lost).to.have.length.of.at.most(1);
        expect(lost.every((status) => status === 502)).to.equal(true);
      });
    });
  }

  it('goes back to none when nobody calls, stays Ready, and comes again', async () => {
    const first = await react(0);
    expect(first.status).to.equal(200);
    await expectInstances(0);
    await expectReady('the next call starts an instance');
    expect((await react(0)).body).to.deep.equal(first.body);
  });
});
