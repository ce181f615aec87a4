import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import {
  digestOfKey,
  generateApplicationKey,
  isPlausibleApplicationKey,
} from '../../../src/domain/application-keys.ts';
import {
  applicationPath,
  createControlPlane,
  digestsAt,
  heldAt,
  manifest,
  TENANT,
} from '../../support/operator/control-plane.ts';
import type { ControlPlane } from '../../support/operator/control-plane.ts';
import { eventually } from '../../support/eventually.ts';

describe('applications in a manifests folder', () => {
  let plane: ControlPlane;

  beforeEach(async () => {
    plane = await createControlPlane();
  });
  afterEach(() => plane.close());

  const payments = (spec: object = {}) => manifest('Application', 'payments', { type: 'private', ...spec });

  it('are declared under an id that follows from their name, with the digest of the key in their Secret', async () => {
    await plane.write('payments.yaml', payments({ permissions: ['token:create'] }));
    await (
      await plane.start()
    ).reconciled;

    const key = await plane.secret('payments-api-key', 'api-key');
    expect(isPlausibleApplicationKey(key)).to.be.true;
    expect(key).to.match(/^key_prod_pvt_/);
    expect(await plane.secret('payments-api-key', 'base-url')).to.equal('http://127.0.0.1:8080');
    const held = heldAt(plane, applicationPath('payments'));
    expect(held).to.deep.include({ name: 'payments', type: 'private', permissions: ['token:create'], rules: [] });
    expect(digestsAt(plane, applicationPath('payments'))).to.deep.equal([digestOfKey(key)]);
    expect(JSON.stringify([...plane.api.held])).not.to.include(key);
    expect((await plane.condition('Application', 'payments'))?.status).to.equal('True');
  });

  it('keep Secrets and status readable by their owner only', async () => {
    await plane.write('payments.yaml', payments());
    await (
      await plane.start()
    ).reconciled;

    const mode = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);
    expect(await mode(plane.secretPath('payments-api-key', 'api-key'))).to.equal('600');
    expect(await mode(plane.secretPath('payments-api-key', '.'))).to.equal('700');
    expect(await mode(path.join(plane.dataDir, 'status.json'))).to.equal('600');
  });

  it('may have a name of 63 characters: that of their Secret is longer', async () => {
    const name = 'a'.repeat(63);
    await plane.write('longest.yaml', manifest('Application', name, { type: 'private' }));
    await (
      await plane.start()
    ).reconciled;
    const first = await plane.secret(`${name}-api-key`, 'api-key');
    expect(digestsAt(plane, applicationPath(name))).to.deep.equal([digestOfKey(first)]);

    await rm(plane.secretPath(`${name}-api-key`, '.'), { recursive: true });
    await eventually(async () => expect(await plane.secret(`${name}-api-key`, 'api-key')).not.to.equal(first));
  });

  it('follow an edit, and are deleted with their Secret when their document goes', async () => {
    await plane.write('payments.yaml', payments());
    await (
      await plane.start()
    ).reconciled;

    await plane.write('payments.yaml', payments({ displayName: 'Payments' }));
    await eventually(() => expect(heldAt(plane, applicationPath('payments')).name).to.equal('Payments'), {
      deadlineMs: 1_000,
    });
    expect((await eventually(() => plane.record('Application', 'payments')))?.generation).to.equal(2);

    await plane.remove('payments.yaml');
    await eventually(() => expect(plane.api.held.has(applicationPath('payments'))).to.be.false, { deadlineMs: 1_000 });
    await eventually(async () => expect(await plane.record('Application', 'payments'))?.to.be.undefined);
    expect(await plane.secret('payments-api-key', 'api-key').catch(() => 'gone')).to.equal('gone');
  });

  it('stay in the API with their Secret under the deletion policy Retain', async () => {
    await plane.write('payments.yaml', payments({ deletionPolicy: 'Retain' }));
    await (
      await plane.start()
    ).reconciled;

    await plane.remove('payments.yaml');
    await eventually(async () => expect(await plane.record('Application', 'payments'))?.to.be.undefined);
    expect(plane.api.held.has(applicationPath('payments'))).to.be.true;
    expect(await plane.secret('payments-api-key', 'api-key')).to.match(/^key_/);
  });

  it('are put back within a second where the API was changed or emptied by others', async () => {
    await plane.write('payments.yaml', payments({ displayName: 'Payments' }));
    await (
      await plane.start()
    ).reconciled;
    const held = heldAt(plane, applicationPath('payments'));

    plane.api.drift(applicationPath('payments'), { ...held, name: 'Changed by hand' });
    await eventually(() => expect(plane.api.held.get(applicationPath('payments'))).to.deep.equal(held), {
      deadlineMs: 1_000,
    });
    plane.api.drift(applicationPath('payments'), undefined);
    await eventually(() => expect(plane.api.held.get(applicationPath('payments'))).to.deep.equal(held), {
      deadlineMs: 1_000,
    });
  });

  it('get another key when their Secret is deleted, and the old one is declared no longer', async () => {
    await plane.write('payments.yaml', payments());
    await (
      await plane.start()
    ).reconciled;
    const first = await plane.secret('payments-api-key', 'api-key');

    await rm(plane.secretPath('payments-api-key', '.'), { recursive: true });
    const second = await eventually(() => plane.secret('payments-api-key', 'api-key'));
    expect(second).not.to.equal(first);
    await eventually(() => {
      expect(digestsAt(plane, applicationPath('payments'))).to.deep.equal([digestOfKey(second)]);
    });
  });

  it('replace their key at its age, and the old one works on for the overlap', async () => {
    await plane.write('payments.yaml', payments({ key: { rotateAfter: '2s', overlap: '1s' } }));
    await (
      await plane.start()
    ).reconciled;
    const first = digestOfKey(await plane.secret('payments-api-key', 'api-key'));

    await eventually(() => {
      const { keys = [] } = heldAt(plane, applicationPath('payments'));
      expect(keys).to.have.length(2);
      expect(keys[0]).not.to.have.property('expiresAt');
      expect(keys[1]).to.include({ digest: first }).and.have.property('expiresAt');
    });
    await eventually(() => {
      expect(digestsAt(plane, applicationPath('payments'))).not.to.include(first);
    });
  });

  it('keep their key and generation over a restart, and write nothing new', async () => {
    await plane.write('payments.yaml', payments());
    const first = await plane.start();
    await first.reconciled;
    const key = await plane.secret('payments-api-key', 'api-key');
    const before = await plane.record('Application', 'payments');
    await plane.stop(first);

    await (
      await plane.start()
    ).reconciled;
    expect(await plane.secret('payments-api-key', 'api-key')).to.equal(key);
    expect(await plane.record('Application', 'payments'))?.to.deep.equal(before);
  });

  it('keep the key of a Secret that the API never heard of, when the program ends between the two', async () => {
    plane.api.refuse = (method, at) =>
      method === 'PUT' && at.includes('/applications/') ? { status: 503, body: { title: 'Away' } } : undefined;
    await plane.write('payments.yaml', payments());
    const first = await plane.start();
    const key = await eventually(() => plane.secret('payments-api-key', 'api-key'));
    await plane.stop(first);
    expect(plane.api.held.has(applicationPath('payments'))).to.be.false;

    plane.api.refuse = () => undefined;
    await (
      await plane.start()
    ).reconciled;
    expect(await plane.secret('payments-api-key', 'api-key')).to.equal(key);
    expect(digestsAt(plane, applicationPath('payments'))).to.deep.equal([digestOfKey(key)]);
  });

  it('are deleted at the next start when their document went in between', async () => {
    await plane.write('payments.yaml', payments());
    const first = await plane.start();
    await first.reconciled;
    await plane.stop(first);

    await plane.remove('payments.yaml');
    await (
      await plane.start()
    ).reconciled;
    expect(plane.api.held.has(applicationPath('payments'))).to.be.false;
    expect(await plane.record('Application', 'payments'))?.to.be.undefined;
  });

  it('never overwrite a Secret that they did not make', async () => {
    await mkdir(plane.secretPath('payments-api-key', '.'), { recursive: true });
    await writeFile(plane.secretPath('payments-api-key', 'api-key'), 'of somebody else');
    await plane.write('payments.yaml', payments());
    await (
      await plane.start()
    ).reconciled;

    expect(await plane.secret('payments-api-key', 'api-key')).to.equal('of somebody else');
    expect(await plane.condition('Application', 'payments'))?.to.include({ status: 'False', reason: 'SecretNotOurs' });
    expect((await plane.condition('Application', 'payments', 'Stalled'))?.status).to.equal('True');
    expect(plane.api.held.has(applicationPath('payments'))).to.be.false;
  });

  it('may bring a key from a Secret document, and wait for it', async () => {
    const key = generateApplicationKey('production', 'private');
    await plane.write('payments.yaml', payments({ key: { fromSecret: { name: 'brought', key: 'token' } } }));
    await (
      await plane.start()
    ).reconciled;
    expect((await plane.condition('Application', 'payments'))?.reason).to.equal('SecretEntryNotFound');

    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'brought' }, stringData: { token: key } };
    await plane.write('secret.yaml', JSON.stringify(secret));
    await eventually(() => {
      expect(digestsAt(plane, applicationPath('payments'))).to.deep.equal([digestOfKey(key)]);
    });
    await eventually(async () => expect((await plane.condition('Application', 'payments'))?.status).to.equal('True'));
    expect(JSON.stringify(await plane.status())).not.to.include(key);
  });

  it('adopt the id of an annotation, and refuse one that is no UUID', async () => {
    const id = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';
    const annotated = (name: string, value: string) =>
      manifest('Application', name, { type: 'private' }, { annotations: { 'tokenkeep.dev/id': value } });
    await plane.write('a.yaml', annotated('adopted', id) + annotated('broken', 'no-uuid'));
    await (
      await plane.start()
    ).reconciled;

    expect(plane.api.held.has(`tenants/${TENANT}/applications/${id}`)).to.be.true;
    expect((await plane.condition('Application', 'broken'))?.reason).to.equal('IdNotValid');
  });

  it('are left alone while paused', async () => {
    const paused = { annotations: { 'tokenkeep.dev/pause': 'true' } };
    await plane.write('a.yaml', manifest('Application', 'payments', { type: 'private' }, paused));
    await (
      await plane.start()
    ).reconciled;
    expect(plane.api.held.has(applicationPath('payments'))).to.be.false;
    expect((await plane.condition('Application', 'payments', 'Paused'))?.status).to.equal('True');

    await plane.write('a.yaml', payments());
    await eventually(() => expect(plane.api.held.has(applicationPath('payments'))).to.be.true);
    await eventually(async () => expect(await plane.condition('Application', 'payments', 'Paused'))?.to.be.undefined);
  });

  it('stall on what the API refuses for good, and go on trying while it is away', async () => {
    const problem = { title: 'Wrong', status: 400, errors: { name: ['must be shorter'] } };
    plane.api.refuse = (_method, at) =>
      at === applicationPath('refused')
        ? { status: 400, body: problem }
        : at === applicationPath('late') && plane.api.requests.filter((entry) => entry === `PUT ${at}`).length < 4
          ? { status: 503, body: { title: 'Away', status: 503 } }
          : undefined;
    const plain = (name: string) => manifest('Application', name, { type: 'private' });
    await plane.write('a.yaml', plain('refused') + plain('late'));
    await (
      await plane.start()
    ).reconciled;

    const refused = await plane.condition('Application', 'refused');
    expect(refused).to.include({ status: 'False', reason: 'ApiRefused' });
    expect(refused?.message).to.include('name must be shorter');
    expect((await plane.condition('Application', 'late'))?.status).to.equal('True');
  });
});
