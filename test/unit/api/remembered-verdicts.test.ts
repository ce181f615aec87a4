import { expect } from 'chai';
import { rememberVerdicts, type Judgement } from '../../../src/api/internal/remembered-verdicts.ts';
import { rejection } from '../../support/rejection.ts';

describe('remembered verdicts', () => {
  let now: number;
  let asked: string[];
  let answers: Record<string, Partial<Judgement>>;

  const judge = async (token: string): Promise<Judgement> => {
    asked.push(token);
    return { verdict: 'refused', endsAt: Infinity, ...answers[token] };
  };
  const create = () => rememberVerdicts({ judge, clock: { now: () => now } });

  beforeEach(() => {
    now = 1_000_000;
    asked = [];
    answers = { good: { verdict: 'accepted' }, stranger: { verdict: 'forbidden' } };
  });

  it('hold for a minute where a token is accepted', async () => {
    const verdicts = create();
    expect(await verdicts.authenticate('good')).to.equal('accepted');
    answers = {};
    now += 59_999;
    expect(await verdicts.authenticate('good')).to.equal('accepted');
    now += 1;
    expect(await verdicts.authenticate('good')).to.equal('refused');
    expect(asked).to.deep.equal(['good', 'good']);
  });

  it('hold for 5 s where it is not', async () => {
    const verdicts = create();
    for (const token of ['bad', 'stranger']) {
      const verdict = await verdicts.authenticate(token);
      answers[token] = { verdict: 'accepted' };
      now += 4_999;
      expect(await verdicts.authenticate(token)).to.equal(verdict);
      now += 1;
      expect(await verdicts.authenticate(token)).to.equal('accepted');
    }
  });

  it('end with the token itself', async () => {
    const verdicts = create();
    answers['good'] = { verdict: 'accepted', endsAt: now + 10_000 };
    expect(await verdicts.authenticate('good')).to.equal('accepted');
    answers = {};
    now += 10_000;
    expect(await verdicts.authenticate('good')).to.equal('refused');
  });

  it('are not trusted once the clock was turned back', async () => {
    const verdicts = create();
    await verdicts.authenticate('good');
    answers = {};
    now -= 3_600_000;
    expect(await verdicts.authenticate('good')).to.equal('refused');
  });

  it('count from the question, not from its answer', async () => {
    const { promise, resolve } = Promise.withResolvers<Judgement>();
    const verdicts = rememberVerdicts({
      judge: (token) => (asked.push(token) === 1 ? promise : Promise.resolve({ verdict: 'refused', endsAt: Infinity })),
      clock: { now: () => now },
    });
    const first = verdicts.authenticate('good');
    now += 60_000;
    resolve({ verdict: 'accepted', endsAt: Infinity });
    expect([await first, await verdicts.authenticate('good')]).to.deep.equal(['accepted', 'refused']);
  });

  it('are asked for once where several ask at the same time', async () => {
    const verdicts = create();
    const answered = await Promise.all(['good', 'good', 'bad', 'good'].map((token) => verdicts.authenticate(token)));
    expect(answered).to.deep.equal(['accepted', 'accepted', 'refused', 'accepted']);
    expect(asked).to.deep.equal(['good', 'bad']);
  });

  it('are asked for again where nobody could be asked', async () => {
    let fails = true;
    const verdicts = rememberVerdicts({
      judge: (token) => (fails ? Promise.reject(new Error('away')) : judge(token)),
      clock: { now: () => now },
    });
    const both = await Promise.all([
      rejection(verdicts.authenticate('good')),
      rejection(verdicts.authenticate('good')),
    ]);
    expect(both.map(({ message }) => message)).to.deep.equal(['away', 'away']);
    fails = false;
    expect(await verdicts.authenticate('good')).to.equal('accepted');
  });

  it('of accepted tokens stay, however many others are presented', async () => {
    const verdicts = create();
    await verdicts.authenticate('good');
    for (let index = 0; index < 5_000; index++) await verdicts.authenticate(`made-up-${index}`);
    asked = [];
    await verdicts.authenticate('good');
    await verdicts.authenticate('made-up-0');
    await verdicts.authenticate('made-up-4999');
    expect(asked).to.deep.equal(['made-up-0']);
  });
});
