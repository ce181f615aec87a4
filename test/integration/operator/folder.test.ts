import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { declaredId, tenantIdOf } from '../../../src/domain/declarations.ts';
import { printStatus } from '../../../src/cli/status.ts';
import { applicationPath, createControlPlane, heldAt, manifest, TENANT } from '../../support/operator/control-plane.ts';
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
        ['a.yaml', 'spec type cannot be changed; declare another Application instead'],
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
