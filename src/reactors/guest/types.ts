/**
 * The one way out of the isolate: strings in, one string back, at once. The host knows the operations and takes no
 * argument for what it claims to be.
 */
export type HostCall = (operation: string, ...texts: string[]) => string;

/** The one way in: what happened, to which timer or call, and a text. `code` comes with `load` and `start` only. */
export type Enter = (event: GuestEvent, id: string, payload: string, code?: ModuleWrapper) => void;

export type GuestEvent = 'load' | 'start' | 'timer' | 'answer';

/** A reactor's code inside the CommonJS wrapper. */
export type ModuleWrapper = (
  module: { exports: unknown },
  exports: unknown,
  require: (name: string) => unknown,
) => unknown;
