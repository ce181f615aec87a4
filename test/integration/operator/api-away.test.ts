import { expect } from 'chai';
import type { ResourceRecord } from '../../../src/operator/sources/folder/status-file.ts';
import { eventually } from '../../support/eventually.ts';
import { applicationPath, createControlPlane, heldAt, manifest } from '../../support/operator/control-plane.ts';
import type { ControlPlane } from '../../support/operator/control-plane.ts';

const COUNT = 120;
const PATIENCE = { deadlineMs: 120_000, everyMs: 100 };

describe('while the internal API is away', function () {
  this.timeout(300_000);
  let plane: ControlPlane;

  beforeEach(async () => {
    plane = await createControlPlane();
  });
  afterEach(() => plane.close());

  const applications = (count: number, spec: object = {}) =>
    Array.from({ length: count }, (_, number) =>
      manifest('Application', `application-${number}`, { type: 'private', ...spec }),
    ).join('');

  const readyOf = (record: ResourceRecord) => record.status?.conditions.find(({ type }) => type === 'Ready');
  const records = async () => (await plane.status()).records.filter(({ ref }) => ref.kind === 'Application');
  const countOf = async (reason: string) =>
    (await records()).filter((record) => readyOf(record)?.reason === reason).length;

  const AWAY: Record<string, (api: ControlPlane['api']) => () => void> = {
    'answers 503': (api) => {
      api.refuse = () => ({ status: 503, body: { title: 'Unavailable', status: 503 } });
      return () => (api.refuse = () => undefined);
    },
    'answers 429': (api) => {
      api.refuse = () => ({ status: 429, body: { title: 'Too many requests', status: 429 } });
      return () => (api.refuse = () => undefined);
    },
    'does not know the operator': (api) => {
      const { token } = api;
      api.token = 'another';
      return () => (api.token = token);
    },
  };

  for (const [how, goAway] of Object.entries(AWAY)) {
    it(`and ${how}: few calls, few conditions, and all goes on once it is back`, async () => {
      await plane.write('applications.yaml', applications(COUNT));
      await (
        await plane.start()
      ).reconciled;
      expect(await countOf('Reconciled')).to.equal(COUNT);

      const comeBack = goAway(plane.api);
      const before = plane.api.requests.length;
      await plane.write('applications.yaml', applications(COUNT, { displayName: 'Renamed' }));
      await eventually(async () => expect(await countOf('ApiUnavailable')).to.be.above(0), PATIENCE);
      // Until it was asked again a few times.
      const atFirst = plane.api.requests.length;
      await eventually(() => expect(plane.api.requests.length).to.be.above(atFirst + 2), PATIENCE);
      const affected = await countOf('ApiUnavailable');
      expect(affected).to.be.within(1, 8);
      expect(plane.api.requests.length - before).to.be.below(40);
      expect(await countOf('Reconciled')).to.equal(COUNT - affected);

      comeBack();
      await eventually(async () => {
        const current = await records();
        expect(current.filter((record) => readyOf(record)?.observedGeneration === 2)).to.have.length(COUNT);
        expect(current.filter((record) => readyOf(record)?.status === 'True')).to.have.length(COUNT);
      }, PATIENCE);
      for (const number of [0, COUNT / 2, COUNT - 1]) {
        expect(heldAt(plane, applicationPath(`application-${number}`)).name).to.equal('Renamed');
      }
    });
  }

  it('at the start, nothing is lost either', async () => {
    await plane.write('applications.yaml', applications(20));
    const comeBack = AWAY['answers 503']!(plane.api);
    const operator = await plane.start();
    comeBack();
    await operator.reconciled;
    expect(await countOf('Reconciled')).to.equal(20);
  });

  it('what the API refuses of one resource keeps no other waiting', async () => {
    const refused = applicationPath('application-3');
    plane.api.refuse = (_method, path) =>
      path === refused ? { status: 422, body: { title: 'No', status: 422 } } : undefined;
    await plane.write('applications.yaml', applications(20));
    await (
      await plane.start()
    ).reconciled;
    expect(await countOf('ApiRefused')).to.equal(1);
    expect(await countOf('Reconciled')).to.equal(19);
    expect(await countOf('ApiUnavailable')).to.equal(0);
  });

  it('what the API fails at of one resource keeps no other waiting', async () => {
    const failing = applicationPath('application-3');
    plane.api.refuse = (_method, path) =>
      path === failing ? { status: 500, body: { title: 'Fault', status: 500 } } : undefined;
    await plane.write('applications.yaml', applications(20));
    await plane.start();
    await eventually(async () => expect(await countOf('Reconciled')).to.equal(19), PATIENCE);
    expect(await countOf('ApiUnavailable')).to.equal(1);
  });
});
