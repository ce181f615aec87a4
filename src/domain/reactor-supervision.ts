import type { ReactorWorkload } from './declarations.ts';

/** First line on a supervisor's standard input. Never in arguments or environment: others on the machine see those. */
export type SupervisorStart =
  { mode: 'run'; credential: string; workload: ReactorWorkload } | { mode: 'check'; credential: string };

/** Lines on a supervisor's standard output. */
export type SupervisorLine =
  /** `confinement`: whether the system holds the process of the code, or Node's permissions alone do. */
  | { listening: string; confinement?: 'namespaces' | 'none' }
  /** The code cannot run at all; the supervisor goes on to exit. */
  | { refused: string }
  /** The process of the code ended, or was ended, in the middle of its work. */
  | { stopped: StopReason }
  | { log: ReactorLog };

/** A line that a reactor's code printed, with the plaintext of its request taken out. */
export interface ReactorLog {
  level: 'debug' | 'info' | 'warn' | 'error';
  message: string;
  traceId: string;
  tenantId: string;
  reactorId: string;
  revision: string;
}

export type StopReason = 'timed-out' | 'out-of-memory' | 'crashed';

/** How a supervisor ends that has refused the code it was given: no other start of it can end better. */
export const CODE_REFUSED_EXIT = 65;
