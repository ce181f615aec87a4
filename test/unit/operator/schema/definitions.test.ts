import { expect } from 'chai';
import { APPLICATION_TYPES } from '../../../../src/domain/applications.ts';
import { SCALING_ENGINES } from '../../../../src/domain/declarations.ts';
import { PERMISSION_NAMES } from '../../../../src/domain/permissions.ts';
import {
  CUSTOM_COUNTERS,
  LIMITED_RESOURCES,
  RATE_LIMIT_ACTIONS,
  RATE_LIMIT_PLANS,
} from '../../../../src/domain/rate-limit-quotas.ts';
import type { JsonObject } from '../../../../src/domain/json.ts';
import { createAdmission } from '../../../../src/operator/schema/admission.ts';
import { loadDefinitions } from '../../../../src/operator/schema/definitions.ts';
import type { StructuralSchema } from '../../../../src/operator/schema/structural-schema.ts';
import { renderPath } from '../../../../src/operator/schema/violation.ts';
import { RESOURCE_KINDS } from '../../../../src/operator/sources/types.ts';
import type { ResourceKind } from '../../../../src/operator/sources/types.ts';

const definitions = await loadDefinitions();
const definitionOf = (kind: ResourceKind) => definitions.find((definition) => definition.kind === kind)!;

function admit(kind: ResourceKind, spec: object) {
  const definition = definitionOf(kind);
  const document = { apiVersion: definition.apiVersion, kind, metadata: { name: 'a' }, spec } as JsonObject;
  return createAdmission(definition).admit(document);
}
const faults = (kind: ResourceKind, spec: object) =>
  (admit(kind, spec).violations ?? []).map(({ path, message }) => `${renderPath(path)} ${message}`);

