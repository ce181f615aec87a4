/** Renders values as Node's `util.inspect` and `util.format` do, but for columns of long arrays and for colours. */
export function createInspect() {
  const LINE = 80;
  const MAX_ITEMS = 100;
  const NAME = /^[A-Za-z_$][\w$]*$/;

  interface Options {
    depth: number;
    breakLength: number;
    compact: number;
  }
  interface State extends Options {
    above: object[];
    circular: Map<object, number>;
    /** Level of the object that was rendered last. */
    last: { level: number };
    indent: number;
    level: number;
  }

  function quote(text: string): string {
    const mark = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !text.includes('`') ? '`' : "'";
    const escaped = JSON.stringify(text)
      .slice(1, -1)
      .replace(/\\"/g, '"')
      .replace(/\\u00([0-9a-f]{2})/g, (_, hex: string) => `\\x${hex.toUpperCase()}`);
    return mark + (mark === "'" ? escaped.replace(/'/g, "\\'") : escaped) + mark;
  }

  function primitive(value: unknown): string | undefined {
    if (typeof value === 'string') return quote(value);
    if (typeof value === 'bigint') return `${value}n`;
    if (Object.is(value, -0)) return '-0';
    if (typeof value === 'symbol') return value.toString();
    return typeof value === 'object' || typeof value === 'function' ? undefined : `${value as number}`;
  }

  function classOf(value: object): string | null {
    for (let proto: unknown = value; proto; proto = Object.getPrototypeOf(proto)) {
      const found = Object.getOwnPropertyDescriptor(proto, 'constructor')?.value as { name?: unknown } | undefined;
      if (typeof found === 'function' && found['name'] !== '') return String(found['name']);
    }
    return null;
  }

  function errorText(error: Error): string {
    const stack = typeof error.stack === 'string' && error.stack !== '' ? error.stack : '';
    return stack === '' ? `[${String(error)}]` : stack;
  }

  function list(items: unknown[], state: State): string[] {
    const shown = items.slice(0, MAX_ITEMS).map((item) => render(item, state));
    const more = items.length - MAX_ITEMS;
    return more > 0 ? [...shown, `... ${more} more item${more > 1 ? 's' : ''}`] : shown;
  }

  function members(value: object, skip: (name: string) => boolean, state: State): string[] {
    return Reflect.ownKeys(value).flatMap((key) => {
      const found = Object.getOwnPropertyDescriptor(value, key)!;
      if (!found.enumerable || (typeof key === 'string' && skip(key))) return [];
      const name = typeof key === 'symbol' ? `[${key.toString()}]` : NAME.test(key) ? key : quote(key);
      if (found.get) return [`${name}: ${found.set ? '[Getter/Setter]' : '[Getter]'}`];
      if (found.set) return [`${name}: [Setter]`];
      state.indent += 2;
      const text = render(found.value, state);
      state.indent -= 2;
      return [`${name}: ${text}`];
    });
  }

  function arrange(head: string, [open, close]: readonly [string, string], parts: string[], state: State): string {
    const before = head === '' ? '' : `${head} `;
    if (parts.length === 0) return `${before}${open}${close}`;
    const length = parts.reduce((sum, part) => sum + part.length + 1, parts.length);
    const start = state.indent + open.length + head.length + 10;
    // As compact as Node: one line holds no more than three levels.
    const isShallow = state.last.level - state.level < state.compact;
    if (isShallow && length + start <= state.breakLength && !parts.some((part) => part.includes('\n')))
      return `${before}${open} ${parts.join(', ')} ${close}`;
    const margin = `\n${' '.repeat(state.indent)}`;
    return `${before}${open}${margin}  ${parts.join(`,${margin}  `)}${margin}${close}`;
  }

  function body(value: object, name: string | null, state: State): string {
    const prefix = (usual: string) => (name === usual ? '' : (name ?? `[${usual}: null prototype]`));
    const isIndex = (key: string) => /^\d+$/.test(key);
    const never = () => false;
    const inner = { ...state, level: state.level + 1 };
    const brackets = ['[', ']'] as const;
    const braces = ['{', '}'] as const;
    if (Array.isArray(value)) {
      const head = name === 'Array' ? '' : `${name ?? '[Array: null prototype]'}(${value.length})`;
      inner.indent += 2;
      const items = list(value, inner);
      inner.indent -= 2;
      return arrange(head, brackets, [...items, ...members(value, isIndex, inner)], state);
    }
    if (value instanceof Set) {
      inner.indent += 2;
      return arrange(`${name}(${value.size})`, braces, list([...value], inner), state);
    }
    if (value instanceof Map) {
      inner.indent += 2;
      const pairs = [...value].map(([key, item]) => `${render(key, inner)} => ${render(item, inner)}`);
      return arrange(`${name}(${value.size})`, braces, pairs, state);
    }
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
      const items = Array.from(value as unknown as Iterable<unknown>);
      if (name === 'Buffer') {
        const hex = items.slice(0, 50).map((byte) => (byte as number).toString(16).padStart(2, '0'));
        const more = items.length - hex.length;
        return `<Buffer${hex.map((pair) => ` ${pair}`).join('')}${more > 0 ? ` ... ${more} more bytes` : ''}>`;
      }
      return arrange(`${name}(${items.length})`, brackets, list(items, inner), state);
    }
    const own = members(value, never, inner);
    const single = (text: string) => (own.length === 0 ? text : arrange(text, braces, own, state));
    if (value instanceof Error) return single(errorText(value));
    if (typeof value === 'function') {
      const kind = /^class\b/.test(Function.prototype.toString.call(value)) ? 'class' : (name ?? 'Function');
      const title = (value as { name?: string }).name;
      if (kind === 'class') return single(`[class ${title || '(anonymous)'}]`);
      return single(title ? `[${kind}: ${title}]` : `[${kind} (anonymous)]`);
    }
    if (value instanceof Date) return single(isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString());
    if (value instanceof RegExp) return single(String(value));
    if (value instanceof Promise) return arrange('Promise', braces, ['<pending>'], state);
    if (value instanceof String || value instanceof Number || value instanceof Boolean)
      return `[${name}: ${primitive(value.valueOf())}]`;
    return arrange(prefix('Object'), braces, own, state);
  }

  function render(value: unknown, state: State): string {
    const text = primitive(value);
    if (text !== undefined) return text;
    if (value === null) return 'null';
    const object = value as object;
    if (state.above.includes(object)) {
      if (!state.circular.has(object)) state.circular.set(object, state.circular.size + 1);
      return `[Circular *${state.circular.get(object)}]`;
    }
    const name = classOf(object);
    const isPlain = typeof object === 'object' && !(object instanceof Error) && !(object instanceof Date);
    const hasMore = isPlain && !(object instanceof RegExp) && Object.keys(object).length > 0;
    if (state.level > state.depth && (hasMore || object instanceof Map || object instanceof Set)) {
      return Array.isArray(object) ? '[Array]' : `[${name ?? 'Object: null prototype'}]`;
    }
    const custom = (object as Record<symbol, unknown>)[Symbol.for('nodejs.util.inspect.custom')];
    if (typeof custom === 'function' && custom !== inspect) {
      const shown = Reflect.apply(custom, object, [state.depth - state.level, {}, inspect]) as unknown;
      return typeof shown === 'string' ? shown : render(shown, state);
    }
    state.above.push(object);
    if (!isPlain || hasMore || object instanceof Map || object instanceof Set) state.last.level = state.level;
    const rendered = body(object, name, state);
    state.above.pop();
    const reference = state.circular.get(object);
    return reference === undefined ? rendered : `<ref *${reference}> ${rendered}`;
  }

  function inspect(value: unknown, options: Partial<Options> | boolean = {}): string {
    const given = typeof options === 'object' ? options : {};
    const { depth = 2, breakLength = LINE, compact = 3 } = given;
    const levels = depth === null ? Infinity : depth;
    return render(value, {
      depth: levels,
      breakLength,
      compact: Number(compact),
      above: [],
      circular: new Map(),
      last: { level: 0 },
      indent: 0,
      level: 0,
    });
  }

  const plainly = (value: unknown): string => (typeof value === 'string' ? value : inspect(value));

  function format(...values: unknown[]): string {
    const [first, ...rest] = values;
    if (typeof first !== 'string') return values.map(plainly).join(' ');
    const text =
      values.length === 1
        ? first
        : first.replace(/%[sdifjoOc%]/g, (mark) => {
            if (mark === '%%') return '%';
            if (rest.length === 0) return mark;
            const value = rest.shift();
            switch (mark) {
              case '%s':
                if (typeof value === 'bigint' || Object.is(value, -0)) return primitive(value)!;
                return typeof value === 'object' && value !== null ? inspect(value, { depth: 0 }) : String(value);
              case '%d':
              case '%i':
              case '%f': {
                if (typeof value === 'bigint') return `${value}n`;
                if (typeof value === 'symbol' || (typeof value === 'object' && value !== null)) return 'NaN';
                const text = String(value);
                const number = mark === '%d' ? Number(value) : mark === '%i' ? parseInt(text) : parseFloat(text);
                return Object.is(number, -0) ? '-0' : String(number);
              }
              case '%j':
                return JSON.stringify(value);
              case '%c':
                return '';
              default:
                return inspect(value, mark === '%o' ? { depth: 4 } : {});
            }
          });
    return [text, ...rest.map(plainly)].join(' ');
  }

  return { inspect, format };
}

export type GuestInspect = ReturnType<typeof createInspect>;
