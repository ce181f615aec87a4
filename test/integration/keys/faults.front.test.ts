import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { startFront, type Certificate, type Front } from '../../support/faults/front.ts';
import { itOutlives } from '../../support/faults/scenario.ts';
import { requireFaultTools, startFaultStage, type FaultStage } from '../../support/faults/stage.ts';
import type { TransitServer } from '../../support/transit.ts';

const STATUSES: [status: number, what: string, logged: RegExp][] = [
  [307, 'a redirect to another host, which must not see the token', /a redirect, which is not followed/],
  [473, 'a standby that serves nothing', /standby/],
  [500, 'a fault of its own', /status 500/],
];

async function issue(server: TransitServer, mount: string, ttl: string): Promise<Certificate> {
  const body = { common_name: 'localhost', ip_sans: '127.0.0.1', ttl };
  const issued = await server.request({ method: 'POST', path: `${mount}/issue/server`, body });
  const { certificate, private_key: key } = issued.body.data as Record<'certificate' | 'private_key', string>;
  return { cert: certificate, key };
}

async function mountAuthority(server: TransitServer, mount: string): Promise<void> {
  await server.request({ method: 'POST', path: `sys/mounts/${mount}`, body: { type: 'pki' } });
  const root = { common_name: 'Another authority', ttl: '720h' };
  await server.request({ method: 'POST', path: `${mount}/root/generate/internal`, body: root });
  const role = { allow_any_name: true, allow_ip_sans: true };
  await server.request({ method: 'POST', path: `${mount}/roles/server`, body: role });
}

describe('a vault whose transit server stands behind a load balancer', () => {
  describe('that answers', () => {
    let stage: FaultStage | undefined;
    let front: Front | undefined;
    before(async function () {
      const tools = await requireFaultTools(this);
      front = await startFront(tools.server.address);
      stage = await startFaultStage({ ...tools, front });
    });
    after(async () => {
      await stage?.stop();
      await front?.stop();
    });

    for (const [status, what, logged] of STATUSES) {
      const fault = {
        ...{ name: `${status}, ${what}`, logged },
        strike: () => front!.answer(status),
        mend: () => front!.answer(undefined),
      };
      itOutlives(fault, () => stage!);
    }
  });

  describe('whose certificate', () => {
    const ANOTHER = 'pki-of-another-authority';
    let stage: FaultStage | undefined;
    let front: Front | undefined;
    let [right, expired, foreign]: Certificate[] = [];

    before(async function () {
      const tools = await requireFaultTools(this);
      const { server } = tools;
      right = await issue(server, 'pki', '720h');
      expired = await issue(server, 'pki', '1s');
      await mountAuthority(server, ANOTHER);
      foreign = await issue(server, ANOTHER, '700h');
      const { validToDate } = new X509Certificate(expired.cert);
      await eventually(() => expect(Date.now()).to.be.above(validToDate.getTime()), { deadlineMs: 60_000 });
      front = await startFront(server.address, right);
      stage = await startFaultStage({ ...tools, front, ca: await readFile(server.caFile, 'utf8') });
    });
    after(async () => {
      await stage?.server.request({ method: 'DELETE', path: `sys/mounts/${ANOTHER}` });
      await stage?.stop();
      await front?.stop();
    });

    itOutlives(
      {
        name: 'has expired',
        strike: () => front!.present(expired!),
        mend: () => front!.present(right!),
        logged: /CERT_HAS_EXPIRED/,
      },
      () => stage!,
    );

    itOutlives(
      {
        name: 'is from another authority',
        strike: () => front!.present(foreign!),
        mend: () => front!.present(right!),
        logged: /UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT_LOCALLY|SELF_SIGNED/,
      },
      () => stage!,
    );
  });
});
