import { createPrivateKey, createSecretKey, X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { systemTimers } from '../../../../src/operator/timers.ts';
import type { Timers } from '../../../../src/operator/timers.ts';
import { AUTHORITY_LIFETIME_MS, CERTIFICATE_LIFETIME_MS } from '../../../../src/operator/workloads/certificates.ts';
import { tlsSecretName, workloadName } from '../../../../src/operator/workloads/names.ts';
import { eventually } from '../../../support/eventually.ts';
import { workloadWith } from '../../../support/operator/reactor-cluster.ts';
import type { ReactorCluster } from '../../../support/operator/reactor-cluster.ts';
import { useReactorCluster } from '../../../support/operator/use-reactor-cluster.ts';

const WAIT = { deadlineMs: 30_000 };
const AUTHORITY = 'tokenkeep-reactor-ca';
const CLIENT = 'tokenkeep-reactor-client';

/** The machine's clock, from another day on. */
function later(shiftMs: number): Timers {
  return { ...systemTimers, now: () => systemTimers.now() + shiftMs };
}

describe('certificates of reactors in a cluster', function () {
  this.timeout(120_000);
  let bench: ReactorCluster;
  useReactorCluster((made) => (bench = made));

  async function entriesOf(name: string): Promise<Record<string, string>> {
    const { data = {} } = await bench.read('secrets', name);
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    );
  }
  async function certificateOf(name: string): Promise<X509Certificate> {
    return new X509Certificate((await entriesOf(name))['tls.crt']!);
  }
  const isThere = (name: string) => eventually(() => bench.read('secrets', name), WAIT);

  it('are of the names that both sides ask for, by one authority whose key is in one Secret alone', async () => {
    const workload = workloadWith();
    await bench.start().apply(workload, 0);
    const server = tlsSecretName(workloadName(workload));
    for (const name of [server, CLIENT, 'reactor-checker-tls']) await isThere(name);
    const names = {
      [server]: `DNS:${workload.reactorId}.${workload.tenantId}.reactors.tokenkeep.internal`,
      [CLIENT]: 'DNS:api.tokenkeep.internal',
      'reactor-checker-tls': 'DNS:checker.reactors.tokenkeep.internal',
    };
    const authority = await entriesOf(AUTHORITY);
    for (const [name, expected] of Object.entries(names)) {
      const certificate = await certificateOf(name);
      expect(certificate.subjectAltName).to.equal(expected);
      expect(certificate.verify(new X509Certificate(authority['tls.crt']!).publicKey)).to.equal(true);
      expect((await entriesOf(name))['ca.crt']).to.equal(authority['tls.crt']);
    }
    const api = await entriesOf(CLIENT);
    const [caller, served] = [new X509Certificate(api['tls.crt']!), new X509Certificate(api['svc.crt']!)];
    expect(served.subjectAltName).to.equal(names[CLIENT]);
    expect(served.checkPrivateKey(createPrivateKey(api['svc.key']!))).to.equal(true);
    expect(served.verify(new X509Certificate(authority['tls.crt']!).publicKey)).to.equal(true);
    // Each is good for one end of a connection.
    expect([caller.keyUsage, served.keyUsage]).to.deep.equal([['1.3.6.1.5.5.7.3.2'], ['1.3.6.1.5.5.7.3.1']]);
    const key = authority['tls.key']!;
    expect(key).to.match(/^-----BEGIN PRIVATE KEY-----/);
    expect(createSecretKey(Buffer.from(key)).symmetricKeySize).to.be.greaterThan(100);
    const others = (await bench.list('secrets')).filter(({ metadata }) => metadata.name !== AUTHORITY);
    for (const { data } of others)
      expect(JSON.stringify(data)).not.to.include(Buffer.from(key).toString('base64').slice(40, 120));
    // A Deployment is there, paused, before it is what it is to be.
    await eventually(async () => {
      const mounted = JSON.stringify((await bench.list('deployments')).map(({ spec }) => spec));
      expect(mounted).to.include(server).and.not.include(AUTHORITY);
    }, WAIT);
  });

  it('of the API fill the Secret that Helm has made, and leave it Helm’s', async () => {
    const labels = { 'app.kubernetes.io/managed-by': 'Helm', 'app.kubernetes.io/name': 'tokenkeep' };
    const made = { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: { name: CLIENT, labels } };
    const asHelm = ['apply', '--server-side', '--field-manager=helm', '-n', bench.namespace, '-f', '-'];
    await bench.cluster.demand(asHelm, { input: JSON.stringify(made) });
    await bench.start().apply(workloadWith(), 0);
    await eventually(async () => expect(await entriesOf(CLIENT)).to.have.property('svc.key'), WAIT);
    // An upgrade: without a conflict, and with nothing lost.
    await bench.cluster.demand(asHelm, { input: JSON.stringify(made) });
    expect((await bench.read('secrets', CLIENT)).metadata.labels).to.deep.equal(labels);
    expect(await entriesOf(CLIENT)).to.have.all.keys('tls.crt', 'tls.key', 'ca.crt', 'svc.crt', 'svc.key');
  });

  it('stay while they are good, and are renewed after two thirds of their life', async () => {
    const workload = workloadWith();
    const server = tlsSecretName(workloadName(workload));
    const first = bench.start();
    await first.apply(workload, 0);
    await isThere(server);
    await isThere(CLIENT);
    const before = { server: await certificateOf(server), client: await certificateOf(CLIENT) };
    await first.stop();

    const early = bench.start({ clock: later((CERTIFICATE_LIFETIME_MS * 2) / 3 - 60_000) });
    const witness = workloadWith();
    await early.apply(workload, 0);
    await early.apply(witness, 0);
    await isThere(tlsSecretName(workloadName(witness)));
    expect((await certificateOf(server)).serialNumber).to.equal(before.server.serialNumber);
    await early.stop();

    const due = bench.start({ clock: later((CERTIFICATE_LIFETIME_MS * 2) / 3 + 60_000) });
    await due.apply(workload, 0);
    await eventually(async () => {
      expect((await certificateOf(server)).serialNumber).not.to.equal(before.server.serialNumber);
      expect((await certificateOf(CLIENT)).serialNumber).not.to.equal(before.client.serialNumber);
    }, WAIT);
    expect((await entriesOf(server))['ca.crt']).to.equal((await entriesOf(AUTHORITY))['tls.crt']);
  });

  it('of a new authority are trusted before there are any, beside those of the old one', async () => {
    const workload = workloadWith();
    const server = tlsSecretName(workloadName(workload));
    const first = bench.start();
    await first.apply(workload, 0);
    await isThere(server);
    const old = (await entriesOf(AUTHORITY))['tls.crt']!;
    await first.stop();

    const due = (AUTHORITY_LIFETIME_MS * 2) / 3 + 60_000;
    const announcing = bench.start({ clock: later(due) });
    await announcing.apply(workload, 0);
    await eventually(async () => expect((await entriesOf(server))['ca.crt']).not.to.equal(old), WAIT);
    const { 'next.crt': next } = await entriesOf(AUTHORITY);
    expect((await entriesOf(server))['ca.crt']).to.equal(`${old}${next}`);
    expect((await certificateOf(server)).verify(new X509Certificate(old).publicKey)).to.equal(true);
    await announcing.stop();

    const promoting = bench.start({ clock: later(due + 2 * 60 * 60_000) });
    await promoting.apply(workload, 0);
    await eventually(async () => {
      expect((await certificateOf(server)).verify(new X509Certificate(next!).publicKey)).to.equal(true);
    }, WAIT);
    expect((await entriesOf(server))['ca.crt']).to.equal(`${next}${old}`);
    const authority = await entriesOf(AUTHORITY);
    expect(Object.keys(authority).sort()).to.deep.equal(['previous.crt', 'tls.crt', 'tls.key']);
    expect(authority['tls.crt']).to.equal(next);
  });

  it('are all of the one authority that two operators agree on', async () => {
    const workload = workloadWith();
    const [one, other] = [bench.start(), bench.start()];
    await Promise.all([one.apply(workload, 0), other.apply(workload, 0)]);
    const server = tlsSecretName(workloadName(workload));
    await isThere(server);
    await isThere(CLIENT);
    await eventually(async () => {
      const authority = new X509Certificate((await entriesOf(AUTHORITY))['tls.crt']!);
      for (const name of [server, CLIENT]) {
        expect((await certificateOf(name)).verify(authority.publicKey)).to.equal(true);
      }
    }, WAIT);
  });

  it('of the API are where its pods are, and nowhere else', async () => {
    const namespace = await bench.cluster.namespace();
    const ofApi = async () => {
      const { stdout } = await bench.cluster.kubectl(['get', 'secret', CLIENT, '-n', namespace, '-o', 'json']);
      const { data } = JSON.parse(stdout) as { data: Record<string, string> };
      return Buffer.from(data['tls.crt']!, 'base64').toString();
    };
    const beside = bench.start();
    await isThere(CLIENT);
    await beside.stop();
    bench.start({ api: { namespace, labels: { app: 'api' }, port: 8444 } });
    await eventually(async () => {
      const authority = new X509Certificate((await entriesOf(AUTHORITY))['tls.crt']!);
      expect(new X509Certificate(await ofApi()).verify(authority.publicKey)).to.equal(true);
    }, WAIT);
    await eventually(async () => {
      expect((await bench.list('secrets')).map(({ metadata }) => metadata.name)).not.to.include(CLIENT);
    }, WAIT);
    // What an authority issued that is gone is replaced there too.
    const before = await ofApi();
    await bench.remove('secrets', AUTHORITY);
    await eventually(async () => expect(await ofApi()).not.to.equal(before), WAIT);
  });

  it('are issued anew by another authority where the Secret of the one is deleted', async () => {
    const workload = workloadWith();
    await bench.start().apply(workload, 0);
    const server = tlsSecretName(workloadName(workload));
    await isThere(server);
    const { serialNumber } = await certificateOf(server);
    await bench.remove('secrets', AUTHORITY);
    await eventually(async () => {
      const authority = new X509Certificate((await entriesOf(AUTHORITY))['tls.crt']!);
      const certificate = await certificateOf(server);
      expect(certificate.serialNumber).not.to.equal(serialNumber);
      expect(certificate.verify(authority.publicKey)).to.equal(true);
    }, WAIT);
  });
});
