import { expect } from 'chai';
import { digestOfKey } from '../../../src/domain/application-keys.ts';
import { KEY_ENTRY, keyAnnotations, planKey } from '../../../src/operator/key-plan.ts';
import type { KeyRecord } from '../../../src/operator/key-plan.ts';
import type { OwnedSecret } from '../../../src/operator/sources/types.ts';

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;

function secretWith(record: KeyRecord, entry: string | undefined): OwnedSecret {
  return {
    namespace: 'default',
    name: 'payments-api-key',
    owner: { kind: 'Application', namespace: 'default', name: 'payments' },
    labels: {},
    annotations: keyAnnotations(record),
    data: entry === undefined ? {} : { [KEY_ENTRY]: entry },
    isRetained: false,
  };
}

describe('the plan for an application key', () => {
  const record = { digest: digestOfKey('current'), createdAtMs: NOW - 10 * HOUR };
  const previous = { digest: digestOfKey('previous'), expiresAtMs: NOW + HOUR };

  it('makes a key where there is none, and keeps the one that is there', () => {
    expect(planKey(undefined, {}, NOW)).to.deep.equal({ action: 'make', why: 'Created' });
    expect(planKey(secretWith(record, 'current'), {}, NOW)).to.deep.equal({ action: 'keep', record });
  });

  it('replaces a key at its age, which the replaced one outlives by the overlap', () => {
    const secret = secretWith(record, 'current');
    expect(planKey(secret, { rotateAfter: '11h', overlap: '2h' }, NOW)).to.deep.include({
      action: 'keep',
      nextChangeAtMs: NOW + HOUR,
    });
    const expiresIn = (spec: object) => {
      const plan = planKey(secret, spec, NOW);
      return plan.action === 'make' ? (plan.previous?.expiresAtMs ?? NaN) - NOW : NaN;
    };
    expect(expiresIn({ rotateAfter: '10h', overlap: '2h' })).to.equal(2 * HOUR);
    expect(expiresIn({ rotateAfter: '10h' })).to.equal(5 * HOUR);
    expect(planKey(secret, { rotateAfter: '10h' }, NOW)).to.include({ why: 'Rotated' });
  });

  it('declares the replaced key until its end, and looks again then', () => {
    const plan = planKey(secretWith({ ...record, previous }, 'current'), {}, NOW);
    expect(plan).to.deep.equal({ action: 'keep', record: { ...record, previous }, nextChangeAtMs: NOW + HOUR });
    expect(planKey(secretWith({ ...record, previous }, 'current'), {}, NOW + HOUR)).to.deep.equal({
      action: 'keep',
      record,
    });
  });

  it('makes another key where the entry is lost or is not the recorded one, as after a rotation that broke off', () => {
    const lost = { action: 'make', why: 'Created', previous };
    expect(planKey(secretWith({ ...record, previous }, undefined), {}, NOW)).to.deep.equal(lost);
    expect(planKey(secretWith({ ...record, previous }, 'previous'), {}, NOW)).to.deep.equal(lost);
    expect(planKey(secretWith(record, 'edited by hand'), {}, NOW)).to.deep.equal({ action: 'make', why: 'Created' });
  });
});
