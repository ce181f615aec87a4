import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from 'mocha';
import type { KeyManagement } from '../../src/keys/key-management.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import { openTransit } from '../../src/keys/transit/transit.ts';
import { createTestTransit, requireTransitServer } from './transit.ts';

/** Master keys of a test's own. */
export interface TestKeys {
  /** As a process that serves the vault opens them; each call gives another process's. */
  open(): Promise<KeyManagement>;
  /** As the custodian does, who may rotate and retire all of them. */
  openAsCustodian(): Promise<KeyManagement>;
  /** How a command is pointed to them, as the custodian. */
  readonly flags: readonly string[];
  readonly env: Record<string, string>;
  /** Closes what was opened and removes the keys. */
  dispose(): Promise<void>;
}

/** Both implementations of key management, by what they are called in test titles. */
export const KEY_MANAGEMENTS: readonly { name: string; create: (context: Context) => Promise<TestKeys> }[] = [
  { name: 'a keyring', create: createKeyring },
  { name: 'a transit engine', create: createTransitKeys },
];

async function createKeyring(): Promise<TestKeys> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-keyring-'));
  const open = () => openKeyring(join(folder, 'keyring.json'), { isNeeded: async () => false });
  return {
    open,
    openAsCustodian: open,
    flags: ['--data-dir', folder],
    env: {},
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
}

async function createTransitKeys(context: Context): Promise<TestKeys> {
  const transit = await createTestTransit(await requireTransitServer(context));
  await transit.makeKeys();
  const opened: KeyManagement[] = [];
  const custodianToken = await transit.tokenFor('tokenkeep-keys');
  async function openWith(token: string): Promise<KeyManagement> {
    const management = await openTransit(transit.optionsFor(token));
    opened.push(management);
    return management;
  }
  return {
    open: async () => openWith(await transit.tokenFor('tokenkeep-api')),
    openAsCustodian: () => openWith(custodianToken),
    flags: transit.flags,
    env: { VAULT_TOKEN: custodianToken },
    async dispose() {
      await Promise.all(opened.map((management) => management.close()));
      await transit.dispose();
    },
  };
}
