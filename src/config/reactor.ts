import type { SettingsReader } from './read-settings.ts';

/** A process that runs one reactor is told everything by the process that started it, nothing by settings. */
export type ReactorConfig = Record<never, never>;

export const reactorSettings: SettingsReader<ReactorConfig> = { settings: {} };
