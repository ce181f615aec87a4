import type { Logger } from '../../platform/logger.ts';
import type { Clock } from '../clock.ts';
import type { ResourceSource } from './types.ts';

export interface FolderSourceOptions {
  /** Folder of YAML files, read and watched with its sub-folders. */
  manifestsDir: string;
  /** Where `status.json` and `secrets/` go. */
  dataDir: string;
  logger: Logger;
  clock?: Clock;
  /** Folder of the CRD files that are enforced; the ones of this package unless told. */
  crdsDir?: string;
}

/** Custom resources from a folder of YAML files. */
export function createFolderSource(_options: FolderSourceOptions): ResourceSource {
  throw new Error('not built yet');
}
