import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { declaredId, tenantIdOf } from '../../../src/domain/declarations.ts';
import { printStatus } from '../../../src/cli/status.ts';
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

describe('a manifests folder', () => {
  let plane: ControlPlane;

  beforeEach(async () => {
    plane = await createControlPlane();
  });
  afterEach(() => plane.close());

  const application = (name: string, spec: object = {}, metadata: object = {}) =>
    manifest('Application', name, { type: 'private', ...spec }, metadata);
  const refusals = async () => (await plane.status()).refused;
  const refusedAs = async () =>
    (await refusals()).map(({ file, reasons }) => [
      file,
      ...reasons.map((reason) => `${reason.path} ${reason.message}`),
    ]);

  it('refuses a document with file, line and every reason, and takes the others', async () => {
    const text = [
      'apiVersion: tokenkeep.dev/v1alpha1',
      'kind: Application',
      'metadata: {name: wrong}',
      'spec:',
      '  type: privat',
      '  colour: red',
      '---',
      JSON.stringify({
        apiVersion: 'tokenkeep.dev/v1alpha1',
        kind: 'Application',
        metadata: { name: 'good' },
        spec: { type: 'private' },
      }),
    ].join('\n');
    await plane.write('apps.yaml', text);
    await (
      await plane.start()
    ).reconciled;

    expect(plane.api.held.has(applicationPath('good'))).to.be.true;
    expect(await refusals()).to.deep.equal([
      {
        file: 'apps.yaml',
        line: 1,
        subject: 'Application default/wrong',
        reasons: [
          { line: 6, path: 'spec.colour', message: 'is not a known field' },
          { line: 5, path: 'spec.type', message: 'must be one of private, public, management' },
        ],
      },
    ]);
  });

  it('keeps the last accepted version of a document in force, also over a restart, until it is mended', async () => {
    await plane.write('a.yaml', application('a', { displayName: 'One' }));
    const first = await plane.start();
    await first.reconciled;

    await plane.write('a.yaml', 'kind: [unfinished');
    await eventually(async () => expect(await refusals()).to.have.length(1));
    await plane.stop(first);
    await (
      await plane.start()
    ).reconciled;
    expect(await refusals()).to.have.length(1);
    expect(heldAt(plane, applicationPath('a')).name).to.equal('One');

    await plane.write('a.yaml', application('a', { displayName: 'Two' }));
    await eventually(() => expect(heldAt(plane, applicationPath('a')).name).to.equal('Two'));
    await eventually(async () => expect(await refusals()).to.be.empty);
  });

  it('refuses a second document for the same object, naming the first, and hands over when that goes', async () => {
    await plane.write('b.yaml', application('a', { displayName: 'First' }));
    await (
      await plane.start()
    ).reconciled;
    await plane.write('a.yaml', application('a', { displayName: 'Second' }));
    await eventually(async () =>
      expect(await refusedAs()).to.deep.equal([['a.yaml', ' is already declared at b.yaml:2']]),
    );
    expect(heldAt(plane, applicationPath('a')).name).to.equal('First');

    await plane.remove('b.yaml');
    await eventually(() => expect(heldAt(plane, applicationPath('a')).name).to.equal('Second'));
  });

  it('refuses a change of what cannot be changed', async () => {
    await plane.write('a.yaml', application('a'));
    await (
      await plane.start()
    ).reconciled;
    await plane.write('a.yaml', application('a', { type: 'public' }));
    await eventually(async () =>
      expect(await refusedAs()).to.deep.equal([
        ['a.yaml', 'spec.type type cannot be changed; declare another Application instead'],
      ]),
    );
    expect(heldAt(plane, applicationPath('a')).type).to.equal('private');
  });

  it('takes a file that an editor replaces, or that moves, without deleting anything', async () => {
    await plane.write('a.yaml', application('a'));
    await (
      await plane.start()
    ).reconciled;
    const swap = path.join(plane.manifestsDir, '.a.yaml.swp');
    await writeFile(swap, application('a', { displayName: 'Edited' }));
    await rename(swap, path.join(plane.manifestsDir, 'a.yaml'));
    await eventually(() => expect(heldAt(plane, applicationPath('a')).name).to.equal('Edited'), { deadlineMs: 1_000 });

    await rename(path.join(plane.manifestsDir, 'a.yaml'), path.join(plane.manifestsDir, 'moved.yaml'));
    await eventually(async () => expect((await plane.record('Application', 'a'))?.file).to.equal('moved.yaml'));
    expect(plane.api.requests.filter((request) => request.startsWith('DELETE'))).to.be.empty;
  });

  it('deletes nothing when the folder itself is away', async () => {
    await plane.write('a.yaml', application('a'));
    const first = await plane.start();
    await first.reconciled;
    await plane.stop(first);
    await rename(plane.manifestsDir, `${plane.manifestsDir}-away`);
    const second = await plane.start();
    await second.reconciled;
    await plane.stop(second);
    expect(plane.api.held.has(applicationPath('a'))).to.be.true;
  });

  it('declares the tenant default where nobody does, and gives namespaces to the tenant that names them', async () => {
    const acme = manifest('Tenant', 'acme', { type: 'test', namespaces: { matchNames: ['acme-prod'] } });
    const rival = manifest('Tenant', 'rival', { namespaces: { matchNames: ['acme-prod'] } });
    await plane.write('a.yaml', acme + application('a', {}, { namespace: 'acme-prod' }));
    await (
      await plane.start()
    ).reconciled;
    expect(heldAt(plane, `tenants/${TENANT}`).quotas).to.include({ tokenize: 5, cvcRetentionSeconds: 3600 });
    const acmeId = tenantIdOf('acme');
    const held = `tenants/${acmeId}/applications/${declaredId(acmeId, 'Application', 'acme-prod', 'a')}`;
    expect(plane.api.held.has(held)).to.be.true;

    await plane.write('b.yaml', rival);
    await eventually(async () => {
      const condition = await plane.condition('Tenant', 'rival');
      expect(condition).to.include({
        reason: 'NamespaceConflict',
        message: 'Namespace acme-prod belongs to Tenant acme',
      });
    });
  });

  it('gives namespaces to the tenant that selects them, and moves what is in them when their labels change', async () => {
    const acmeId = tenantIdOf('acme');
    const declaredIn = (tenantId: string) => plane.api.held.has(applicationPath('a', tenantId, 'acme-prod'));
    const namespace = (labels: object) =>
      JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'acme-prod', labels } });
    const selector = { matchExpressions: [{ key: 'owner', operator: 'In', values: ['acme'] }] };
    const acme = manifest('Tenant', 'acme', { namespaces: { selector } });
    await plane.write('a.yaml', acme + application('a', {}, { namespace: 'acme-prod' }));
    await (
      await plane.start()
    ).reconciled;
    expect([declaredIn(TENANT), declaredIn(acmeId)]).to.deep.equal([true, false]);

    await plane.write('namespace.yaml', namespace({ owner: 'acme' }));
    await eventually(() => expect([declaredIn(TENANT), declaredIn(acmeId)]).to.deep.equal([false, true]));
    const rival = manifest('Tenant', 'rival', { namespaces: { selector: { matchLabels: { owner: 'acme' } } } });
    await plane.write('b.yaml', rival);
    await eventually(async () => {
      const { reason } = (await plane.condition('Tenant', 'rival'))!;
      expect(reason).to.equal('NamespaceConflict');
    });

    await plane.write('namespace.yaml', namespace({ owner: 'nobody' }));
    await eventually(async () => expect((await plane.condition('Tenant', 'rival'))?.status).to.equal('True'));
    const reasonOf = async () => (await plane.record('Application', 'a'))?.status?.conditions[0]?.reason;
    await eventually(async () => expect(await reasonOf()).to.equal('TenantNotReady'));
    expect([declaredIn(TENANT), declaredIn(acmeId)]).to.deep.equal([false, true]);
  });

  it('takes the key along when what is retained moves to another tenant: the application left behind has none', async () => {
    const acmeId = tenantIdOf('acme');
    const [former, next] = [TENANT, acmeId].map((tenantId) => applicationPath('a', tenantId));
    await plane.write('a.yaml', application('a', { deletionPolicy: 'Retain' }));
    await (
      await plane.start()
    ).reconciled;
    const [digest] = digestsAt(plane, former!);
    expect(digest).to.be.a('string');

    await plane.write('acme.yaml', manifest('Tenant', 'acme', { namespaces: { matchNames: ['default'] } }));
    await eventually(() => expect(digestsAt(plane, next!)).to.deep.equal([digest]));
    expect(heldAt(plane, former!)).to.deep.include({ name: 'a', keys: [] });
    const { requests } = plane.api;
    expect(requests.indexOf(`DELETE ${former}/keys`))
      .to.be.below(requests.indexOf(`PUT ${next}`))
      .and.above(-1);

    await plane.remove('acme.yaml');
    await plane.write('default.yaml', manifest('Tenant', 'default', { namespaces: { matchNames: ['default'] } }));
    await eventually(() => expect(digestsAt(plane, former!)).to.deep.equal([digest]));
    expect(heldAt(plane, next!).keys).to.deep.equal([]);
  });

  it('deletes a tenant only where its deletion policy says so, and puts default values back to the default one', async () => {
    const quotas = { tokenize: 9 };
    await plane.write('keep.yaml', manifest('Tenant', 'kept', {}));
    await plane.write('drop.yaml', manifest('Tenant', 'dropped', { deletionPolicy: 'Delete' }));
    await plane.write('default.yaml', manifest('Tenant', 'default', { quotas, deletionPolicy: 'Delete' }));
    await (
      await plane.start()
    ).reconciled;
    expect(heldAt(plane, `tenants/${TENANT}`).quotas?.tokenize).to.equal(9);

    for (const file of ['keep.yaml', 'drop.yaml', 'default.yaml']) await plane.remove(file);
    await eventually(() => expect(plane.api.held.has(`tenants/${tenantIdOf('dropped')}`)).to.be.false);
    await eventually(() => expect(heldAt(plane, `tenants/${TENANT}`).quotas?.tokenize).to.equal(5));
    expect(plane.api.held.has(`tenants/${tenantIdOf('kept')}`)).to.be.true;
    expect(plane.api.requests).not.to.include(`DELETE tenants/${TENANT}`);
  });

  it('shows its state as tables, with an exit code that tells whether all is well', async () => {
    await plane.write('a.yaml', application('payments'));
    await (
      await plane.start()
    ).reconciled;
    const print = async () => {
      let text = '';
      const code = await printStatus(plane.dataDir, (part) => (text += part));
      return { text, code };
    };
    const good = await print();
    expect(good.code).to.equal(0);
    expect(good.text).to.match(/^NAMESPACE +NAME +TYPE +SECRET +READY +REASON +AGE +MESSAGE$/m);
    expect(good.text).to.match(
      /default +\S+payments +private +payments-api-key +True +Reconciled +\d+s +The API holds/,
    );

    await plane.write('b.yaml', 'kind: Nonsense');
    await eventually(async () => expect((await print()).code).to.equal(1));
    expect((await print()).text).to.match(
      /REFUSED DOCUMENTS\nb.yaml:1\n {2}b.yaml:1 {2}kind with apiVersion must be one of/,
    );
  });

  it('says so where a data folder holds no status', async () => {
    let text = '';
    expect(await printStatus(path.join(plane.dataDir, 'nowhere'), (part) => (text += part))).to.equal(1);
    expect(text).to.match(/^No status in /);
  });
});
