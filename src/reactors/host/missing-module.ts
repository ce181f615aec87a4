import { MODULE_NAMES } from '../modules.ts';

const AVAILABLE = MODULE_NAMES.join(', ');

/** Longest name of a module that is told, in characters. */
const MAX_MODULE_NAME = 100;

/**
 * A package, with or without its scope, a file in it, or a relative path. Code may compute the name from the data of
 * its request, so that what looks like an address or like the number of a card or an account does not pass for one.
 */
const MODULE_NAME = /^(?!.*\d{5})(?:@[a-z][\w.-]*\/|(?:\.{1,2}\/)+|\/)?[a-z][\w./-]*$/i;

/** What is told of code that requires a module that is not there: its name only where it has the form of one. */
export function describeMissingModule(name: string, line: number | undefined): string {
  const isName = name.length <= MAX_MODULE_NAME && MODULE_NAME.test(name);
  const what = isName ? `the module "${name}", which is not available` : 'a module that is not available';
  return `The code requires ${what}${line === undefined ? '' : ` (line ${line})`}. Available: ${AVAILABLE}.`;
}
