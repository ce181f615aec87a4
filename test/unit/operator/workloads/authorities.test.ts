import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import {
  nextRotation,
  rotateAuthorities,
  SPREAD_MS,
  stateOf,
  trustedBy,
} from '../../../../src/operator/workloads/authorities.ts';
import type { Authorities } from '../../../../src/operator/workloads/authorities.ts';
import {
  AUTHORITY_LIFETIME_MS,
  CERTIFICATE_LIFETIME_MS,
  createAuthority,
  issueCertificate,
  lifeOf,
  renewalOf,
} from '../../../../src/operator/workloads/certificates.ts';

const NOW = Date.UTC(2026, 10, 22);
const SERVER = { name: 'r.t.reactors.tokenkeep.internal', usage: 'server' } as const;
const CLIENT = { name: 'api.tokenkeep.internal', usage: 'client' } as const;
const USAGE = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' };

const isIssuedBy = (certificate: string, authority: string): boolean => {
  const [leaf, issuer] = [new X509Certificate(certificate), new X509Certificate(authority)];
  return leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey);
};

describe('certificates of reactors', () => {
  for (const subject of [SERVER, CLIENT]) {
    it(`of a ${subject.usage} have one name, one use, a key of their own, and issue nothing`, async () => {
      const authority = await createAuthority(NOW);
      const { certificate, key } = await issueCertificate(authority, subject, NOW);
      const read = new X509Certificate(certificate);
      expect(read.subjectAltName).to.equal(`DNS:${subject.name}`);
      expect(read.keyUsage).to.deep.equal([USAGE[subject.usage]]);
      expect(read.ca).to.equal(false);
      expect(read.publicKey.asymmetricKeyDetails).to.deep.equal({ namedCurve: 'prime256v1' });
      expect(isIssuedBy(certificate, authority.certificate)).to.equal(true);
      const stranger = await createAuthority(NOW);
      expect(isIssuedBy(certificate, stranger.certificate)).to.equal(false);
      expect(key)
        .to.match(/^-----BEGIN PRIVATE KEY-----\n/)
        .and.not.equal(authority.key);
    });
  }

  it('are renewed after two thirds of their life, and never outlive their authority', async () => {
    const authority = await createAuthority(NOW);
    const { certificate } = await issueCertificate(authority, SERVER, NOW);
    expect(lifeOf(certificate)).to.deep.equal({ madeAt: NOW, endsAt: NOW + CERTIFICATE_LIFETIME_MS });
    expect(renewalOf(certificate)).to.equal(NOW + (CERTIFICATE_LIFETIME_MS * 2) / 3);
    const late = await issueCertificate(authority, SERVER, NOW + AUTHORITY_LIFETIME_MS - 1_000);
    expect(lifeOf(late.certificate).endsAt).to.equal(NOW + AUTHORITY_LIFETIME_MS);
  });
});

describe('authorities of reactors', () => {
  it('are one at first, that stays as it is until two thirds of its life', async () => {
    const first = await rotateAuthorities(undefined, NOW);
    expect(Object.keys(first)).to.deep.equal(['current']);
    const due = nextRotation(first);
    expect(due).to.equal(NOW + (AUTHORITY_LIFETIME_MS * 2) / 3);
    expect(await rotateAuthorities(first, due - 1)).to.equal(first);
    expect((await rotateAuthorities(first, due)).next).not.to.equal(undefined);
  });

  it('of whom a new one is trusted before it issues, and the old one until nothing of it is left', async () => {
    const first = await rotateAuthorities(undefined, NOW);
    const announced = await rotateAuthorities(first, nextRotation(first));
    expect(announced.current).to.deep.equal(first.current);
    const promotion = nextRotation(announced);
    expect(promotion).to.equal(lifeOf(announced.next!.certificate).madeAt + SPREAD_MS);
    expect(await rotateAuthorities(announced, promotion - 1)).to.equal(announced);

    const promoted = await rotateAuthorities(announced, promotion);
    expect(promoted).to.deep.equal({ current: announced.next, previous: first.current.certificate });
    const last = await issueCertificate(announced.current, SERVER, promotion - 1_000);
    const retirement = nextRotation(promoted);
    expect(retirement).to.be.greaterThan(lifeOf(last.certificate).endsAt - 1);
    expect(await rotateAuthorities(promoted, retirement - 1)).to.equal(promoted);
    expect(await rotateAuthorities(promoted, retirement)).to.deep.equal({ current: promoted.current });
  });

  it('never leave two that follow each other in doubt of a certificate, through five years of any intervals', async () => {
    const DAY = 24 * 60 * 60_000;
    for (const stepMs of [SPREAD_MS, DAY, 9 * DAY]) {
      let known: Authorities | undefined;
      let issued: { certificate: string; bundle: string }[] = [];
      for (let now = NOW; now < NOW + 5 * 365 * DAY; now += known === undefined ? 0 : nextStep(known, now, stepMs)) {
        known = await rotateAuthorities(known, now);
        const { certificate } = await issueCertificate(known.current, SERVER, now);
        const bundle = trustedBy(known);
        issued = [...issued.filter((each) => renewalOf(each.certificate) > now), { certificate, bundle }].slice(-2);
        // Whoever has not seen the last change yet, and whoever has, believe each other.
        for (const [a, b] of [issued, [...issued].reverse()]) {
          if (a === undefined || b === undefined) continue;
          const authorities = b.bundle.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----\n/g) ?? [];
          expect(authorities.some((authority) => isIssuedBy(a.certificate, authority))).to.equal(true);
        }
      }
    }
  }).timeout(60_000);

  it('have another state with each step, so that certificates are issued anew', async () => {
    const first = await rotateAuthorities(undefined, NOW);
    const announced = await rotateAuthorities(first, nextRotation(first));
    const promoted = await rotateAuthorities(announced, nextRotation(announced));
    const retired = await rotateAuthorities(promoted, nextRotation(promoted));
    expect(new Set([first, announced, promoted, retired].map(stateOf)).size).to.equal(4);
    expect(stateOf(first)).to.equal(stateOf({ ...first }));
  });

  it('begin anew where the operator was away for longer than one lasts', async () => {
    const first = await rotateAuthorities(undefined, NOW);
    const again = await rotateAuthorities(first, NOW + AUTHORITY_LIFETIME_MS);
    expect(again.current.certificate).not.to.equal(first.current.certificate);
    expect(Object.keys(again)).to.deep.equal(['current']);
  });
});

/** To the next change or the next look, whichever is first, but never less than the time that a change takes. */
function nextStep(known: Authorities, now: number, stepMs: number): number {
  return Math.max(Math.min(nextRotation(known) - now, stepMs * 30), SPREAD_MS);
}
