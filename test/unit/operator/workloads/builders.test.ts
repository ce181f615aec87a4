import { expect } from 'chai';
import { REACTOR_LIMITS } from '../../../../src/domain/reactors.ts';
import { buildCheckerDeployment, buildDeployment, seedOf } from '../../../../src/operator/workloads/deployment.ts';
import { buildDisruptionBudget } from '../../../../src/operator/workloads/disruption-budget.ts';
import { workloadName } from '../../../../src/operator/workloads/names.ts';
import type { PodTemplate } from '../../../../src/operator/workloads/pod.ts';
import { buildWorkloadSecret } from '../../../../src/operator/workloads/secrets.ts';
import { buildService } from '../../../../src/operator/workloads/service.ts';
import { SUPERVISOR_ENVIRONMENT } from '../../../../src/operator/workloads/supervisor-environment.ts';
import { unpackText } from '../../../../src/platform/packed-text.ts';
import { workloadWith } from '../../../support/operator/reactor-cluster.ts';

const SETTINGS = { image: 'registry.example/tokenkeep:1', imagePullSecrets: ['registry'], host: '0.0.0.0' };
const tenantId = '11111111-1111-4111-8111-111111111111';
const reactorId = '22222222-2222-4222-8222-222222222222';
const WORKLOAD = workloadWith({ tenantId, reactorId, timeoutSeconds: 20 });
/** What the API server takes of a Secret, all entries together. */
const MAX_SECRET_BYTES = 1024 * 1024;
const NAME = 'reactor-9d88fa0eee1d35ed';
const SELECTOR = {
  'app.kubernetes.io/name': 'tokenkeep-reactor',
  'tokenkeep.dev/tenant-id': tenantId,
  'tokenkeep.dev/reactor-id': reactorId,
};
const LABELS = { ...SELECTOR, 'app.kubernetes.io/managed-by': 'tokenkeep' };

