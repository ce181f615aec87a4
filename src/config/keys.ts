import { partsSettings, type PartsConfig } from './parts-settings.ts';
import type { SettingsReader } from './read-settings.ts';
import { switchSetting } from './setting.ts';
import { parseDuration } from './values.ts';
import { vaultFaults } from './vault-settings.ts';

export type KeysStatusConfig = PartsConfig;

export const keysStatusSettings: SettingsReader<KeysStatusConfig> = {
  settings: partsSettings,
  crossCheck: vaultFaults,
};

export interface KeysRotateConfig extends PartsConfig {
  /** Whether each tenant's data key is replaced too, for what is sealed from now on. */
  readonly dataKeys: boolean;
  /** In ms; a master key that is younger stays. Undefined: whatever its age. */
  readonly ifOlderThan: number | undefined;
}

export const keysRotateSettings: SettingsReader<KeysRotateConfig> = {
  settings: {
    ...partsSettings,
    dataKeys: switchSetting('data-keys', "also replace every tenant's data key for what is sealed from now on"),
    ifOlderThan: {
      flag: 'if-older-than',
      placeholder: 'AGE',
      description: 'leave a master key that is younger, such as 90d: for runs on a schedule',
      fallback: { value: undefined },
      parse: parseDuration,
    },
  },
  crossCheck: vaultFaults,
};

export interface KeysRewrapConfig extends PartsConfig {
  /** Whether older versions of the master key are destroyed once nothing is wrapped under them. */
  readonly retire: boolean;
}

export const keysRewrapSettings: SettingsReader<KeysRewrapConfig> = {
  settings: {
    ...partsSettings,
    retire: switchSetting('retire', 'then destroy the older versions of the master key, for good'),
  },
  crossCheck: vaultFaults,
};

export type KeysImportConfig = PartsConfig;

export const keysImportSettings: SettingsReader<KeysImportConfig> = {
  settings: partsSettings,
  crossCheck: vaultFaults,
};
