import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { DEFAULT_SCALING, REACTOR_DEFAULTS } from '../../../src/domain/declarations.ts';
import type { ReactorWorkload } from '../../../src/domain/declarations.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const REACTOR = {
  ...{ name: 'Charge', code: 'module.exports = () => ({});', configuration: {} },
  ...{ scaling: DEFAULT_SCALING, ...REACTOR_DEFAULTS },
};
const EGRESS = { allow: ['api.example.com:443'] };

describe('the egress of a declared reactor', () => {
  let vault: TestVault;
  let tenantId: string;
  let id: string;

  before(async () => {
    vault = await startTestVault({ reactors: true });
  });
  after(() => vault.stop());
  beforeEach(async () => {
    tenantId = await vault.tenant();
    id = randomUUID();
  });

  const put = (egress?: object) =>
    vault.internal('PUT', `/tenants/${tenantId}/reactors/${id}`, { ...REACTOR, ...(egress && { egress }) });
  const workload = async (): Promise<ReactorWorkload> => {
    const { body } = await vault.internal('GET', '/reactors');
    return (body.data as ReactorWorkload[]).find(({ reactorId }) => reactorId === id)!;
  };

  it('reaches its instances in one form, whatever its spelling', async () => {
    expect((await put({ allow: ['API.Example.com.', '*.example.net:8443', 'bücher.example:443'] })).status).to.equal(
      200,
    );
    const { egress, revision } = await workload();
    expect(egress).to.deep.equal({
      allow: ['*.example.net:8443', 'api.example.com:443', 'xn--bcher-kva.example:443'],
    });
    const same = { allow: ['xn--bcher-kva.example', 'api.example.com', '*.example.net:8443', 'api.example.com:443'] };
    expect((await put(same)).body).to.deep.equal({ changed: false });
    expect((await workload()).revision).to.equal(revision);
  });

  it('makes another revision when it changes, and none where there is none', async () => {
    await put();
    const without = await workload();
    expect(without).not.to.have.property('egress');
    const revisions = [without.revision];
    for (const egress of [EGRESS, { allow: [] }, undefined]) {
      expect((await put(egress)).body).to.deep.equal({ changed: true });
      expect((await put(egress)).body).to.deep.equal({ changed: false });
      revisions.push((await workload()).revision);
    }
    expect(new Set(revisions)).to.have.property('size', 3);
    expect(revisions.at(-1)).to.equal(without.revision);
  });

  it('stays as it is when the reactor is changed through the public API, and is put back with the rest', async () => {
    await put(EGRESS);
    const { key } = await vault.application({ type: 'management', tenantId });
    const declared = await workload();
    const patch = { key, body: { configuration: { A: '1' } } };
    expect((await vault.request('PATCH', `/reactors/${id}`, patch)).status).to.equal(204);
    const patched = await workload();
    expect(patched).to.deep.include({ egress: EGRESS, configuration: { A: '1' } });
    expect(patched.revision).not.to.equal(declared.revision);
    const { name, code, configuration } = REACTOR;
    // A caller's own policy is no member of the public API's reactor: it is not taken over.
    const body = { name, code, configuration, egress: { allow: ['evil.example'] } };
    expect((await vault.request('PUT', `/reactors/${id}`, { key, body })).status).to.equal(200);
    // Equal to the declared one in all else, it has the declared revision again: the policy is a part of it.
    expect(await workload()).to.deep.equal(declared);
  });

  it('is refused with every entry that can never be reached, or is none', async () => {
    const { status, body } = await put({
      allow: ['api.example.com', '127.0.0.1:80', 'http://a.example', '0x7f.1', '*'],
    });
    expect(status).to.equal(400);
    expect(Object.keys(body.errors as object)).to.deep.equal([1, 2, 3, 4].map((index) => `egress.allow[${index}]`));
    for (const egress of [{}, { allow: 'a.example' }, { allow: [1] }, { allow: Array(65).fill('a.example') }]) {
      expect((await put(egress)).status, JSON.stringify(egress).slice(0, 40)).to.equal(400);
    }
    expect(await workload()).to.equal(undefined);
  });
});
