import ts from 'typescript';

/** What a source file imports. Paths are relative to src, `/`-separated. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export interface Import {
  readonly from: string;
  /** A file of src, or the name of a package. */
  readonly to: string;
  /** Erased before the program runs. */
  readonly typeOnly: boolean;
}

/** Rooms, and the rooms that each may import. What is not listed here does not exist. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  roles: [
    'api',
    'services',
    'data',
    'keys',
    'expressions',
    'reactors',
    'operator',
    'cli',
    'domain',
    'platform',
    'config',
  ],
  api: ['services', 'domain', 'platform'],
  services: ['data', 'keys', 'expressions', 'reactors', 'domain', 'platform'],
  data: ['domain', 'platform'],
  keys: ['domain', 'platform'],
  reactors: ['domain', 'platform'],
  operator: ['domain', 'platform'],
  expressions: ['domain'],
  domain: [],
  platform: [],
  cli: ['domain', 'platform'],
  config: ['domain'],
};

/** What services may know of reactors: the client and the vocabulary, never the host that runs customer code. */
const REACTORS_FOR_SERVICES = ['reactors/client.ts', 'reactors/types.ts', 'reactors/errors.ts'];

/** The entry: it may reach every role, the settings and what a process needs before it has a role. */
const ENTRY = 'main.ts';
const ENTRY_ROOMS = ['roles', 'config', 'platform', 'cli'];

/** The room of a path, or undefined for a file beside the rooms. */
export function roomOf(path: string): string | undefined {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : undefined;
}

/** Static imports, re-exports and dynamic imports of a literal. */
export function importsOf(file: SourceFile): Import[] {
  const source = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest);
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, typeOnly: boolean): void => {
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) {
      found.push({ from: file.path, to: resolveImport(file.path, specifier.text), typeOnly });
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    } else if (ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier, node.isTypeOnly);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal, true);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], false);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Each import that goes against an arrow, and each room that has none, as a sentence. */
export function violations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const room = roomOf(file.path);
    if (room === undefined && file.path !== ENTRY) return [`${file.path} is in no room`];
    if (room !== undefined && ARROWS[room] === undefined) return [`${file.path}: src/${room} is not a known room`];
    return importsOf(file)
      .filter((edge) => !isAllowed(edge))
      .map(({ from, to }) => `${from} must not import ${to}`);
  });
}

function isAllowed({ from, to, typeOnly }: Import): boolean {
  if (from.startsWith('reactors/guest/') && !typeOnly && !to.startsWith('reactors/guest/')) return false;
  if (!to.endsWith('.ts')) return roomOf(from) !== 'domain' || isPackageOfDomain(to);
  const source = roomOf(from);
  const target = roomOf(to);
  if (target === undefined) return false;
  if (source === undefined) return ENTRY_ROOMS.includes(target);
  if (source === target) return true;
  if (source === 'services' && target === 'reactors') return REACTORS_FOR_SERVICES.includes(to);
  return ARROWS[source]?.includes(target) === true;
}

/** Pure rules do no I/O: of Node's own modules they may use what computes. */
function isPackageOfDomain(name: string): boolean {
  return !name.startsWith('node:') || name === 'node:crypto';
}

/** Files that `start` reaches while the program runs, itself included. */
export function reachableFrom(start: string, files: readonly SourceFile[]): Set<string> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reached = new Set<string>();
  const pending = [start];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const file = byPath.get(path);
    if (file === undefined || reached.has(path)) continue;
    reached.add(path);
    pending.push(
      ...importsOf(file)
        .filter(({ typeOnly }) => !typeOnly)
        .map(({ to }) => to),
    );
  }
  return reached;
}

function resolveImport(from: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}
