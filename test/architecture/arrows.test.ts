import { expect } from 'chai';
import { reachableFrom, roomOf, violations } from './arrows.ts';
import type { SourceFile } from './arrows.ts';
import { readSourceTree } from './source-tree.ts';

const tree = readSourceTree();

function planted(path: string, text: string): SourceFile {
  return { path, text };
}

describe('arrows between the rooms of src', () => {
  it('all point the way that the README says', () => {
    expect(tree).not.to.be.empty;
    expect(violations(tree)).to.deep.equal([]);
  });

  const refused: readonly SourceFile[] = [
    planted('services/planted.ts', "import { app } from '../api/app.ts';"),
    planted('data/planted.ts', "import type { Tokens } from '../services/tokens.ts';"),
    planted('domain/planted.ts', "export * from '../platform/clock.ts';"),
    planted('domain/planted.ts', "import { readFileSync } from 'node:fs';"),
    planted('expressions/planted.ts', "import { createLogger } from '../platform/logger.ts';"),
    planted('operator/sources/planted.ts', "await import('../../data/tokens.ts');"),
    planted('services/planted.ts', "import { Pool } from '../reactors/host/pool.ts';"),
    planted('api/planted.ts', "let pool: import('../data/pool.ts').Pool;"),
    planted('reactors/guest/planted.ts', "import { isJsonObject } from '../../domain/json.ts';"),
    planted('cli/planted.ts', "import { readCommand } from '../config/command.ts';"),
    planted('data/planted.ts', "import '../main.ts';"),
  ];
  for (const file of refused) {
    it(`refuses, in ${file.path}, ${file.text}`, () => {
      expect(violations([file])).to.have.lengthOf(1);
    });
  }

  const accepted: readonly SourceFile[] = [
    planted('services/planted.ts', "import { createReactorClient } from '../reactors/client.ts';"),
    planted('reactors/guest/planted.ts', "import type { Json } from '../../domain/json.ts';"),
    planted('roles/planted.ts', "import { createPool } from '../data/pool.ts';"),
    planted('main.ts', "await import('./roles/standalone.ts');"),
  ];
  for (const file of accepted) {
    it(`accepts, in ${file.path}, ${file.text}`, () => {
      expect(violations([file])).to.deep.equal([]);
    });
  }

  it('refuse a room that they do not name', () => {
    expect(violations([planted('utils/planted.ts', '')])).to.deep.equal([
      'utils/planted.ts: src/utils is not a known room',
    ]);
  });

  it('refuse a file beside the rooms', () => {
    expect(violations([planted('server.ts', '')])).to.deep.equal(['server.ts is in no room']);
  });
});

describe('processes without plaintext', () => {
  const withoutPlaintext = (path: string): boolean =>
    path.startsWith('operator/') || ['roles/operator.ts', 'roles/reactor.ts'].includes(path);

  function plaintextReachedFrom(files: readonly SourceFile[]): string[] {
    return files
      .filter(({ path }) => withoutPlaintext(path))
      .flatMap(({ path }) => [...reachableFrom(path, files)])
      .filter((path) => ['data', 'keys', 'services'].includes(roomOf(path) ?? ''));
  }

  it('never reach the rooms that hold plaintext or keys', () => {
    expect(plaintextReachedFrom(tree)).to.deep.equal([]);
  });

  it('would be caught reaching them through another file', () => {
    const reached = plaintextReachedFrom([
      planted('roles/reactor.ts', "import { host } from '../reactors/host/pool.ts';"),
      planted('reactors/host/pool.ts', "import { seal } from '../../keys/sealing.ts';"),
      planted('keys/sealing.ts', 'export const seal = 1;'),
    ]);
    expect(reached).to.deep.equal(['keys/sealing.ts']);
  });
});
