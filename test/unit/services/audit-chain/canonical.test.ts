import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { ChainHead, ChainLink } from '../../../../src/domain/audit-chain.ts';
import { digestOfEntry, hashOfLink, messageOfHead, NO_LINK } from '../../../../src/services/audit-chain/canonical.ts';
import { newLog } from '../../../support/rows.ts';

const AT = new Date('2026-01-02T03:04:05.678Z');
const TENANT = '00000000-0000-4000-8000-000000000001';

describe('the canonical bytes of the audit chain', () => {
  const entry = newLog(TENANT, 'x', {
    ...{ id: '00000000-0000-7000-8000-000000000002', actorId: '00000000-0000-4000-8000-000000000003', createdAt: AT },
  });
  const head: ChainHead = { writer: 'w', hour: AT, n: 3, hash: Buffer.alloc(32, 1) };
  const link: Omit<ChainLink, 'hash'> = {
    ...{ writer: 'w', hour: AT, n: 4, previous: NO_LINK, linkedAt: AT, oldest: AT, witnessed: [head] },
    entries: [{ tenantId: TENANT, createdAt: AT, id: entry.id, queuedAt: AT, digest: digestOfEntry(entry) }],
  };
  const hex = (bytes: Buffer): string => bytes.toString('hex');

  it('are those that stored logs were hashed by', () => {
    expect(hex(digestOfEntry(entry))).to.equal('78e9ceb25606cf151f1a48dfec6ea5fe9f2f5ce213668b2993a6bb1bd4ec92ca');
    expect(hex(hashOfLink(link))).to.equal('c0387accd3b072c85a7f91ea05e927c02f4df225cb0c6da5c32bb2d60faebbc1');
    const message = messageOfHead({ ...head, sealedBy: 's', anchoredAt: AT });
    expect(createHash('sha256').update(message).digest('hex')).to.equal(
      'c058b9468849632b4afe404b55447ff310df9aa5b11a60a576fcf4e55964c457',
    );
  });

  const later = new Date(AT.getTime() + 1);
  const changes: Partial<typeof entry>[] = [
    { tenantId: 'other' },
    { createdAt: later },
    { id: 'other' },
    { actorId: null },
    { actorType: 'session' },
    { entityType: 'card' },
    { entityId: 'y' },
    { operation: 'read' },
    { message: 'other' },
  ];
  for (const change of changes) {
    it(`of an entry tell another ${Object.keys(change)[0]} apart`, () => {
      expect(hex(digestOfEntry({ ...entry, ...change }))).not.to.equal(hex(digestOfEntry(entry)));
    });
  }

  it('of an entry do not take the end of one field for the beginning of the next', () => {
    const shifted = { ...entry, entityId: 'xcr', operation: 'eate' as 'create' };
    expect(hex(digestOfEntry(shifted))).not.to.equal(hex(digestOfEntry(entry)));
  });

  const linkChanges: Partial<ChainLink>[] = [
    { writer: 'v' },
    { hour: later },
    { n: 5 },
    { previous: Buffer.alloc(32, 2) },
    { linkedAt: later },
    { oldest: later },
    { witnessed: [] },
    { witnessed: [head, head] },
    { entries: [] },
    { entries: [{ ...link.entries[0]!, queuedAt: later }] },
    { entries: [{ ...link.entries[0]!, digest: NO_LINK }] },
  ];
  for (const [index, change] of linkChanges.entries()) {
    it(`of a link tell another ${Object.keys(change)[0]} apart (${index + 1})`, () => {
      expect(hex(hashOfLink({ ...link, ...change }))).not.to.equal(hex(hashOfLink(link)));
    });
  }
});
