import { expect } from 'chai';
import { DomainError } from '../../../src/domain/errors.ts';
import { createUpdateTurns, type UpdateTurns } from '../../../src/services/update-turns.ts';

const ONE = { tenantId: 't', id: 'one' };

describe('updates in turn', () => {
  let begun: string[];
  let ends: Map<string, () => void>;
  beforeEach(() => {
    begun = [];
    ends = new Map();
  });

  /** An update that is under way until it is ended. */
  function update(turns: UpdateTurns, thing: typeof ONE, name: string, signal?: AbortSignal): Promise<string> {
    const work = async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name;
    };
    const updated = turns.run(thing, work, signal);
    updated.catch(() => undefined);
    return updated;
  }
  async function refusal(updated: Promise<string>): Promise<string> {
    const error = await updated.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(DomainError);
    return (error as DomainError).kind;
  }

  it('follow one another where they are of one thing, and wait for none of another', async () => {
    const turns = createUpdateTurns('token');
    const first = update(turns, ONE, 'first');
    const second = update(turns, ONE, 'second');
    void update(turns, { ...ONE, id: 'two' }, 'of another');
    void update(turns, { ...ONE, tenantId: 'u' }, 'of another tenant');
    expect(begun).to.deep.equal(['first', 'of another', 'of another tenant']);
    ends.get('first')!();
    expect(await first).to.equal('first');
    await new Promise(setImmediate);
    expect(begun).to.include('second');
    ends.get('second')!();
    expect(await second).to.equal('second');
  });

  it('go on after one that fails', async () => {
    const turns = createUpdateTurns('token');
    const failing = turns.run(ONE, () => Promise.reject(new Error('fails')));
    const next = update(turns, ONE, 'next');
    expect(await failing.catch((error: Error) => error.message)).to.equal('fails');
    await new Promise(setImmediate);
    ends.get('next')!();
    expect(await next).to.equal('next');
  });

  it('are in conflict where too many wait, or one waits too long', async () => {
    for (const limits of [{ waitingOfGroup: 0 }, { waitMs: 1 }]) {
      const turns = createUpdateTurns('reactor', limits);
      void update(turns, ONE, 'first');
      expect(await refusal(update(turns, ONE, 'second'))).to.equal('conflict');
      ends.get('first')!();
    }
    expect(begun).to.deep.equal(['first', 'first']);
  });

  it('are not made for one who goes away before', async () => {
    const turns = createUpdateTurns('token');
    const departure = new AbortController();
    void update(turns, ONE, 'first');
    const left = update(turns, ONE, 'left', departure.signal);
    departure.abort();
    expect(await refusal(left)).to.equal('unavailable');
    expect(begun).to.deep.equal(['first']);
    ends.get('first')!();
  });
});
