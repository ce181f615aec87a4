import type { SettingsReader } from './read-settings.ts';
import { dataDir } from './shared-settings.ts';

/** Prints the conditions of what a standalone has been given. */
export interface StatusConfig {
  /** Absolute. */
  readonly dataDir: string;
}

export const statusSettings: SettingsReader<StatusConfig> = { settings: { dataDir } };
