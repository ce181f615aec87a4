import { expect } from 'chai';
import type { ListedToken } from '../../../../src/data/listed-tokens.ts';
import type { TokenRow } from '../../../../src/data/tokens.ts';
import type { AccessSubject } from '../../../../src/domain/access.ts';
import { DomainError } from '../../../../src/domain/errors.ts';
import type { ShownToken } from '../../../../src/domain/shown-token.ts';
import { createMetrics } from '../../../../src/platform/metrics.ts';
import { createLargePages, type PageParts } from '../../../../src/services/tokens/large-pages.ts';
import { showPage } from '../../../../src/services/tokens/show-page.ts';
import type { TokenVault } from '../../../../src/services/tokens/vault.ts';

const LARGE = 20_000;
const LIMITS = { atOnce: 3, atOnceOfGroup: 2, waiting: 4, waitingOfGroup: 3, waitMs: 60_000 };

describe('pages of large tokens', () => {
  let reading: string[];
  let letGo: (() => void)[];
  let parts: PageParts;

  beforeEach(() => {
    reading = [];
    letGo = [];
    const run = async <Row>(_: unknown, [tenantId, ids]: readonly unknown[] = []): Promise<Row[]> => {
      reading.push(tenantId as string);
      await new Promise<void>((resolve) => letGo.push(resolve));
      return (ids as string[]).map((id) => ({ tenantId, id, type: 'token', data: Buffer.alloc(0) }) as Row);
    };
    const open = (rows: readonly TokenRow[]) => Promise.resolve(rows.map((row) => ({ ...row, mask: null }) as never));
    const largePages = createLargePages({ metrics: createMetrics(), limits: LIMITS });
    parts = { database: { run }, vault: { open } as unknown as TokenVault, largePages } as unknown as PageParts;
  });

  function page(tenantId: string, { large, signal }: { large: boolean; signal?: AbortSignal }): Promise<ShownToken[]> {
    const token = { tenantId, id: 'x', data: large ? null : Buffer.alloc(0), bytes: large ? LARGE : 10 };
    const shown = showPage(parts, [token as unknown as ListedToken], () => 'reveal', signal);
    shown.catch(() => undefined);
    return shown;
  }
  async function refusal(shown: Promise<unknown>): Promise<string> {
    const error = await shown.catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(DomainError).with.property('kind', 'unavailable');
    return (error as DomainError).message;
  }
  const settled = () => new Promise(setImmediate);

  it('are few at a time, of one tenant and in all, while small ones and others do not wait', async () => {
    const pages = Array.from({ length: 5 }, () => page('a', { large: true }));
    expect(reading).to.deep.equal(['a', 'a']);
    expect(await page('a', { large: false })).to.have.length(1);
    expect(await showPage(parts, [], () => 'reveal')).to.deep.equal([]);

    const other = page('b', { large: true });
    expect(reading).to.deep.equal(['a', 'a', 'b']);
    letGo[2]!();
    expect(await other).to.have.length(1);

    for (let index = 0; index < 6; index++) {
      letGo[index]!();
      await settled();
    }
    expect(await Promise.all(pages)).to.have.length(5);
    expect(reading).to.have.length(6);
  });

  it('are refused where too many wait, and forgotten where nobody waits for them', async () => {
    const departure = new AbortController();
    for (let count = 0; count < 4; count++) void page('a', { large: true });
    const left = page('a', { large: true, signal: departure.signal });
    expect(await refusal(page('a', { large: true }))).to.match(/^Too many pages of large tokens are under way/);
    departure.abort();
    expect(await refusal(left)).to.match(/went away/);
    expect(reading).to.deep.equal(['a', 'a']);

    for (let index = 0; index < 4; index++) {
      letGo[index]!();
      await settled();
    }
    expect(reading).to.have.length(4);
  });

  it('are without a token that may not be seen any more as it has become', async () => {
    const token = { tenantId: 'a', id: 'x', data: null, bytes: LARGE } as unknown as ListedToken;
    const asked: AccessSubject[] = [];
    const shown = showPage(parts, [token], (each) => {
      asked.push(each);
      return undefined;
    });
    letGo[0]!();
    expect(await shown).to.deep.equal([]);
    expect(asked).to.have.length(1);
  });
});