describe('the CRDs', () => {
  it('define every kind that is reconciled', () => {
    expect(definitions.map(({ kind }) => kind)).to.have.members([...RESOURCE_KINDS]);
  });

  it('describe every field in sentences that say more than its name', () => {
    const poor: string[] = [];
    const visit = ({ description = '', ...schema }: StructuralSchema, path: string) => {
      const name = path.split('.').at(-1)!.toLowerCase();
      const words = description.toLowerCase().replaceAll(/[^a-z]/g, '');
      if (!/^[A-Z`].{10,}\.$/.test(description) || words === name) poor.push(path);
      for (const [member, child] of Object.entries(schema.properties ?? {})) visit(child, `${path}.${member}`);
      for (const child of [schema.items, schema.additionalProperties]) if (child) visit(child, `${path}[]`);
    };
    for (const { kind, schema } of definitions) {
      // What Kubernetes itself says of metadata cannot be replaced.
      const { metadata: _metadata, ...properties } = schema.properties!;
      visit({ ...schema, properties }, kind);
    }
    expect(poor).to.be.empty;
  });

  it('tell the bounds and the default of every number', () => {
    const silent: string[] = [];
    const visit = (schema: StructuralSchema, path: string) => {
      const { type, minimum, maximum, default: preset, description = '' } = schema;
      const numbers = type === 'integer' ? [minimum, maximum, preset as number | undefined] : [];
      if (numbers.some((number) => number !== undefined && !description.includes(String(number)))) silent.push(path);
      for (const [member, child] of Object.entries(schema.properties ?? {})) visit(child, `${path}.${member}`);
      for (const child of [schema.items, schema.additionalProperties]) if (child) visit(child, `${path}[]`);
    };
    for (const { kind, schema } of definitions) visit(schema.properties!['spec']!, kind);
    expect(silent).to.be.empty;
  });

  it('list every permission of the domain', () => {
    const spec = definitionOf('Application').schema.properties?.['spec']?.properties;
    expect(spec?.['permissions']?.items?.enum).to.deep.equal(PERMISSION_NAMES);
    const onTokens = PERMISSION_NAMES.filter((name) => name.startsWith('token:'));
    expect(spec?.['rules']?.items?.properties?.['permissions']?.items?.enum).to.deep.equal(onTokens);
  });

  it('fill in defaults, of parents first', () => {
    expect(admit('Tenant', { quotas: { tokenize: 7 } }).spec).to.deep.equal({
      type: 'production',
      quotas: { tokenize: 7, detokenize: 5, logRetention: '24h', cvcRetention: '1h', rateLimit: 'Default' },
      settings: { deduplicateTokens: false, fingerprintTokens: true },
      deletionPolicy: 'Retain',
    });
    expect(admit('Reactor', { code: 'x' }).spec).to.deep.include({
      timeoutSeconds: 30,
      scaling: { engine: 'Builtin', minReplicas: 1, maxReplicas: 10, concurrency: 1, idleSeconds: 300 },
      resources: { limits: { memory: '256Mi' } },
    });
  });

  it('refuse unknown fields, wrong types and values out of bounds, all at once and with their paths', () => {
    const rule = { priority: 0, container: 'pci', transform: 'show', permissions: ['token:read'], extra: 1 };
    expect(faults('Application', { type: 'private', rules: [rule], key: { rotateAfter: '30d' } })).to.have.members([
      'spec.rules[0].extra is not a known field',
      'spec.rules[0].priority must be >= 1',
      'spec.rules[0].container must match pattern "^/([a-zA-Z0-9_-]+/)*$"',
      'spec.rules[0].transform must be one of redact, mask, reveal',
      'spec.key.rotateAfter must match pattern "^[1-9][0-9]{0,5}[smh]$"',
    ]);
  });

  it('name the resources, counters and plans of rate limits as the domain does', () => {
    const spec = definitionOf('Tenant').schema.properties?.['spec']?.properties;
    const row = spec?.['rateLimits']?.items?.properties;
    expect(spec?.['quotas']?.properties?.['rateLimit']?.enum).to.deep.equal(RATE_LIMIT_PLANS);
    expect(row?.['resource']?.enum).to.deep.equal(LIMITED_RESOURCES);
    expect(row?.['applicationType']?.enum).to.deep.equal(APPLICATION_TYPES);
    expect(row?.['counter']?.enum).to.deep.equal(CUSTOM_COUNTERS);
    expect(row?.['action']?.enum).to.deep.equal(RATE_LIMIT_ACTIONS);
  });

  it('refuse rate limits of one name twice, and rates that are none', () => {
    const row = { name: 'all', counter: 'Key', requests: 1, windowSeconds: 1 };
    const custom = (...rateLimits: object[]) => faults('Tenant', { quotas: { rateLimit: 'Custom' }, rateLimits });
    expect(custom(row)).to.be.empty;
    expect(custom(row, row)).to.have.length(1);
    expect(custom({ ...row, requests: 0, windowSeconds: 0 })).to.have.length(2);
    expect(custom()).to.have.length(1);
  });

  it('know the engines of scaling as the domain does, and refuse any other', () => {
    const scaling = definitionOf('Reactor').schema.properties?.['spec']?.properties?.['scaling'];
    expect(scaling?.properties?.['engine']?.enum).to.deep.equal(SCALING_ENGINES);
    expect(faults('Reactor', { code: 'x', scaling: { engine: 'Knative' } })).to.have.members([
      'spec.scaling.engine must be one of Builtin, KEDA, External',
    ]);
  });

  it('take a policy of egress that names hosts, each once, and refuse one that says nothing', () => {
    const egress = (policy: object) => faults('Reactor', { code: 'x', egress: policy });
    expect(egress({ allow: [] })).to.be.empty;
    expect(egress({ allow: ['api.example.com', '*.example.net:8443', '10.1.2.3:80', '[fd00::1]:443'] })).to.be.empty;
    expect(egress({})).to.have.length(1);
    expect(egress({ allow: ['a.example', 'a.example'] })).to.have.length(1);
    expect(egress({ allow: Array.from({ length: 65 }, (_, index) => `h${index}.example`) })).to.have.length(1);
    for (const entry of [
      'http://a.example',
      'a.example/path',
      'user@a.example',
      '*',
      'a.*.example',
      'a.example:0',
      'a:b',
    ])
      expect(egress({ allow: [entry] }), entry).to.have.length(1);
  });

  it('refuse repeated entries of sets and of lists with keys', () => {
    const rule = { priority: 1, container: '/', transform: 'mask', permissions: ['token:read', 'token:read'] };
    expect(
      faults('Application', { type: 'private', rules: [rule, { ...rule, permissions: ['token:use'] }] }),
    ).to.have.members([
      'spec.rules[1] must not repeat an entry',
      'spec.rules[0].permissions[1] must not repeat an entry',
    ]);
  });

  it('refuse memory below the least that an instance runs in', () => {
    const memory = (limit: string) => faults('Reactor', { code: 'x', resources: { limits: { memory: limit } } });
    for (const limit of ['64Mi', '100Mi', '99999Mi', '1Gi']) expect(memory(limit), limit).to.be.empty;
    for (const limit of ['63Mi', '8Mi', '0Gi', '256', '256M']) expect(memory(limit), limit).to.have.length(1);
  });

  it('drop the status of a document, and members named like those of every object are no way in', () => {
    const definition = definitionOf('Tenant');
    const document = { apiVersion: definition.apiVersion, kind: 'Tenant', metadata: { name: 'a' }, spec: {} };
    const { admit: admitTenant } = createAdmission(definition);
    expect(admitTenant({ ...document, status: { id: 'forged' } })).not.to.have.property('violations');
    const hostile = JSON.parse('{"__proto__": {"type": "test"}, "constructor": 1}') as object;
    expect(faults('Tenant', hostile)).to.have.members([
      'spec.__proto__ is not a known field',
      'spec.constructor is not a known field',
    ]);
  });
});
