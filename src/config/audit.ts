import { partsSettings, type PartsConfig } from './parts-settings.ts';
import type { SettingsReader } from './read-settings.ts';
import { parseExistingFile } from './values.ts';
import { vaultFaults } from './vault-settings.ts';

export interface AuditVerifyConfig extends PartsConfig {
  /** Absolute. Lines of JSON as the vault logs them; others are passed over. */
  readonly anchors: string | undefined;
}

export const auditVerifySettings: SettingsReader<AuditVerifyConfig> = {
  settings: {
    ...partsSettings,
    anchors: {
      flag: 'anchors',
      placeholder: 'FILE',
      description: "the vault's log, whose lines `Audit chain head` the chains are held against",
      fallback: { value: undefined },
      parse: parseExistingFile,
    },
  },
  crossCheck: vaultFaults,
};
