import type { ReactorWorkload } from './declarations.ts';

/** First line on a supervisor's standard input. Never in arguments or environment: others on the machine see those. */
export type SupervisorStart =
  { mode: 'run'; credential: string; workload: ReactorWorkload } | { mode: 'check'; credential: string };

/** Lines on a supervisor's standard output. */
export type SupervisorLine =
  | { listening: string }
  /** The code cannot run at all; the supervisor goes on to exit. */
  | { refused: string }
  /** The process of the code ended, or was ended, in the middle of its work. */
  | { stopped: StopReason };

export type StopReason = 'timed-out' | 'out-of-memory' | 'crashed';
