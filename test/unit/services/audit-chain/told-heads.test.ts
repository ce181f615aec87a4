import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readToldHeads } from '../../../../src/services/audit-chain/told-heads.ts';

const HOUR = '2026-01-02T03:00:00.000Z';
const HASH = 'ab'.repeat(32);

describe('heads that a log tells', () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'tokenkeep-heads-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  const line = (fields: object): string => JSON.stringify({ level: 'info', message: 'Audit chain head', ...fields });
  async function read(lines: readonly string[]) {
    const file = join(folder, 'log');
    await writeFile(file, lines.join('\n'));
    return [...(await readToldHeads(file))];
  }

  it('are the last ones of each chain, by hour', async () => {
    const head = { writer: 'w', hour: HOUR, n: 1, hash: HASH };
    const read1 = await read([
      line(head),
      line({ ...head, n: 3 }),
      line({ ...head, n: 2 }),
      line({ ...head, writer: 'v' }),
    ]);
    expect(read1).to.have.length(1);
    const [hour, heads] = read1[0]!;
    expect(hour).to.equal(Date.parse(HOUR));
    expect(heads.map(({ writer, n }) => `${writer} ${n}`)).to.deep.equal(['w 3', 'v 1']);
    expect(heads[0]!.hash.toString('hex')).to.equal(HASH);
  });

  const passedOver: Record<string, string> = {
    'other messages': JSON.stringify({ message: 'Sweep failed; it is tried again' }),
    'text that is no JSON': 'INFO "Audit chain head" writer=w',
    'a head without an hour': line({ writer: 'w', n: 1, hash: HASH }),
    'a head with an hour that is none': line({ writer: 'w', hour: 'three', n: 1, hash: HASH }),
    'a head with a short hash': line({ writer: 'w', hour: HOUR, n: 1, hash: 'ab' }),
    'a head whose number is none': line({ writer: 'w', hour: HOUR, n: '1', hash: HASH }),
    'a head that another message quotes': JSON.stringify({ message: 'x', quoted: 'Audit chain head' }),
  };
  for (const [what, text] of Object.entries(passedOver)) {
    it(`do not take in ${what}`, async () => {
      expect(await read([text, ''])).to.deep.equal([]);
    });
  }
});
