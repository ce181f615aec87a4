import { expect } from 'chai';
import type { ReactorResource } from '../../../src/operator/kinds/reactor.ts';
import { gatherReactorParts } from '../../../src/operator/reactor-parts.ts';
import type { ReferentEntries } from '../../../src/operator/sources/types.ts';

type Context = Parameters<typeof gatherReactorParts>[0];

const CODE = 'module.exports = async () => ({});';
const codeFrom = { configMap: { name: 'scripts', key: 'brand.js' } };
const from = (...names: string[]) => names.map((name) => ({ secret: { name } }));

describe('the parts of a reactor', () => {
  function gather(referents: Record<string, ReferentEntries>, changes: object) {
    const source = { readReferent: ({ name }: { name: string }) => Promise.resolve(referents[name]) };
    const spec = { code: CODE, configuration: {}, configurationFrom: [], ...changes };
    const reactor = { kind: 'Reactor', metadata: { namespace: 'shop', name: 'brand' }, spec };
    return gatherReactorParts({ source } as unknown as Context, reactor as unknown as ReactorResource);
  }

  it('are code and configuration, of which what is declared goes first, then later Secrets', async () => {
    const referents = { scripts: { 'brand.js': CODE }, one: { A: '1', B: '1', C: '1' }, two: { B: '2', C: '2' } };
    const changes = { codeFrom, configurationFrom: from('one', 'two'), configuration: { C: '3' } };
    expect(await gather(referents, changes)).to.deep.equal({
      part: { code: CODE, configuration: { A: '1', B: '2', C: '3' } },
    });
  });

  it('stall with the name of an entry that is to be used and is not text', async () => {
    const { outcome: ofCode } = await gather({ scripts: { 'brand.js': null } }, { codeFrom });
    expect(ofCode).to.include({ state: 'stalled', reason: 'EntryNotText' });
    expect(ofCode?.message).to.include('brand.js').and.include('ConfigMap scripts');
    const { outcome } = await gather({ one: { A: '1', KEY: null } }, { configurationFrom: from('one') });
    expect(outcome).to.include({ state: 'stalled', reason: 'EntryNotText' });
    expect(outcome?.message).to.include('KEY').and.include('Secret one');
  });

  it('are whole where an entry that is not text is not used', async () => {
    const referents = { scripts: { 'brand.js': CODE, logo: null }, one: { A: null, B: null }, two: { A: '2' } };
    const changes = { codeFrom, configurationFrom: from('one', 'two'), configuration: { B: '3' } };
    expect(await gather(referents, changes)).to.deep.equal({
      part: { code: CODE, configuration: { A: '2', B: '3' } },
    });
  });

  it('wait for an entry that is not there, as the members of every object are not', async () => {
    const cases: Parameters<typeof gather>[0][] = [{}, { scripts: { other: CODE } }];
    for (const referents of cases) {
      const { outcome } = await gather(referents, { codeFrom });
      expect(outcome).to.include({ state: 'waiting', reason: 'ConfigMapEntryNotFound' });
    }
    const inherited = { codeFrom: { configMap: { name: 'scripts', key: 'toString' } } };
    expect((await gather({ scripts: {} }, inherited)).outcome).to.include({ reason: 'ConfigMapEntryNotFound' });
  });

  it('are as long as is allowed, an emoji being one character, and stall when they are longer', async () => {
    const [longest, longestValue] = [`//${'\u{1F600}'.repeat(49_998)}`, '\u{1F600}'.repeat(10_000)];
    const changes = { codeFrom, configurationFrom: from('one') };
    expect(await gather({ scripts: { 'brand.js': longest }, one: { A: longestValue } }, changes)).to.deep.equal({
      part: { code: longest, configuration: { A: longestValue } },
    });
    const { outcome: ofCode } = await gather({ scripts: { 'brand.js': `${longest}/` }, one: {} }, changes);
    expect(ofCode).to.deep.include({ state: 'stalled', reason: 'CodeRefused' });
    const { outcome } = await gather({ scripts: { 'brand.js': CODE }, one: { A: `${longestValue}/` } }, changes);
    expect(outcome).to.deep.include({ state: 'stalled', reason: 'ConfigurationTooLarge' });
    expect(outcome?.message).to.equal('Entry A of the configuration is longer than 10000');
  });
});
