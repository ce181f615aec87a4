import { expect } from 'chai';
import { breaches } from './habits.ts';
import { readSourceTree } from './source-tree.ts';

describe('habits of src', () => {
  it('hold in every file', () => {
    expect(readSourceTree().flatMap(breaches)).to.deep.equal([]);
  });

  const refused: readonly (readonly [string, string, string])[] = [
    ['services/planted.ts', 'export const f = () => process.env.HOME;', 'reads process.env'],
    ['api/planted.ts', "import { env } from 'node:process';", 'takes process from a module'],
    ['roles/planted.ts', 'export function f() { process.exit(1); }', 'calls process.exit'],
    ['api/planted.ts', "export const f = () => console.log('x');", 'writes to the console'],
    ['domain/planted.ts', 'export enum Colour { Red }', 'an enum'],
    ['data/planted.ts', 'export const pool = await connect();', 'awaits while it is imported'],
    ['data/planted.ts', 'migrations.sort();', 'acts while it is imported'],
    ['data/planted.ts', "import './register.ts';", 'acts while it is imported'],
    ['data/planted.ts', '\n'.repeat(301), '301 lines, 300 at most'],
  ];
  for (const [path, text, breach] of refused) {
    it(`would be caught broken: ${path} ${breach}`, () => {
      expect(breaches({ path, text })).to.deep.equal([`${path}: ${breach}`]);
    });
  }

  it('allow an await inside a function', () => {
    expect(breaches({ path: 'data/planted.ts', text: 'export const f = async () => await g();' })).to.deep.equal([]);
  });
});
