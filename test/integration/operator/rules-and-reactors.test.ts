import { expect } from 'chai';
import { createNoRuntime } from '../../../src/operator/runtimes/none.ts';
import {
  applicationPath,
  createControlPlane,
  heldAt,
  manifest,
  reactorPath,
} from '../../support/operator/control-plane.ts';
import type { ControlPlane } from '../../support/operator/control-plane.ts';
import { eventually } from '../../support/eventually.ts';

describe('access rules and reactors in a manifests folder', () => {
  let plane: ControlPlane;

  beforeEach(async () => {
    plane = await createControlPlane();
  });
  afterEach(() => plane.close());

  const rule = (name: string, spec: object = {}) =>
    manifest('AccessRule', name, {
      applicationRef: { name: 'support' },
      priority: 5,
      container: '/pci/high/',
      transform: 'mask',
      permissions: ['token:read'],
      ...spec,
    });
  const support = (spec: object = {}, metadata: object = {}) =>
    manifest('Application', 'support', { type: 'private', ...spec }, metadata);
  const ready = async (kind: string, name: string) => (await plane.condition(kind, name))?.status;

  it('wait for their application, and heal by themselves', async () => {
    await plane.write('rule.yaml', rule('masked'));
    await (
      await plane.start()
    ).reconciled;
    expect((await plane.condition('AccessRule', 'masked'))?.reason).to.equal('ApplicationNotFound');

    await plane.write('support.yaml', support());
    await eventually(async () => expect(await ready('AccessRule', 'masked')).to.equal('True'));
    const expected = { priority: 5, container: '/pci/high/', transform: 'mask', permissions: ['token:read'] };
    expect(heldAt(plane, applicationPath('support')).rules).to.deep.equal([expected]);
  });

  it('join the application in the order of priorities, by name and by label', async () => {
    const own = { priority: 7, container: '/', transform: 'redact', permissions: ['token:read'] };
    const selector = { applicationSelector: { matchLabels: { team: 'care' } }, applicationRef: undefined, priority: 9 };
    await plane.write('a.yaml', support({ rules: [own] }, { labels: { team: 'care' } }));
    await plane.write('b.yaml', rule('by-name') + rule('by-label', selector));
    await (
      await plane.start()
    ).reconciled;

    const priorities = () => heldAt(plane, applicationPath('support')).rules?.map(({ priority }) => priority);
    expect(priorities()).to.deep.equal([5, 7, 9]);
    await plane.remove('b.yaml');
    await eventually(() => expect(priorities()).to.deep.equal([7]), { deadlineMs: 1_500 });
  });

  it('are stalled where their priority is taken or the application may not hold them; others go on', async () => {
    await plane.write('a.yaml', support() + manifest('Application', 'web', { type: 'public' }));
    await plane.write('b.yaml', rule('first') + rule('forbidden', { applicationRef: { name: 'web' } }));
    await (
      await plane.start()
    ).reconciled;
    expect(await ready('AccessRule', 'first')).to.equal('True');
    expect(await plane.condition('AccessRule', 'forbidden')).to.include({ reason: 'PermissionNotAllowed' });

    await plane.write('c.yaml', rule('second', { transform: 'reveal' }));
    await eventually(async () => {
      const condition = await plane.condition('AccessRule', 'second');
      expect(condition).to.include({ reason: 'PriorityConflict' });
      expect(condition?.message).to.include('AccessRule first');
    });
    expect(heldAt(plane, applicationPath('support')).rules?.map(({ transform }) => transform)).to.deep.equal(['mask']);

    await plane.remove('b.yaml');
    await eventually(async () => expect(await ready('AccessRule', 'second')).to.equal('True'));
  });

  it('are not taken for an earlier one of their name that is still in force', async () => {
    const paused = { annotations: { 'tokenkeep.dev/pause': 'true' } };
    await plane.write('a.yaml', support());
    await plane.write('b.yaml', rule('masked'));
    await (
      await plane.start()
    ).reconciled;
    expect(await ready('AccessRule', 'masked')).to.equal('True');
    await plane.write('a.yaml', support({}, paused));
    await eventually(async () =>
      expect(await plane.condition('Application', 'support', 'Paused')).to.include({ status: 'True' }),
    );
    await plane.remove('b.yaml');
    await eventually(async () => expect(await plane.record('AccessRule', 'masked')).to.be.undefined);
    await plane.write('b.yaml', rule('masked', { priority: 8 }));
    await eventually(async () => {
      expect(await plane.condition('AccessRule', 'masked')).to.include({ reason: 'ApplicationNotReady' });
    });
    expect((await plane.record('AccessRule', 'masked'))?.generation).to.equal(1);
    await plane.write('a.yaml', support());
    await eventually(async () => expect(await ready('AccessRule', 'masked')).to.equal('True'));
  });

  const code = 'module.exports = async () => ({ raw: {} });';

  it('declare a reactor with code and configuration from what it refers to, once that is there', async () => {
    const spec = {
      codeFrom: { configMap: { name: 'scripts', key: 'brand.js' } },
      configuration: { MODE: 'explicit' },
      configurationFrom: [{ secret: { name: 'credentials' } }],
      applicationRef: { name: 'support' },
    };
    await plane.write('reactor.yaml', manifest('Reactor', 'brand', spec));
    await (
      await plane.start()
    ).reconciled;
    const reason = async () => (await plane.condition('Reactor', 'brand'))?.reason;
    expect(await reason()).to.equal('ConfigMapEntryNotFound');

    const scripts = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'scripts' }, data: { 'brand.js': code } };
    await plane.write('scripts.yaml', JSON.stringify(scripts));
    await eventually(async () => expect(await reason()).to.equal('SecretEntryNotFound'));

    const data = { MODE: Buffer.from('overridden').toString('base64'), KEY: Buffer.from('k-1').toString('base64') };
    const credentials = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'credentials' }, data };
    await plane.write('credentials.yaml', JSON.stringify(credentials));
    await eventually(async () => expect(await reason()).to.equal('ApplicationNotFound'));

    await plane.write('support.yaml', support());
    await eventually(async () => expect(await ready('Reactor', 'brand')).to.equal('True'));
    const held = heldAt(plane, reactorPath('brand'));
    expect(held).to.deep.include({ code, configuration: { MODE: 'explicit', KEY: 'k-1' }, memoryBytes: 2 ** 28 });
    expect(applicationPath('support')).to.include(held.applicationId);
    expect(JSON.stringify(await plane.status())).not.to.include('k-1');
  });

  it('are told that nothing runs them before anything is read for them', async () => {
    await plane.write(
      'reactor.yaml',
      manifest('Reactor', 'brand', { code, configurationFrom: [{ secret: { name: 'not-there' } }] }),
    );
    const operator = await plane.start({ reactorRuntime: createNoRuntime() });
    await operator.reconciled;
    expect(await plane.condition('Reactor', 'brand')).to.include({ status: 'False', reason: 'NoRuntime' });
  });

  it('leave nothing in the status that tells their configuration, or confirms a guess at it', async () => {
    const spec = { code, configuration: { KEY: 'k-1' } };
    const copy = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(spec), team: 'care' };
    const document = manifest('Reactor', 'brand', spec, { annotations: copy });
    const elsewhere = await createControlPlane();
    try {
      for (const each of [plane, elsewhere]) {
        await each.write('reactor.yaml', document);
        const operator = await each.start();
        await operator.reconciled;
        await each.stop(operator);
        await (
          await each.start()
        ).reconciled;
      }
      expect(JSON.stringify(await plane.status())).not.to.include('k-1');
      const record = await plane.record('Reactor', 'brand');
      expect(record).to.deep.include({ generation: 1, annotations: { team: 'care' } });
      expect(record?.specDigest).not.to.equal((await elsewhere.record('Reactor', 'brand'))?.specDigest);
    } finally {
      await elsewhere.close();
    }
  });

  it('stall a reactor whose code the API refuses', async () => {
    plane.api.refuse = (method, at) =>
      method === 'PUT' && at === reactorPath('broken')
        ? { status: 422, body: { status: 422, title: 'Unprocessable', detail: 'The code does not compile.' } }
        : undefined;
    await plane.write('reactor.yaml', manifest('Reactor', 'broken', { code: 'module.exports =' }));
    await (
      await plane.start()
    ).reconciled;
    const condition = await plane.condition('Reactor', 'broken');
    expect(condition).to.include({ status: 'False', reason: 'CodeRefused' });
    expect(condition?.message).to.include('does not compile');
  });
});
