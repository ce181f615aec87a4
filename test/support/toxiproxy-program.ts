import type { Context } from 'mocha';
import { installGoProgram, requireGoPrograms, type GoProgram } from './go-program.ts';

const TOXIPROXY: GoProgram = {
  name: 'toxiproxy-server',
  module: new URL('../../config/toxiproxy/', import.meta.url),
  package: 'github.com/Shopify/toxiproxy/v2/cmd/server',
};

export function installToxiproxy(): Promise<string> {
  return installGoProgram(TOXIPROXY);
}

/** The program that TOKENKEEP_TEST_TOXIPROXY names, or else one that is built once. To be called in a `before` hook. */
export async function requireToxiproxy(context: Context): Promise<string> {
  const named = process.env['TOKENKEEP_TEST_TOXIPROXY'];
  if (named !== undefined) return named;
  const [program] = await requireGoPrograms(context, [TOXIPROXY]);
  return program!;
}
