/**
 * Writes the conditions of every declared resource and the refused documents as tables.
 *
 * Resolves to the exit code: 0 where everything is Ready, 1 where something is not or was refused, or where the folder
 * holds no status.
 */
export async function printStatus(_dataDir: string, _write: (text: string) => void): Promise<0 | 1> {
  throw new Error('not built yet');
}
