import { expect } from 'chai';
import fc from 'fast-check';
import { secretNameOf } from '../../../src/operator/application-keys.ts';
import { referrersOf } from '../../../src/operator/dependents.ts';
import type { AccessRuleResource } from '../../../src/operator/kinds/access-rule.ts';
import type { ApplicationResource } from '../../../src/operator/kinds/application.ts';
import type { ReactorResource } from '../../../src/operator/kinds/reactor.ts';
import { refOf } from '../../../src/operator/kinds/resources.ts';
import type { AnyResource } from '../../../src/operator/kinds/resources.ts';
import { refKey } from '../../../src/operator/object-ref.ts';
import { applicationsFor, rulesFor, selects } from '../../../src/operator/rule-resolution.ts';
import { createResourceStore } from '../../../src/operator/store.ts';

const NAMESPACES = ['red', 'blue'];
const NAMES = ['a', 'b', 'c'];
const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);

const metadata = fc.record({
  namespace: oneOf(...NAMESPACES),
  name: oneOf(...NAMES),
  labels: fc.dictionary(oneOf('team', 'tier'), oneOf('x', 'y'), { maxKeys: 2 }),
  annotations: fc.constant({}),
  generation: fc.constant(1),
  creationTimestamp: fc.constant('2026-01-01T00:00:00Z'),
});
const secretName = oneOf('a-api-key', 'shared', 'other');
const application = fc
  .record({ metadata, key: oneOf({}, { secretName: 'shared' }, { fromSecret: { name: 'other', key: 'k' } }) })
  .map(({ metadata, key }) => ({ kind: 'Application', metadata, spec: { key } }) as ApplicationResource);
const rule = fc
  .record({
    metadata,
    target: fc.oneof(
      fc.record({ applicationRef: fc.record({ name: oneOf(...NAMES) }) }),
      fc.record({ applicationSelector: metadata.map(({ labels }) => ({ matchLabels: labels })) }),
    ),
  })
  .map(({ metadata, target }) => ({ kind: 'AccessRule', metadata, spec: target }) as AccessRuleResource);
const reactor = fc
  .record({
    metadata,
    codeFrom: oneOf(undefined, { configMap: { name: 'code', key: 'k' } }, { configMap: { name: 'shared', key: 'k' } }),
    configurationFrom: fc.array(
      secretName.map((name) => ({ secret: { name } })),
      { maxLength: 2 },
    ),
    isDeleting: fc.boolean(),
  })
  .map(({ metadata, isDeleting, ...spec }) => {
    const ending = isDeleting ? { deletionTimestamp: '2026-01-02T00:00:00Z' } : {};
    return { kind: 'Reactor', metadata: { ...metadata, ...ending }, spec } as unknown as ReactorResource;
  });
const change = fc.record({
  resource: fc.oneof(application, rule, reactor),
  isRemoval: fc.boolean(),
});

const keysOf = (resources: Iterable<AnyResource>): string[] => [...resources].map((one) => refKey(refOf(one))).sort();

function version(resourceVersion: string | undefined, status?: object, uid = 'u'): ApplicationResource {
  const meta = { namespace: 'red', name: 'a', labels: {}, annotations: {}, generation: 1, creationTimestamp: '' };
  const own = { ...meta, uid, resourceVersion };
  return { kind: 'Application', metadata: own, spec: { key: {} }, status } as unknown as ApplicationResource;
}

describe('the resource store', () => {
  it('finds by its lookups what looking through everything finds, whatever came, changed and went', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const store = createResourceStore();
        for (const { resource, isRemoval } of changes) {
          if (isRemoval) store.remove(refOf(resource));
          else store.put(resource);
        }
        const applications = store.list('Application');
        const rules = store.list('AccessRule');
        const isMeant = (one: AccessRuleResource, other: ApplicationResource) =>
          one.metadata.namespace === other.metadata.namespace && selects(one, other);
        for (const one of applications) {
          expect(keysOf(rulesFor(store, one))).to.deep.equal(keysOf(rules.filter((other) => isMeant(other, one))));
        }
        for (const one of rules) {
          const expected = applications.filter((other) => isMeant(one, other));
          expect(keysOf(applicationsFor(store, one))).to.deep.equal(keysOf(expected));
        }
        for (const namespace of NAMESPACES) {
          for (const name of ['a-api-key', 'shared', 'other', 'code']) {
            const live = store.list('Reactor', namespace).filter((one) => !one.metadata.deletionTimestamp);
            const byCode = live.filter(({ spec }) => spec.codeFrom?.configMap.name === name);
            const byConfiguration = live.filter(({ spec }) =>
              spec.configurationFrom.some(({ secret }) => secret.name === name),
            );
            const byKey = store
              .list('Application', namespace)
              .filter((one) => secretNameOf(one) === name || one.spec.key.fromSecret?.name === name);
            expect(referrersOf(store, { kind: 'ConfigMap', namespace, name }).sort()).to.deep.equal(keysOf(byCode));
            expect(referrersOf(store, { kind: 'Secret', namespace, name }).sort()).to.deep.equal(
              keysOf([...byConfiguration, ...byKey]),
            );
          }
        }
      }),
    );
  });

  it('takes no version that is older than its own, by number', () => {
    const store = createResourceStore();
    expect(store.put(version('99'))).to.deep.equal({ taken: true, before: undefined });
    expect(store.put(version('100'))).to.deep.equal({ taken: true, before: version('99') });
    expect(store.put(version('99'))).to.deep.equal({ taken: false, before: version('100') });
    expect(store.get('Application', 'red', 'a')).to.deep.equal(version('100'));
  });

  it('takes every version of a source that counts none', () => {
    const store = createResourceStore();
    store.put(version(undefined));
    expect(store.put(version(undefined)).taken).to.equal(true);
  });

  it('takes another object of the same name once the first one is gone', () => {
    const store = createResourceStore();
    store.put(version('5'));
    store.remove({ kind: 'Application', namespace: 'red', name: 'a' });
    expect(store.put(version('7', undefined, 'another'))).to.deep.equal({ taken: true, before: undefined });
  });

  it('finds a resource at the place that its status tells, and there no longer once it has left', () => {
    const store = createResourceStore();
    store.put(version('1', { id: 'i', tenantId: 't', conditions: [] }));
    const namesAt = (tenantId: string, id: string) =>
      [...store.listDeclared('Application', tenantId, id)].map(({ metadata }) => metadata.name);
    expect(namesAt('t', 'i')).to.deep.equal(['a']);
    store.put(version('2', { id: 'j', tenantId: 't', conditions: [] }));
    expect(namesAt('t', 'i')).to.be.empty;
    expect(namesAt('other', 'j')).to.be.empty;
    store.remove({ kind: 'Application', namespace: 'red', name: 'a' });
    expect(namesAt('t', 'j')).to.be.empty;
  });
});
