import { ERROR_CLASSES } from '../errors.ts';
import { createBuffer } from '../guest/buffer.ts';
import { createCrypto } from '../guest/crypto.ts';
import { createEncoding } from '../guest/encoding.ts';
import { createErrors } from '../guest/errors.ts';
import { createEvents } from '../guest/events.ts';
import { createHarness } from '../guest/harness.ts';
import { installGuest } from '../guest/install.ts';
import type { GuestMakers } from '../guest/install.ts';
import { createModules } from '../guest/modules.ts';
import { createStructuredClone } from '../guest/structured-clone.ts';
import { createSvc } from '../guest/svc.ts';
import { createTimers } from '../guest/timers.ts';
import { createUrl } from '../guest/url.ts';
import { createUtil } from '../guest/util.ts';

const MAKERS: GuestMakers = {
  createBuffer,
  createCrypto,
  createEncoding,
  createErrors,
  createEvents,
  createHarness,
  createModules,
  createStructuredClone,
  createSvc,
  createTimers,
  createUrl,
  createUtil,
};

/**
 * The script that furnishes a context: the functions of `guest/` by their source text. Node has already taken their
 * types out, the compiler watches over them as over any other code, and nothing has to be bundled.
 */
export function guestProgram(): string {
  const makers = Object.entries(MAKERS).map(([name, make]) => `${name}: ${String(make)}`);
  return `'use strict';\n(${String(installGuest)})({\n${makers.join(',\n')}\n}, ${JSON.stringify(Object.keys(ERROR_CLASSES))})`;
}
