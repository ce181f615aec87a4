/** The part of json-p3 that answers queries (RFC 9535). */
export interface JsonPathLibrary {
  jsonpath: {
    query(path: string, value: unknown): Iterable<{ value: unknown; location: (string | number)[] }>;
    compile(path: string): unknown;
  };
}

/** The package jsonpath: its ways to ask, with the grammar of RFC 9535 and no evaluation of JavaScript. */
export function createJsonPath({ jsonpath }: JsonPathLibrary) {
  type Path = (string | number)[];
  interface Node {
    path: Path;
    value: unknown;
  }

  /** `[(@.length-1)]`, the one script that is in use, is an index from the end. */
  const standard = (path: unknown): string =>
    (Array.isArray(path) ? stringify(path as Path) : `${path as string}`).replace(
      /\[\(\s*@\.length\s*-\s*(\d+)\s*\)\]/g,
      '[-$1]',
    );

  function nodes(value: unknown, path: unknown, count = Infinity): Node[] {
    const found: Node[] = [];
    for (const { value: item, location } of jsonpath.query(standard(path), value)) {
      if (found.length >= count) break;
      found.push({ path: ['$', ...location], value: item });
    }
    return found;
  }
  const query = (value: unknown, path: unknown, count?: number): unknown[] =>
    nodes(value, path, count).map((node) => node.value);
  const paths = (value: unknown, path: unknown, count?: number): Path[] =>
    nodes(value, path, count).map((node) => node.path);

  function holderOf(value: unknown, path: Path): Record<string | number, unknown> {
    return path.slice(1, -1).reduce((at, name) => (at as Record<string, unknown>)[name], value) as never;
  }
  function value(root: unknown, path: unknown, ...rest: unknown[]): unknown {
    const first = nodes(root, path, 1)[0];
    if (rest.length === 0 || !first || first.path.length < 2) return first?.value;
    return (holderOf(root, first.path)[first.path.at(-1)!] = rest[0]);
  }
  function parent(root: unknown, path: unknown): unknown {
    const first = nodes(root, path, 1)[0];
    return first && first.path.length > 1 ? holderOf(root, first.path) : undefined;
  }
  function apply(root: unknown, path: unknown, change: (value: unknown) => unknown): Node[] {
    // The deepest first, so that what is put in place is not looked into again.
    const found = nodes(root, path).sort((a, b) => b.path.length - a.path.length);
    for (const node of found) {
      if (node.path.length < 2) continue;
      node.value = holderOf(root, node.path)[node.path.at(-1)!] = change(node.value);
    }
    return found;
  }
  function stringify(path: Path | string): string {
    if (typeof path === 'string') return path;
    const names = path[0] === '$' ? path.slice(1) : path;
    const text = (name: string | number): string =>
      typeof name === 'number' ? `[${name}]` : /^[a-z_][\w]*$/i.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
    return `$${names.map(text).join('')}`;
  }
  return { query, value, paths, nodes, parent, apply, stringify };
}