describe('the objects of a reactor', () => {
  it('are named after tenant and reactor together', () => {
    expect(workloadName(WORKLOAD)).to.equal(NAME);
    expect(workloadName({ tenantId: reactorId, reactorId })).not.to.equal(NAME);
  });

  it('are a Deployment that says nothing of its scale', () => {
    const { metadata, ...deployment } = buildDeployment(WORKLOAD, SETTINGS);
    expect(metadata).to.deep.include({ name: NAME, labels: LABELS });
    expect(metadata.annotations!['tokenkeep.dev/rendered']).to.match(/^[0-9a-f]{16}$/);
    expect(deployment).to.deep.equal({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
      spec: {
        paused: false,
        selector: { matchLabels: SELECTOR },
        ...{ minReadySeconds: 2, progressDeadlineSeconds: 120, revisionHistoryLimit: 0 },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: '25%' } },
        template: {
          metadata: { labels: { ...LABELS, 'tokenkeep.dev/revision': WORKLOAD.revision } },
          spec: {
            ...{ automountServiceAccountToken: false, enableServiceLinks: false, shareProcessNamespace: true },
            imagePullSecrets: [{ name: 'registry' }],
            securityContext: {
              ...{ runAsNonRoot: true, runAsUser: 65_532, runAsGroup: 65_532, fsGroup: 65_532 },
              seccompProfile: { type: 'RuntimeDefault' },
            },
            terminationGracePeriodSeconds: 310,
            topologySpreadConstraints: [
              {
                ...{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
                labelSelector: { matchLabels: SELECTOR },
              },
            ],
            containers: [
              {
                ...{ name: 'reactor', image: 'registry.example/tokenkeep:1' },
                args: [
                  'reactor',
                  '--workload-file=/etc/tokenkeep/workload/workload.json',
                  '--tls-dir=/etc/tokenkeep/tls',
                  ...['--host=0.0.0.0', '--port=8443', '--health-port=8081'],
                ],
                env: Object.entries(SUPERVISOR_ENVIRONMENT).map(([key, value]) => ({ name: key, value })),
                ports: [
                  { name: 'https', containerPort: 8443, protocol: 'TCP' },
                  { name: 'health', containerPort: 8081, protocol: 'TCP' },
                ],
                resources: { requests: { cpu: '50m', memory: '352Mi' }, limits: { memory: '352Mi' } },
                securityContext: {
                  ...{ allowPrivilegeEscalation: false, privileged: false, readOnlyRootFilesystem: true },
                  capabilities: { drop: ['ALL'] },
                },
                startupProbe: {
                  httpGet: { path: '/readyz', port: 'health', scheme: 'HTTP' },
                  ...{ timeoutSeconds: 3, periodSeconds: 1, failureThreshold: 60 },
                },
                readinessProbe: {
                  httpGet: { path: '/readyz', port: 'health', scheme: 'HTTP' },
                  ...{ timeoutSeconds: 3, periodSeconds: 2, failureThreshold: 2 },
                },
                livenessProbe: {
                  httpGet: { path: '/healthz', port: 'health', scheme: 'HTTP' },
                  ...{ timeoutSeconds: 3, periodSeconds: 10, failureThreshold: 3 },
                },
                ...{ terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' },
                volumeMounts: [
                  { name: 'tls', mountPath: '/etc/tokenkeep/tls', readOnly: true },
                  { name: 'workload', mountPath: '/etc/tokenkeep/workload', readOnly: true },
                ],
              },
            ],
            volumes: [
              { name: 'tls', secret: { secretName: `${NAME}-tls`, defaultMode: 0o440 } },
              { name: 'workload', secret: { secretName: `${NAME}-${WORKLOAD.revision}`, defaultMode: 0o440 } },
            ],
          },
        },
      },
    });
  });

  it('listen on the address that their pods have', () => {
    const six = { ...SETTINGS, host: '::' };
    for (const deployment of [buildDeployment(WORKLOAD, six), buildCheckerDeployment(six)]) {
      const { template } = deployment['spec'] as { template: PodTemplate };
      expect(template.spec.containers[0]!.args.filter((arg) => arg.startsWith('--host='))).to.deep.equal(['--host=::']);
    }
  });

  it('have another digest where anything differs, and the same where nothing does', () => {
    const digestOf = (change: object = {}) =>
      buildDeployment({ ...WORKLOAD, ...change }, SETTINGS).metadata.annotations!['tokenkeep.dev/rendered'];
    expect(digestOf()).to.equal(digestOf({ scaling: { ...WORKLOAD.scaling, maxReplicas: 3 } }));
    const digests = [{}, { revision: 'ffffffffffffffff' }, { memoryBytes: 2 ** 30 }, { reactorId: tenantId }].map(
      digestOf,
    );
    expect(new Set(digests).size).to.equal(4);
  });

  it('are made paused, at their first scale, and with nothing that a later change could leave behind', () => {
    expect(seedOf(buildDeployment(WORKLOAD, SETTINGS), 3)).to.deep.equal({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
      metadata: { name: NAME, labels: LABELS },
      spec: {
        ...{ paused: true, replicas: 3, selector: { matchLabels: SELECTOR } },
        template: {
          metadata: { labels: SELECTOR },
          spec: { containers: [{ name: 'reactor', image: 'registry.example/tokenkeep:1' }] },
        },
      },
    });
  });

  it('are a Secret that Kubernetes takes also where code and configuration are as large as they may be', () => {
    // Characters of four bytes, as hard to compress as they can be.
    let state = 1;
    const text = (length: number) =>
      Array.from({ length }, () => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return String.fromCodePoint(0x10000 + (state >>> 12));
      }).join('');
    const { codeLength, configurationEntries, configurationValueLength, nameLength } = REACTOR_LIMITS;
    const names = Array.from({ length: configurationEntries }, (_, index) => `N${index}`);
    const largest = {
      ...{ ...WORKLOAD, name: text(nameLength), code: text(codeLength) },
      configuration: Object.fromEntries(names.map((name) => [name, text(configurationValueLength)])),
    };
    const data = (buildWorkloadSecret(largest)['data'] as Record<string, string>)['workload.json']!;
    const bytes = Buffer.from(data, 'base64');
    expect(Buffer.byteLength(JSON.stringify(largest))).to.be.above(MAX_SECRET_BYTES);
    expect(bytes.length).to.be.below(MAX_SECRET_BYTES);
    expect(JSON.parse(unpackText(bytes))).to.deep.equal(largest);
  });

  it('are a Secret of one revision that cannot be changed, and whose content shows nowhere else', () => {
    const secret = buildWorkloadSecret(WORKLOAD);
    expect(secret).to.deep.equal({
      ...{ apiVersion: 'v1', kind: 'Secret', type: 'Opaque', immutable: true },
      metadata: {
        name: `${NAME}-${WORKLOAD.revision}`,
        labels: { ...LABELS, 'tokenkeep.dev/revision': WORKLOAD.revision },
      },
      data: { 'workload.json': Buffer.from(JSON.stringify(WORKLOAD)).toString('base64') },
    });
    const others = JSON.stringify([buildDeployment(WORKLOAD, SETTINGS), buildService(WORKLOAD)]);
    expect(others).not.to.include('module.exports').and.not.include('k-1');
    const changed = buildDeployment({ ...WORKLOAD, configuration: { KEY: 'k-2' } }, SETTINGS);
    expect(JSON.stringify([changed, buildService(WORKLOAD)])).to.equal(others);
  });

  it('are a Service without an address of its own', () => {
    const { spec, metadata } = buildService(WORKLOAD);
    expect(metadata.name).to.equal(NAME);
    expect(spec).to.deep.equal({
      ...{ clusterIP: 'None', selector: SELECTOR },
      ports: [{ name: 'https', port: 8443, protocol: 'TCP', targetPort: 'https' }],
    });
  });

  it('are a budget of disruptions where at least two instances run at all times', () => {
    const least = (minReplicas: number) => ({ ...WORKLOAD, scaling: { ...WORKLOAD.scaling, minReplicas } });
    expect(buildDisruptionBudget(least(0))).to.equal(undefined);
    expect(buildDisruptionBudget(least(1))).to.equal(undefined);
    expect(buildDisruptionBudget(least(2))!['spec']).to.deep.equal({
      ...{ maxUnavailable: 1, selector: { matchLabels: SELECTOR } },
    });
  });

  it('have a checker beside them, which mounts no code', () => {
    const { metadata, spec } = buildCheckerDeployment({ ...SETTINGS, imagePullSecrets: [] });
    expect(metadata.name).to.equal('reactor-checker');
    const { template } = spec as { template: { spec: { containers: { args: string[] }[]; volumes: object[] } } };
    expect(template.spec).not.to.have.property('imagePullSecrets');
    expect(template.spec.containers[0]!.args.slice(0, 3)).to.deep.equal([
      'reactor',
      '--check',
      '--tls-dir=/etc/tokenkeep/tls',
    ]);
    expect(template.spec.volumes).to.deep.equal([
      { name: 'tls', secret: { secretName: 'reactor-checker-tls', defaultMode: 0o440 } },
    ]);
  });
});
