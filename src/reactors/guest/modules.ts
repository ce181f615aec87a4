import type { ModuleName } from '../modules.ts';

/** `require`: a closed table, which a missing module's error lists. A module is made at its first `require`. */
export function createModules(makers: Record<ModuleName, () => unknown>) {
  const table = new Map<string, () => unknown>(Object.entries(makers));
  const loaded = new Map<string, unknown>();

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

  function require(request: unknown): unknown {
    const name = String(request).replace(/^node:/, '');
    const make = table.get(name);
    if (!make) throw new MissingModuleError(name, [...table.keys()]);
    if (!loaded.has(name)) loaded.set(name, make());
    return loaded.get(name);
  }

  return { require, missingModule };
}
