import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ERROR_CLASSES } from '../errors.ts';
import { createAbort } from '../guest/abort.ts';
import { createAxios } from '../guest/axios.ts';
import { createBuffer } from '../guest/buffer.ts';
import { createCalls } from '../guest/calls.ts';
import { createConsole } from '../guest/console.ts';
import { createCrypto } from '../guest/crypto.ts';
import { createCryptoKeys } from '../guest/crypto-keys.ts';
import { createCryptoTerms } from '../guest/crypto-terms.ts';
import { createEncoding } from '../guest/encoding.ts';
import { createErrors } from '../guest/errors.ts';
import { createEvents } from '../guest/events.ts';
import { createFetch } from '../guest/fetch.ts';
import { createHarness } from '../guest/harness.ts';
import { createHeaders } from '../guest/headers.ts';
import { createInspect } from '../guest/inspect.ts';
import { createJsonPath } from '../guest/json-path.ts';
import { createLegacyUrl } from '../guest/legacy-url.ts';
import { createModules } from '../guest/modules.ts';
import { createNodeFetch } from '../guest/node-fetch.ts';
import { createQuerystring } from '../guest/querystring.ts';
import { createStructuredClone } from '../guest/structured-clone.ts';
import { createSubtle } from '../guest/subtle.ts';
import { createSvc } from '../guest/svc.ts';
import { createTimers } from '../guest/timers.ts';
import { createUrl } from '../guest/url.ts';
import { createUtil } from '../guest/util.ts';
import { createUuid } from '../guest/uuid.ts';
import { installGuest } from '../guest/install.ts';
import type { GuestMakers } from '../guest/install.ts';

const MAKERS: Omit<GuestMakers, 'loadJsonPath'> = {
  createAbort,
  createAxios,
  createBuffer,
  createCalls,
  createConsole,
  createCrypto,
  createCryptoKeys,
  createCryptoTerms,
  createEncoding,
  createErrors,
  createEvents,
  createFetch,
  createHarness,
  createHeaders,
  createInspect,
  createJsonPath,
  createLegacyUrl,
  createModules,
  createNodeFetch,
  createQuerystring,
  createStructuredClone,
  createSubtle,
  createSvc,
  createTimers,
  createUrl,
  createUtil,
  createUuid,
};

/**
 * The script that furnishes a context: the functions of `guest/` by their source text. Node has already taken their
 * types out, the compiler watches over them as over any other code, and nothing has to be bundled. V8 compiles each
 * function when it is first called, once for all contexts.
 */
export function guestProgram(): string {
  const makers = Object.entries(MAKERS).map(([name, make]) => `${name}: ${String(make)}`);
  makers.push(`loadJsonPath() {\n${jsonPathSource()}\nreturn json_p3;\n}`);
  return `'use strict';\n(${String(installGuest)})({\n${makers.join(',\n')}\n}, ${JSON.stringify(Object.keys(ERROR_CLASSES))})`;
}

let source: string | undefined;

/** The build of json-p3 for a browser: one script that leaves `json_p3`. */
function jsonPathSource(): string {
  const folder = dirname(createRequire(import.meta.url).resolve('json-p3'));
  return (source ??= readFileSync(join(folder, 'json-p3.iife.min.js'), 'utf8').replace(
    /\n\/\/# sourceMappingURL=.*/,
    '',
  ));
}
