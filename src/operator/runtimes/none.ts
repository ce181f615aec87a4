import type { ReactorRuntime } from './types.ts';

/** For an operator that has nowhere to run reactors. What is asked of it has no effect. */
export function createNoRuntime(): ReactorRuntime {
  const nowhere =
    'This operator has nowhere to run reactors: start it with --reactor-image. Till then the API is not told of this ' +
    'one, since it would have an instance check the code first';
  return {
    nowhere,
    apply: async () => undefined,
    remove: async () => undefined,
    list: () => [],
    onChange: () => undefined,
    checker: () => Promise.reject(new Error(nowhere)),
    stop: async () => undefined,
  };
}
