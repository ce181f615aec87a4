import { SettingFault, type Setting } from './setting.ts';
import { parseDuration } from './values.ts';

export interface KeyRotationConfig {
  /**
   * In ms: a master key of tokens that is older is rotated by the process itself. Undefined: after 90 days with the
   * keyring, and not with Vault.
   */
  readonly keyRotation: number | 'off' | undefined;
}

export const keyRotation: Setting<KeyRotationConfig['keyRotation']> = {
  flag: 'key-rotation',
  placeholder: 'AGE',
  description:
    'rotate the master key of tokens once it is older; or off (default 90d with the keyring, off with Vault)',
  fallback: { value: undefined },
  parse: parseKeyRotation,
};

function parseKeyRotation(text: string): number | 'off' {
  if (text === 'off') return text;
  try {
    return parseDuration(text);
  } catch {
    throw new SettingFault('must be a duration such as 90d, or off');
  }
}
