import { expect } from 'chai';
import type { DomainError } from '../../../src/domain/errors.ts';
import type { LogEntry } from '../../../src/domain/logs.ts';
import { type Audit, createAudit } from '../../../src/services/audit.ts';
import { logEntry } from '../../../src/services/log-entries.ts';

const actor = { tenantId: 'tenant', actorId: null, actorType: 'system' } as const;
const entries = (...ids: string[]) => ids.map((id) => logEntry(actor, 'read', 'token', id));

/** An insert whose statements end when the test says so. */
class HeldInsert {
  readonly statements: { ids: string[]; end: PromiseWithResolvers<void> }[] = [];

  readonly insert = (batch: readonly LogEntry[]): Promise<void> => {
    const end = Promise.withResolvers<void>();
    this.statements.push({ ids: batch.map((entry) => entry.entityId), end });
    return end.promise;
  };

  /** Ends the statement that is under way, and lets the next one begin. */
  async settle(error?: Error): Promise<void> {
    const { end } = this.statements.at(-1)!;
    if (error) end.reject(error);
    else end.resolve();
    await end.promise.catch(() => undefined);
    await Promise.resolve();
  }
}

describe('the audit log', () => {
  let held: HeldInsert;
  let audit: Audit;

  beforeEach(() => {
    held = new HeldInsert();
    audit = createAudit(held.insert);
  });

  it('lets a lone request wait for its own statement only', async () => {
    const recorded = audit.record(entries('a'));
    await held.settle();
    await recorded;
    expect(held.statements.map(({ ids }) => ids)).to.deep.equal([['a']]);
  });

  it('commits what comes during a statement together in the next one', async () => {
    const all = [audit.record(entries('a')), audit.record(entries('b', 'c')), audit.record(entries('d'))];
    await held.settle();
    await all[0];
    expect(held.statements.map(({ ids }) => ids)).to.deep.equal([['a'], ['b', 'c', 'd']]);
    await held.settle();
    await Promise.all(all);
  });

  it('resolves nobody before their entries are committed', async () => {
    let second = false;
    const first = audit.record(entries('a'));
    const waiting = audit.record(entries('b')).then(() => (second = true));
    await held.settle();
    await first;
    expect(second).to.equal(false);
    await held.settle();
    await waiting;
  });

  it('splits what is more than one statement takes between requests', async () => {
    const many = (count: number) => entries(...Array.from({ length: count }, (_, index) => String(index)));
    const all = [audit.record(entries('a')), audit.record(many(400)), audit.record(many(400)), audit.record(many(600))];
    for (let index = 0; index < 4; index++) await held.settle();
    await Promise.all(all);
    expect(held.statements.map(({ ids }) => ids.length)).to.deep.equal([1, 400, 400, 600]);
  });

  it('fails those whose statement failed as unavailable, and goes on for the rest', async () => {
    const failed = audit.record(entries('a')).catch((error: DomainError) => error);
    const good = audit.record(entries('b'));
    const cause = new Error('no space left');
    await held.settle(cause);
    expect(await failed).to.include({ kind: 'unavailable', cause });
    await held.settle();
    await good;
  });

  it('lets entries of several tenants neither share a statement nor wait for each other', async () => {
    const other = { ...actor, tenantId: 'other' };
    const all = [
      audit.record(entries('a')),
      audit.record([logEntry(other, 'read', 'token', 'x')]),
      audit.record(entries('b')),
      audit.record([logEntry(other, 'read', 'token', 'y')]),
    ];
    expect(held.statements.map(({ ids }) => ids)).to.deep.equal([['a'], ['x']]);
    for (let index = 0; index < 4; index++) {
      held.statements[index]!.end.resolve();
      await all[index];
    }
    expect(held.statements.map(({ ids }) => ids)).to.deep.equal([['a'], ['x'], ['b'], ['y']]);
  });

  it('writes nothing for nothing', async () => {
    await audit.record([]);
    expect(held.statements).to.deep.equal([]);
  });
});
