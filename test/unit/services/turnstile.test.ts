import { expect } from 'chai';
import { DomainError } from '../../../src/domain/errors.ts';
import { Turnstile, type TurnstileLimits } from '../../../src/services/turnstile.ts';

const LIMITS: TurnstileLimits = { atOnce: 2, atOnceOfGroup: 1, waiting: 4, waitingOfGroup: 3, waitMs: 60_000 };
const busy = (): DomainError => new DomainError('unavailable', 'Too many.');

/** Work that is under way until it is ended. */
interface Held {
  readonly name: string;
  readonly passed: Promise<string>;
  end(): void;
}

describe('a turnstile', () => {
  let begun: string[];
  beforeEach(() => (begun = []));

  function enter(turnstile: Turnstile, group: string, name: string, signal?: AbortSignal): Held {
    const { promise, resolve } = Promise.withResolvers<void>();
    const work = async () => {
      begun.push(name);
      await promise;
      return name;
    };
    const passed = turnstile.pass(group, work, signal);
    passed.catch(() => undefined);
    return { name, passed, end: resolve };
  }

  async function end(held: Held): Promise<void> {
    held.end();
    expect(await held.passed).to.equal(held.name);
    // Whoever is let in begins once its own promise has been settled.
    await new Promise(setImmediate);
  }

  async function expectRefused(held: Held, message: RegExp): Promise<void> {
    const error = await held.passed.catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(DomainError).with.property('kind', 'unavailable');
    expect((error as DomainError).message).to.match(message);
    expect(begun).not.to.include(held.name);
  }

  it('lets in as many as may be under way, of one group and in all', async () => {
    const turnstile = new Turnstile(LIMITS, { busy });
    const [a1, a2, b1, c1] = [
      enter(turnstile, 'a', 'a1'),
      enter(turnstile, 'a', 'a2'),
      enter(turnstile, 'b', 'b1'),
      enter(turnstile, 'c', 'c1'),
    ];
    expect(begun).to.deep.equal(['a1', 'b1']);
    expect(turnstile.state).to.deep.equal({ running: 2, waiting: 2 });
    await end(b1);
    expect(begun).to.deep.equal(['a1', 'b1', 'c1']);
    await end(c1);
    expect(begun).to.deep.equal(['a1', 'b1', 'c1']);
    await end(a1);
    await end(a2);
    expect(turnstile.state).to.deep.equal({ running: 0, waiting: 0 });
  });

  it('lets in who came first of a group, and the groups by turns', async () => {
    const turnstile = new Turnstile({ ...LIMITS, atOnce: 1 }, { busy });
    const those = ['a0', 'a1', 'a2', 'a3', 'b1'].map((name) => enter(turnstile, name[0]!, name));
    for (const held of [those[0]!, those[1]!]) await end(held);
    those.push(enter(turnstile, 'b', 'b2'));
    for (const name of ['b1', 'a2', 'b2', 'a3']) await end(those.find((held) => held.name === name)!);
    expect(begun).to.deep.equal(['a0', 'a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('refuses who finds too many waiting, of its group or in all', async () => {
    const turnstile = new Turnstile({ ...LIMITS, atOnce: 1 }, { busy });
    const those = ['a0', 'a1', 'a2', 'a3'].map((name) => enter(turnstile, 'a', name));
    await expectRefused(enter(turnstile, 'a', 'a4'), /Too many/);
    those.push(enter(turnstile, 'b', 'b1'));
    await expectRefused(enter(turnstile, 'b', 'b2'), /Too many/);
    await end(those[0]!);
    those.push(enter(turnstile, 'b', 'b3'));
    for (const held of those.slice(1)) held.end();
    expect(await Promise.all(those.map(({ passed }) => passed))).to.have.length(6);
  });

  it('refuses who has waited too long', async () => {
    const turnstile = new Turnstile({ ...LIMITS, waitMs: 1 }, { busy });
    const first = enter(turnstile, 'a', 'a1');
    await expectRefused(enter(turnstile, 'a', 'a2'), /Too many/);
    expect(turnstile.state).to.deep.equal({ running: 1, waiting: 0 });
    await end(first);
    expect(begun).to.deep.equal(['a1']);
  });

  it('forgets who goes away', async () => {
    const turnstile = new Turnstile(LIMITS, { busy });
    const departure = new AbortController();
    const first = enter(turnstile, 'a', 'a1');
    const left = enter(turnstile, 'a', 'a2', departure.signal);
    const last = enter(turnstile, 'a', 'a3');
    departure.abort();
    await expectRefused(left, /went away/);
    expect(turnstile.state).to.deep.equal({ running: 1, waiting: 1 });
    await expectRefused(enter(turnstile, 'b', 'b1', departure.signal), /went away/);
    await end(first);
    await end(last);
    expect(begun).to.deep.equal(['a1', 'a3']);
  });

  it('lets the next one in where work fails, and hands on the failure', async () => {
    const turnstile = new Turnstile(LIMITS, { busy });
    const failing = turnstile.pass('a', () => Promise.reject(new Error('fails')));
    const next = enter(turnstile, 'a', 'a1');
    expect(await failing.catch((error: Error) => error.message)).to.equal('fails');
    await end(next);
    expect(turnstile.state).to.deep.equal({ running: 0, waiting: 0 });
  });

  it('tells of each change', async () => {
    const states: string[] = [];
    const turnstile = new Turnstile(LIMITS, {
      busy,
      onChange: ({ running, waiting }) => states.push(`${running} ${waiting}`),
    });
    const [first, second] = [enter(turnstile, 'a', 'a1'), enter(turnstile, 'a', 'a2')];
    await end(first);
    await end(second);
    expect(states).to.deep.equal(['1 0', '1 1', '0 1', '0 0', '1 0', '0 0']);
  });
});
