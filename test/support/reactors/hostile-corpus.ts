import { HOSTILE_IN_FLOODS } from './hostile/floods.ts';
import { HOSTILE_IN_MEMORY } from './hostile/memory.ts';
import { HOSTILE_BY_PLATFORM } from './hostile/platform.ts';
import { HOSTILE_IN_PROTOTYPES } from './hostile/prototypes.ts';
import { HOSTILE_IN_REACH } from './hostile/reach.ts';
import { HOSTILE_TO_REQUESTS } from './hostile/requests.ts';
import { HOSTILE_IN_RESULTS } from './hostile/results.ts';
import { HOSTILE_IN_TIME } from './hostile/time.ts';
import type { HostileReactor } from './hostile/types.ts';

/** Every hostile reactor, by what it is after. */
export const HOSTILE_CORPUS: Readonly<Record<string, readonly HostileReactor[]>> = {
  'time without end': HOSTILE_IN_TIME,
  'memory without end': HOSTILE_IN_MEMORY,
  'results and errors that strike': HOSTILE_IN_RESULTS,
  'floods of what the host has to answer': HOSTILE_IN_FLOODS,
  'the web platform and the modules': HOSTILE_BY_PLATFORM,
  'built-ins that the harness might use': HOSTILE_IN_PROTOTYPES,
  'a way out of the isolate': HOSTILE_IN_REACH,
  'other requests': HOSTILE_TO_REQUESTS,
};
