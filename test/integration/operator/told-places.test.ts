import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { tenantIdOf } from '../../../src/domain/declarations.ts';
import type { StatusFileContent } from '../../../src/operator/sources/folder/status-file.ts';
import { eventually } from '../../support/eventually.ts';
import { applicationPath, createControlPlane, manifest, reactorPath } from '../../support/operator/control-plane.ts';
import type { ControlPlane } from '../../support/operator/control-plane.ts';

const ACME = tenantIdOf('acme');
const UMBRELLA = tenantIdOf('umbrella');
const THEIRS = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';
const CODE = 'module.exports = async () => ({ raw: {} });';

/** What another tenant has, made through the API. */
const foreignPath = (collection: string) => `tenants/${ACME}/${collection}/${THEIRS}`;

describe('a status that tells of what its resource never had', () => {
  let plane: ControlPlane;

  beforeEach(async () => {
    plane = await createControlPlane();
    for (const collection of ['applications', 'reactors']) {
      plane.api.held.set(foreignPath(collection), { name: 'theirs', keys: [] });
    }
    plane.api.held.set(`tenants/${ACME}`, { name: 'acme' });
    await plane.write('shop.yaml', manifest('Application', 'shop', { type: 'private' }));
    await plane.write('brand.yaml', manifest('Reactor', 'brand', { code: CODE }));
    await plane.write(
      'umbrella.yaml',
      manifest('Tenant', 'umbrella', { namespaces: { matchNames: ['default'] }, deletionPolicy: 'Delete' }),
    );
    const operator = await plane.start();
    await operator.reconciled;
    await plane.stop(operator);
  });
  afterEach(() => plane.close());

  /** As whoever may write to `/status` in a cluster could. */
  async function forge(kind: string, status: object): Promise<void> {
    const file = path.join(plane.dataDir, 'status.json');
    const content = JSON.parse(await readFile(file, 'utf8')) as StatusFileContent;
    for (const record of content.records) if (record.ref.kind === kind) Object.assign(record.status!, status);
    await writeFile(file, JSON.stringify(content));
  }
  const isForgotten = (kind: string, name: string) =>
    eventually(async () => expect(await plane.record(kind, name)).to.be.undefined);

  for (const [kind, name, file, collection] of [
    ['Application', 'shop', 'shop.yaml', 'applications'],
    ['Reactor', 'brand', 'brand.yaml', 'reactors'],
  ] as const) {
    it(`has no object of another tenant deleted with the ${kind}`, async () => {
      await forge(kind, { tenantId: ACME, id: THEIRS });
      await plane.remove(file);
      await plane.start();
      await isForgotten(kind, name);
      expect(plane.api.held.has(foreignPath(collection))).to.be.true;
      expect(plane.api.requests).not.to.include(`DELETE ${foreignPath(collection)}`);
    });

    it(`has none left either, while the ${kind} is there`, async () => {
      await forge(kind, { tenantId: ACME, id: THEIRS });
      const operator = await plane.start();
      await operator.reconciled;
      const own = kind === 'Application' ? applicationPath(name, UMBRELLA) : reactorPath(name, UMBRELLA);
      await eventually(async () => {
        const { id } = (await plane.record(kind, name))?.status as { id?: string };
        expect(own).to.match(new RegExp(`/${id}$`));
      });
      expect(plane.api.held.has(foreignPath(collection))).to.be.true;
      expect(plane.api.requests.filter((request) => request.includes(THEIRS))).to.be.empty;
    });
  }

  it('has no keys revoked under the policy Retain', async () => {
    await forge('Application', { tenantId: ACME, id: THEIRS, deletionPolicy: 'Retain' });
    await (
      await plane.start()
    ).reconciled;
    expect(plane.api.requests.filter((request) => request.includes(THEIRS))).to.be.empty;
  });

  it('has no other tenant deleted with the Tenant', async () => {
    await forge('Tenant', { id: ACME });
    await plane.remove('umbrella.yaml');
    await plane.start();
    await isForgotten('Tenant', 'umbrella');
    expect(plane.api.held.has(`tenants/${ACME}`)).to.be.true;
  });
});
