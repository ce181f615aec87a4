import { partsSettings, type PartsConfig } from './parts-settings.ts';
import type { SettingsReader } from './read-settings.ts';
import { parseDuration, parseExistingFile } from './values.ts';
import { vaultFaults } from './vault-settings.ts';

export interface AuditVerifyConfig extends PartsConfig {
  /** Absolute. Lines of JSON as the vault logs them; others are passed over. */
  readonly anchors: string | undefined;
  /** How far back the log must be promised to reach, in ms. */
  readonly since: number | undefined;
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
    since: {
      flag: 'since',
      placeholder: 'DURATION',
      description: 'how far back the log must reach, such as 24h: the database alone says what retention has dropped',
      fallback: { value: undefined },
      parse: parseDuration,
    },
  },
  crossCheck: vaultFaults,
};
