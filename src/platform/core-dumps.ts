import { writeFileSync } from 'node:fs';

/** What of a process's memory Linux writes into a core file (core(5)). */
const FILTER = '/proc/self/coredump_filter';
/** No kind of mapping at all: registers and a list of mappings are left. */
const NOTHING = '0';

/**
 * Keeps memory, and so keys and plaintext, out of core files of this process and of those that it starts, whatever the
 * limits that it was started with: Node cannot set its own. Does nothing where the system has no such filter.
 */
export function keepMemoryOutOfCoreFiles(): void {
  try {
    writeFileSync(FILTER, NOTHING);
  } catch {
    // Not Linux, or a kernel without core files.
  }
}
