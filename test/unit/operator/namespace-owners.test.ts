import { expect } from 'chai';
import type { NamespaceChoice, TenantResource } from '../../../src/operator/kinds/tenant.ts';
import { createNamespaceOwners } from '../../../src/operator/namespace-owners.ts';

const named = (...matchNames: string[]): NamespaceChoice => ({ matchNames });
const labelled = (value: string): NamespaceChoice => ({ selector: { matchLabels: { tenant: value } } });
const everywhereElse: NamespaceChoice = {
  selector: { matchExpressions: [{ key: 'tenant', operator: 'DoesNotExist' }] },
};

/** Tenants from the eldest on. */
function tenantsOf(...choices: [name: string, namespaces: NamespaceChoice][]): TenantResource[] {
  return choices.map(([name, namespaces], age) => {
    const creationTimestamp = new Date(Date.UTC(2026, 0, 1 + age)).toISOString();
    const metadata = { namespace: '', name, labels: {}, annotations: {}, generation: 1, creationTimestamp };
    return { kind: 'Tenant', metadata, spec: { namespaces } } as unknown as TenantResource;
  });
}

function ownersOf(tenants: TenantResource[], areImplicit = false) {
  const owners = createNamespaceOwners(() => tenants, areImplicit);
  const nameOf = (namespace: string) => {
    const owner = owners.ownerOf(namespace);
    return owner === 'unknown' ? owner : owner?.metadata.name;
  };
  const rivalOf = (name: string) => owners.findRival(tenants.find(({ metadata }) => metadata.name === name)!);
  return { owners, nameOf, rivalOf };
}

describe('which tenant a namespace belongs to', () => {
  it('is the one whose selector its labels meet, and follows them', () => {
    const { owners, nameOf } = ownersOf(tenantsOf(['acme', labelled('acme')], ['other', labelled('other')]));
    expect(owners.namespaceChanged('a', { tenant: 'acme' })).to.deep.equal({ moved: true, tenants: ['acme'] });
    expect(nameOf('a')).to.equal('acme');
    expect(owners.namespaceChanged('a', { tenant: 'acme', more: 'x' })).to.deep.equal({ moved: false, tenants: [] });
    expect(owners.namespaceChanged('a', { tenant: 'other' })).to.deep.equal({
      moved: true,
      tenants: ['acme', 'other'],
    });
    expect(nameOf('a')).to.equal('other');
    expect(owners.namespaceChanged('a', {})).to.deep.equal({ moved: true, tenants: ['other'] });
    expect(nameOf('a')).to.be.undefined;
  });

  it('is the one that names it, even where an elder one selects it, and that is no conflict', () => {
    const { owners, nameOf, rivalOf } = ownersOf(tenantsOf(['selecting', labelled('x')], ['naming', named('a')]));
    owners.namespaceChanged('a', { tenant: 'x' });
    owners.namespaceChanged('b', { tenant: 'x' });
    expect([nameOf('a'), nameOf('b')]).to.deep.equal(['naming', 'selecting']);
    expect([rivalOf('selecting'), rivalOf('naming')]).to.deep.equal([undefined, undefined]);
  });

  it('is the elder of two that ask in the same way, and the younger has a rival', () => {
    const byName = ownersOf(tenantsOf(['elder', named('a')], ['younger', named('b', 'a')]));
    expect(byName.nameOf('a')).to.equal('elder');
    expect([byName.rivalOf('elder'), byName.rivalOf('younger')]).to.deep.equal([
      undefined,
      { namespace: 'a', name: 'elder' },
    ]);

    const byLabel = ownersOf(tenantsOf(['elder', labelled('x')], ['younger', labelled('x')]));
    expect(byLabel.rivalOf('younger')).to.be.undefined;
    byLabel.owners.namespaceChanged('a', { tenant: 'x' });
    expect(byLabel.nameOf('a')).to.equal('elder');
    expect(byLabel.rivalOf('younger')).to.deep.equal({ namespace: 'a', name: 'elder' });
    byLabel.owners.namespaceChanged('a', undefined);
    expect(byLabel.rivalOf('younger')).to.be.undefined;
  });

  it('cannot be told by a selector before its labels are known: a label that is missing might still come', () => {
    const tenants = tenantsOf(['rest', everywhereElse], ['naming', named('b')]);
    const { owners, nameOf } = ownersOf(tenants);
    expect([nameOf('a'), nameOf('b')]).to.deep.equal(['unknown', 'naming']);
    expect(owners.namespaceChanged('a', {})).to.deep.equal({ moved: true, tenants: ['rest'] });
    expect(nameOf('a')).to.equal('rest');
    expect(ownersOf(tenantsOf(['naming', named('b')])).nameOf('a'), 'without selectors').to.be.undefined;
  });

  it('needs no declaration of the namespace where namespaces are implicit: it has the label of its name', () => {
    const byName: NamespaceChoice = { selector: { matchLabels: { 'kubernetes.io/metadata.name': 'a' } } };
    const { nameOf } = ownersOf(tenantsOf(['first', byName], ['rest', everywhereElse]), true);
    expect([nameOf('a'), nameOf('b')]).to.deep.equal(['first', 'rest']);
  });

  it('changes with the tenants', () => {
    const tenants = tenantsOf(['acme', labelled('acme')]);
    const { owners, nameOf } = ownersOf(tenants);
    owners.namespaceChanged('a', { tenant: 'acme' });
    tenants.pop();
    owners.tenantsChanged();
    expect(nameOf('a')).to.be.undefined;
  });

  it('is looked up once: among 5,000 namespaces and 500 tenants, the list of tenants is read once', () => {
    const tenants = tenantsOf(
      ...Array.from({ length: 500 }, (_, at): [string, NamespaceChoice] => [`t${at}`, labelled(`t${at}`)]),
    );
    let readings = 0;
    const owners = createNamespaceOwners(() => {
      readings += 1;
      return tenants;
    }, false);
    for (let at = 0; at < 5_000; at += 1) owners.namespaceChanged(`n${at}`, { tenant: `t${at % 500}` });
    for (let at = 0; at < 5_000; at += 1) expect(owners.ownerOf(`n${at}`)).to.equal(tenants[at % 500]);
    expect(readings).to.equal(1);
  });
});
