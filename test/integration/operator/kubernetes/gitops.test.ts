import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { isWrite, readAuditLog, userOf } from '../../../support/kubernetes/audit-log.ts';
import { requireKubernetes, type KubernetesCluster } from '../../../support/kubernetes/control-plane.ts';
import { startChartOperator, type ChartOperator } from '../../../support/operator/chart-operator.ts';
import { createUser, declared, type Declared, type User } from '../../../support/operator/declared-life.ts';

const TIMEOUT_MS = 600_000;
const OPERATOR = 'tokenkeep-system/tokenkeep-operator';
const ARGO_SETTINGS = new URL('../../../../config/argocd/argocd-cm-patch.yaml', import.meta.url);

/** As kubectl applies; Flux and Argo CD do the one or the other. */
const MODES: Record<string, readonly string[]> = { 'client-side': [], 'server-side': ['--server-side'] };

const RULE = { priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] };

interface Managed extends Declared {
  metadata: Declared['metadata'] & {
    finalizers?: string[];
    managedFields?: { manager: string; fieldsV1: Record<string, object> }[];
  };
}

/** What git holds: an application with rules of its own, one without anything, a rule and a reactor. */
function files(prefix: string, application: object = {}): string {
  const documents = [
    declared('Application', `${prefix}-shop`, {
      spec: { type: 'private', displayName: 'The shop', permissions: ['token:create'], rules: [RULE], ...application },
    }),
    declared('Application', `${prefix}-bare`, { spec: { type: 'management', permissions: ['log:read'] } }),
    declared('AccessRule', `${prefix}-cards`, {
      spec: { applicationRef: { name: `${prefix}-shop` }, ...RULE, priority: 2 },
    }),
    declared('Reactor', `${prefix}-score`, { spec: { code: 'module.exports = async () => ({ raw: 1 });' } }),
  ];
  return documents.map((document) => JSON.stringify(document)).join('\n---\n');
}

