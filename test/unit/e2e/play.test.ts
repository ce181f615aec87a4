import { expect } from 'chai';
import { play } from '../../e2e/play.ts';
import type { Stage, Step } from '../../e2e/step.ts';
import { summaryOf, tableOf, type Outcome } from '../../e2e/table.ts';

const STAGE = {} as unknown as Stage;

describe('a step of the end-to-end test', () => {
  const said: string[] = [];
  const playStep = (step: Step) => play(step, STAGE, (line) => said.push(line));
  afterEach(() => said.splice(0));

  it('passes with its remark', async () => {
    const { ms, ...played } = await playStep({ name: 'start the node', run: async () => 'Kubernetes v1.34.4' });
    expect(played).to.deep.equal({ name: 'start the node', result: 'passed', remark: 'Kubernetes v1.34.4' });
    expect(said[1]).to.match(/^ {3}passed in \d+\.\d s Kubernetes v1\.34\.4$/);
    expect(ms).to.be.at.least(0);
  });

  it('fails as it says', async () => {
    const { result, failure } = await playStep({ name: 'start the node', run: () => Promise.reject(new Error('why')) });
    expect({ result, failure }).to.deep.equal({ result: 'FAILED', failure: 'why' });
  });

  it('fails once its deadline is past, where it hangs', async () => {
    const hung: Step = { name: 'start the node', deadlineMs: 100, run: () => new Promise(() => undefined) };
    const { result, failure, ms } = await playStep(hung);
    expect({ result, failure }).to.deep.equal({ result: 'FAILED', failure: 'it has not ended within 0.1 s' });
    expect(ms).to.be.within(90, 5_000);
  });
});

describe('the table of the end-to-end test', () => {
  const outcome = (result: Outcome['result'], ms: number): Outcome => ({ name: 'a step', result, ms, remark: '' });

  it('says whether all of it took too long, which is no failure', () => {
    expect(tableOf([outcome('passed', 899_000)])).to.match(/all +passed +899\.0 {2}less than 15 min$/);
    expect(tableOf([outcome('passed', 900_000)])).to.match(/all +passed +900\.0 {2}MORE than 15 min/);
  });

  it('counts what was not run as skipped', () => {
    const outcomes = [outcome('passed', 1), outcome('FAILED', 1), outcome('not run', 0)];
    expect(summaryOf(outcomes)).to.equal('1 passed, 1 failed, 1 skipped');
  });
});
