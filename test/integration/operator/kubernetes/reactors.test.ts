import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import type { KubernetesPlane } from '../../../support/operator/kubernetes-plane.ts';
import { useKubernetesPlane } from '../../../support/operator/use-kubernetes-plane.ts';

const WAIT = { deadlineMs: 30_000 };
const CODE = 'module.exports = async () => ({ raw: {} });';

describe('reactors in a cluster', function () {
  this.timeout(120_000);
  let plane: KubernetesPlane;

  useKubernetesPlane((made) => (plane = made));

  const declare = (spec: object, metadata: object = {}) => plane.apply('Reactor', 'brand', { metadata, spec });
  const reactorIs = (reason: string) =>
    eventually(async () => expect(await plane.condition('Reactor', 'brand')).to.include({ reason }), WAIT);
  const held = () => plane.heldAt(plane.reactorPath('brand'));
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const scripts = (code: string) => plane.apply('ConfigMap', 'scripts', { data: { 'brand.js': code } });
  const credentials = (key: string) =>
    plane.apply('Secret', 'credentials', { data: { MODE: base64('overridden'), KEY: base64(key) } });

  it('are declared once all that they refer to is there, in whatever order it comes', async () => {
    await declare({
      codeFrom: { configMap: { name: 'scripts', key: 'brand.js' } },
      configuration: { MODE: 'explicit' },
      configurationFrom: [{ secret: { name: 'credentials' } }],
      applicationRef: { name: 'support' },
    });
    await plane.start();
    expect(await plane.condition('Reactor', 'brand')).to.include({ reason: 'ConfigMapEntryNotFound' });
    await plane.apply('ConfigMap', 'scripts', { data: { other: CODE } });
    await scripts(CODE);
    await reactorIs('SecretEntryNotFound');
    await credentials('k-1');
    await reactorIs('ApplicationNotFound');
    await plane.apply('Application', 'support', { spec: { type: 'private' } });
    await reactorIs('Reconciled');

    expect(held()).to.deep.include({ code: CODE, configuration: { MODE: 'explicit', KEY: 'k-1' } });
    expect(plane.applicationPath('support')).to.include(held().applicationId);
    const reactor = await plane.read('Reactor', 'brand');
    expect(reactor?.status).to.include({ replicas: 1, observedGeneration: 1 });
    expect(JSON.stringify(reactor)).not.to.include('k-1');
  });

  it('follow a change of the code and the configuration that they refer to', async () => {
    await scripts(CODE);
    await credentials('k-1');
    const codeFrom = { configMap: { name: 'scripts', key: 'brand.js' } };
    await declare({ codeFrom, configurationFrom: [{ secret: { name: 'credentials' } }] });
    await plane.start();
    await credentials('k-2');
    await eventually(() => expect(held().configuration).to.include({ KEY: 'k-2' }), WAIT);
    await scripts(`${CODE} // second`);
    await eventually(() => expect(held().code).to.include('second'), WAIT);

    await plane.remove('ConfigMap', 'scripts');
    await reactorIs('ConfigMapEntryNotFound');
    expect(held().code).to.include('second');
    await scripts(`${CODE} // third`);
    await eventually(() => expect(held().code).to.include('third'), WAIT);
  });

  it('stall where the API refuses their code, and what ran before goes on', async () => {
    await declare({ code: CODE });
    await plane.start();
    plane.api.refuse = (method) =>
      method === 'PUT'
        ? { status: 422, body: { status: 422, title: 'Unprocessable', detail: 'The code does not compile.' } }
        : undefined;
    await declare({ code: 'module.exports =' });
    await eventually(async () => {
      expect(await plane.condition('Reactor', 'brand', 'Stalled')).to.include({ reason: 'CodeRefused' });
    }, WAIT);
    expect(held().code).to.equal(CODE);
    plane.api.refuse = () => undefined;
    await declare({ code: `${CODE} // mended` });
    await reactorIs('Reconciled');
  });

  it('stall where an entry of their configuration is not text, and name it', async () => {
    await plane.apply('Secret', 'credentials', { data: { KEY: '/w==' } });
    await declare({ code: CODE, configurationFrom: [{ secret: { name: 'credentials' } }] });
    await plane.start();
    const condition = await plane.condition('Reactor', 'brand', 'Stalled');
    expect(condition).to.include({ reason: 'EntryNotText' });
    expect(condition).to.have.property('message').that.includes('Entry KEY of Secret credentials');
    await credentials('k-1');
    await reactorIs('Reconciled');
    expect(held().configuration).to.deep.include({ KEY: 'k-1' });
  });

  it('are left as they are while paused', async () => {
    await declare({ code: CODE }, { annotations: { 'tokenkeep.dev/pause': 'true' } });
    await plane.start();
    expect(await plane.condition('Reactor', 'brand', 'Paused')).to.include({ status: 'True' });
    expect(plane.api.held.has(plane.reactorPath('brand'))).to.be.false;
    await plane.patch('Reactor', 'brand', { metadata: { annotations: { 'tokenkeep.dev/pause': null } } });
    await reactorIs('Reconciled');
  });

  it('go from the API with their resource, or stay under the deletion policy Retain', async () => {
    await declare({ code: CODE });
    await plane.apply('Reactor', 'kept', { spec: { code: CODE, deletionPolicy: 'Retain' } });
    await plane.start();
    for (const name of ['brand', 'kept']) {
      expect((await plane.read('Reactor', name))?.metadata.finalizers).to.deep.equal(['tokenkeep.dev/cleanup']);
      await plane.remove('Reactor', name);
      await eventually(async () => expect(await plane.read('Reactor', name)).to.be.undefined, WAIT);
    }
    expect(plane.api.held.has(plane.reactorPath('brand'))).to.be.false;
    expect(plane.api.held.has(plane.reactorPath('kept'))).to.be.true;
  });

  it('are put back where the API was changed by others', async () => {
    await declare({ code: CODE });
    await plane.start();
    const before = held();
    plane.api.drift(plane.reactorPath('brand'), { ...before, code: 'changed by hand' });
    await eventually(() => expect(plane.api.held.get(plane.reactorPath('brand'))).to.deep.equal(before), WAIT);
  });
});