describe('declarations that come from git', function () {
  this.timeout(TIMEOUT_MS);
  let cluster: KubernetesCluster;
  let operator: ChartOperator;
  let user: User;

  before(async function () {
    cluster = await requireKubernetes(this);
    user = createUser(cluster, await cluster.namespace());
    operator = await startChartOperator(cluster, { serviceAccount: OPERATOR, namespaces: [user.namespace] });
  });
  after(() => operator?.stop());

  function apply(input: string, flags: readonly string[]): Promise<string> {
    return cluster.demand(['apply', ...flags, '-n', user.namespace, '-f', '-'], { input });
  }

  async function settled(prefix: string): Promise<void> {
    await user.waitFor('application', `${prefix}-shop`, 'Ready');
    await user.waitFor('application', `${prefix}-bare`, 'Ready');
    await user.waitFor('accessrule', `${prefix}-cards`, 'Ready');
    await user.waitFor('reactor', `${prefix}-score`, 'Reconciling', 'NoRuntime');
  }

  async function state(prefix: string): Promise<Managed[]> {
    const objects = ['application', 'application', 'accessrule', 'reactor'];
    const names = ['shop', 'bare', 'cards', 'score'];
    return Promise.all(objects.map((kind, index) => user.get<Managed>(kind, `${prefix}-${names[index]}`)));
  }

  /** Resolves once the operator has worked on all that it was told of before. */
  async function settledAfterAll(name: string): Promise<void> {
    await user.apply(declared('Application', name, { spec: { type: 'management', permissions: ['log:read'] } }));
    await user.waitFor('application', name, 'Ready');
  }

  for (const [mode, flags] of Object.entries(MODES)) {
    describe(`applied ${mode}`, () => {
      const prefix = mode;

      before(async () => {
        await apply(files(prefix), flags);
        await settled(prefix);
      });

      it('are left as they are, by everybody, where they are applied again unchanged', async () => {
        await settledAfterAll(`${prefix}-first`);
        const before = await state(prefix);
        const seen = (await readAuditLog(cluster.auditLog)).length;
        await apply(files(prefix), flags);
        await settledAfterAll(`${prefix}-second`);
        expect(await state(prefix)).to.deep.equal(before);
        const later = (await readAuditLog(cluster.auditLog)).slice(seen);
        const names = before.map(({ metadata }) => metadata.name);
        const written = later.filter(
          (request) => isWrite(request) && request.user === userOf(OPERATOR) && names.includes(request.name ?? ''),
        );
        expect(written).to.deep.equal([]);
      });

      it('do not differ from the cluster once the API server has filled in what they leave out', async () => {
        const input = files(prefix);
        const { code, stdout } = await cluster.kubectl(['diff', ...flags, '-n', user.namespace, '-f', '-'], { input });
        expect(code, stdout).to.equal(0);
      });

      it('differ where they do', async () => {
        const input = files(prefix, { displayName: 'Another shop' });
        const { code, stdout } = await cluster.kubectl(['diff', ...flags, '-n', user.namespace, '-f', '-'], { input });
        expect(code).to.equal(1);
        expect(stdout).to.include('+  displayName: Another shop');
      });

      it('lose a field that git loses, or have its default again', async () => {
        await apply(files(prefix, { displayName: undefined, permissions: undefined }), flags);
        const { spec } = await user.waitFor('application', `${prefix}-shop`, 'Ready');
        expect(spec).not.to.have.property('displayName');
        expect(spec['permissions']).to.deep.equal([]);
      });

      it('belong to whoever applied them: the operator owns their status and its finalizer alone', async () => {
        for (const { metadata } of await withManagers(prefix)) {
          const managers = (metadata.managedFields ?? []).filter(({ manager }) => manager.startsWith('tokenkeep-'));
          const owned = managers.flatMap(({ fieldsV1 }) =>
            Object.entries(fieldsV1).map(([field, members]) =>
              field === 'f:status' ? field : `${field} ${Object.keys(members).join(', ')}`,
            ),
          );
          const finalizer = ['f:metadata f:finalizers'].slice(metadata.finalizers === undefined ? 1 : 0);
          expect(owned, metadata.name).to.have.members(['f:status', ...finalizer]);
        }
      });
    });
  }

  /** With what kubectl leaves out unless asked. */
  async function withManagers(prefix: string): Promise<Managed[]> {
    const kinds = 'applications,accessrules,reactors';
    const get = ['get', kinds, '-n', user.namespace, '-o', 'json', '--show-managed-fields'];
    const { items } = JSON.parse(await cluster.demand(get)) as { items: Managed[] };
    return items.filter(({ metadata }) => metadata.name.startsWith(`${prefix}-`));
  }

  it('may change from client-side to server-side apply and back', async () => {
    const prefix = 'changing';
    await apply(files(prefix), []);
    await settled(prefix);
    await apply(files(prefix, { displayName: 'The shop again' }), ['--server-side']);
    expect((await user.waitFor('application', 'changing-shop', 'Ready')).spec).to.include({
      displayName: 'The shop again',
    });
    await apply(files(prefix, { displayName: undefined }), ['--server-side']);
    expect((await user.waitFor('application', 'changing-shop', 'Ready')).spec).not.to.have.property('displayName');
    await apply(files(prefix, { displayName: 'The old shop' }), []);
    expect((await user.waitFor('application', 'changing-shop', 'Ready')).spec).to.include({
      displayName: 'The old shop',
    });
  });

  it('may leave the settings of an Argo CD as they are but for our health checks', async () => {
    const theirs = { 'resource.customizations.health.example.com_Thing': 'return { status = "Healthy" }' };
    await user.apply(declared('ConfigMap', 'argocd-cm', { data: theirs }));
    const patch = ['patch', 'configmap', 'argocd-cm', '-n', user.namespace, '--patch-file', ARGO_SETTINGS.pathname];
    await cluster.demand(patch);
    const { data } = await user.get<{ data: Record<string, string> }>('configmap', 'argocd-cm');
    expect(data).to.include(theirs);
    const script = data['resource.customizations.health.tokenkeep.dev_Application'];
    const file = new URL('./resource_customizations/tokenkeep.dev/Application/health.lua', ARGO_SETTINGS);
    expect(script).to.equal(await readFile(file, 'utf8'));
  });
});
