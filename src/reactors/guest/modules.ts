import type { GuestBuffer } from './buffer.ts';
import type { GuestCrypto } from './crypto.ts';
import type { GuestUrl } from './url.ts';

export interface ModuleParts {
  Buffer: GuestBuffer;
  crypto: GuestCrypto;
  url: GuestUrl;
  errors: Record<string, unknown>;
  /** Makers of the modules that few reactors ask for, run at the first `require` in an invocation. */
  makeEvents: () => unknown;
  makeUtil: () => unknown;
}

/** `require`: a closed table, which a missing module's error lists. */
export function createModules({ Buffer, crypto, url, errors, makeEvents, makeUtil }: ModuleParts) {
  const loaded = new Map<string, unknown>();
  const { URL, URLSearchParams } = url;

  let missingModule: (error: unknown) => string | undefined = () => undefined;

  // A private field cannot be forged: an error with the same code and message is not one of ours.
  class MissingModuleError extends Error {
    readonly code = 'MODULE_NOT_FOUND';
    readonly #module: string;

    constructor(module: string, available: string[]) {
      super(`Cannot find module '${module}'. Available: ${available.join(', ')}`);
      this.#module = module;
    }

    static {
      missingModule = (error) =>
        typeof error === 'object' && error !== null && #module in error ? error.#module : undefined;
    }
  }

  function querystring() {
    const parse = (text: string) => {
      const result = Object.create(null) as Record<string, string | string[]>;
      for (const [name, value] of new URLSearchParams(text)) {
        const before = result[name!];
        result[name!] = before === undefined ? value! : [before, value!].flat();
      }
      return result;
    };
    const stringify = (value: Record<string, unknown>) =>
      Object.entries(value)
        .flatMap(([name, item]) =>
          [item]
            .flat()
            .map(
              (one) => `${encodeURIComponent(name)}=${encodeURIComponent(String((one as string | undefined) ?? ''))}`,
            ),
        )
        .join('&');
    return {
      parse,
      stringify,
      decode: parse,
      encode: stringify,
      escape: encodeURIComponent,
      unescape: decodeURIComponent,
    };
  }

  function uuid() {
    const pattern = /^([0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|0{8}(-0{4}){3}-0{12})$/i;
    const validate = (text: unknown) => typeof text === 'string' && pattern.test(text);
    const v5 = (name: unknown, namespace: string) => {
      if (!validate(namespace)) throw new TypeError('Invalid UUID');
      const hash = crypto.module.createHash('sha1');
      hash.update(Buffer.from(namespace.replace(/-/g, '') as never, 'hex')).update(name);
      const bytes = (hash.digest() as InstanceType<GuestBuffer>).subarray(0, 16);
      bytes[6] = (bytes[6]! & 0x0f) | 0x50;
      bytes[8] = (bytes[8]! & 0x3f) | 0x80;
      return Buffer.from(bytes as never)
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    };
    return { v4: crypto.module.randomUUID, v5, validate, NIL: '00000000-0000-0000-0000-000000000000' };
  }

  const table = new Map<string, () => unknown>([
    ['@tokenkeep/errors', () => errors],
    ['buffer', () => ({ Buffer })],
    ['crypto', () => crypto.module],
    ['events', makeEvents],
    ['querystring', querystring],
    ['url', () => ({ URL, URLSearchParams })],
    ['util', makeUtil],
    ['uuid', uuid],
  ]);

  function require(request: unknown): unknown {
    const name = String(request).replace(/^node:/, '');
    const make = table.get(name);
    if (!make) throw new MissingModuleError(name, [...table.keys()]);
    if (!loaded.has(name)) loaded.set(name, make());
    return loaded.get(name);
  }

  return { require, missingModule };
}
