import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { declaredRoutes } from '../../support/declared-routes.ts';

const CONFIGURATION = new URL('../../../config/schemathesis.toml', import.meta.url);

describe('the configuration of the judge', () => {
  it('leaves out what is answered by 501 alone, and nothing else', async () => {
    const text = await readFile(CONFIGURATION, 'utf8');
    const tables = text
      .split('[[operations]]')
      .slice(1)
      .filter((table) => /^enabled = false$/m.test(table));
    expect(tables).to.have.length(1);
    const [, list = ''] = /^include-path = \[([^\]]*)\]$/m.exec(tables[0]!) ?? [];
    const leftOut = [...list.matchAll(/"([^"]+)"/g)].map(([, path]) => path);
    const unserved = (await declaredRoutes()).filter(({ responses }) => responses[501] && !responses[200]);
    const paths = unserved.flatMap(({ known = [] }) => known.map(({ path }) => path));
    expect(leftOut).to.have.members([...new Set(paths)]);
  });
});
