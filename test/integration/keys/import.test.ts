import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { tryAdvisoryLock } from '../../../src/data/advisory-lock.ts';
import { ABOVE_ALL_VERSIONS, raiseFence } from '../../../src/data/master-keys.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { openKeyring } from '../../../src/keys/keyring.ts';
import { openTransit } from '../../../src/keys/transit/transit.ts';
import { lockFolder } from '../../../src/platform/folder-lock.ts';
import { importDataKeys } from '../../../src/services/key-rotation/import.ts';
import { KEYS_TURN } from '../../../src/services/key-rotation/parts.ts';
import { readKeyStatus } from '../../../src/services/key-rotation/status.ts';
import { rulesFor } from '../../support/access.ts';
import { rejection } from '../../support/rejection.ts';
import { findChangedKeys, plantDataKeys } from '../../support/rotation-load.ts';
import { startReplica } from '../../support/replica.ts';
import { runProgram, type Ended } from '../../support/standalone.ts';
import { createTestTransit, requireTransitServer, type TestTransit } from '../../support/transit.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2035, cvc: '987' };
const PLANTED = { tenants: 20, keysOfEach: 15 };

describe('the import of a keyring to a transit engine', function () {
  this.timeout(120_000);
  let vault: TestVault;
  let transit: TestTransit;
  /** Of who imports: the custodian, who may unwrap too what has been moved. */
  let token: string;
  const opened: KeyManagement[] = [];
  let keyring: KeyManagement;
  let key: string;
  let cardId: string;
  /** Of a standalone that has been stopped: the keyring is there, the database elsewhere. */
  let folder: string;

  const tokens = () =>
    vault.database.run({ text: `select t::text, c::text from tokens t left join token_cvcs c using (token_id)` });

  async function managements(): Promise<string[]> {
    const rows = await vault.database.run<{ management: string }>({
      text: 'select distinct management from data_keys',
    });
    return rows.map(({ management }) => management).sort();
  }

  async function openWith(tokenToUse: string): Promise<KeyManagement> {
    const management = await openTransit(transit.optionsFor(tokenToUse));
    opened.push(management);
    return management;
  }

  function runImport(): Promise<Ended> {
    const flags = ['--data-dir', folder, '--database-url', vault.connectionString, ...transit.flags];
    return runProgram(['keys', 'import', ...flags], { VAULT_TOKEN: token });
  }

  before(async function () {
    transit = await createTestTransit(await requireTransitServer(this));
    this.timeout(120_000);
    await transit.makeKeys();
    const policies = ['tokenkeep-keys', 'tokenkeep-api'];
    const { auth } = await transit.demand({ method: 'POST', path: 'auth/token/create', body: { policies } });
    token = auth.client_token as string;
    vault = await startTestVault();
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-import-'));
    ({ key } = await vault.application({ rules: rulesFor({ '/': 'reveal' }, ['token:create', 'token:read']) }));
    const { body } = await vault.request('POST', '/tokens', { key, body: { type: 'card', data: CARD } });
    cardId = body.id as string;
    const file = join(vault.dataDir, 'keyring.json');
    keyring = await openKeyring(file, { isNeeded: async () => true });
    await plantDataKeys(vault.database, keyring, PLANTED);
    await copyFile(file, join(folder, 'keyring.json'));
  });
  after(async () => {
    await vault?.stop();
    await Promise.all(opened.map((management) => management.close()));
    await transit?.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  it('is refused while the vault of that folder is running, with nothing moved', async () => {
    const lock = await lockFolder(folder, '--data-dir');
    const { code, stderr } = await runImport();
    await lock.release();
    expect(code).to.equal(1);
    expect(stderr).to.include(`in use by process ${process.pid}`);
    expect(await managements()).to.deep.equal(['keyring']);
  });

  /** Whether what the keyring wraps can be stored, and its status calls for nothing. */
  async function expectKeyringOpen(): Promise<void> {
    await plantDataKeys(vault.database, keyring, { tenants: 1, keysOfEach: 1 });
    expect((await readKeyStatus({ database: vault.database, management: keyring })).attention).to.deep.equal([]);
    expect(await managements()).to.deep.equal(['keyring']);
  }

  /** As `whole`, until it has wrapped that many data keys. */
  function endingAfter(most: number, whole: KeyManagement): KeyManagement {
    let wraps = 0;
    return {
      ...whole,
      async wrapDataKey(...asked) {
        if (++wraps > most) throw new DomainError('unavailable', 'the process ends');
        return whole.wrapDataKey(...asked);
      },
    };
  }

  function importTo(to: KeyManagement): Promise<number> {
    const takeTurn = () => tryAdvisoryLock(vault.connectionString, KEYS_TURN);
    return importDataKeys({ database: vault.database, takeTurn, from: keyring, to });
  }

  it('leaves the keyring as it was where the policy does not let it wrap', async () => {
    const error = await rejection(importTo(await openWith(await transit.tokenFor('tokenkeep-api'))));
    expect(error.message).to.include('Vault refuses transit/encrypt/tokenkeep');
    await expectKeyringOpen();
  });

  it('leaves the keyring as it was where it may not wrap keys of codes alone', async () => {
    const whole = await openWith(token);
    const tokensAlone: KeyManagement = {
      ...whole,
      async wrapDataKey(master, ...asked) {
        if (master === 'cvc') throw new DomainError('unavailable', 'not those of codes');
        return whole.wrapDataKey(master, ...asked);
      },
    };
    expect((await rejection(importTo(tokensAlone))).message).to.equal('not those of codes');
    await expectKeyringOpen();
  });

  it('opens the keyring again where it ended before anything was moved', async () => {
    // Both master keys are tried with one data key each.
    const error = await rejection(importTo(endingAfter(2, await openWith(token))));
    expect(error.message).to.equal('the process ends');
    await expectKeyringOpen();
  });

  it('opens the keyring again where an earlier run was killed before anything was moved', async () => {
    for (const master of ['tokens', 'cvc'] as const) {
      await raiseFence(vault.database, { management: 'keyring', master }, ABOVE_ALL_VERSIONS);
    }
    const { attention } = await readKeyStatus({ database: vault.database, management: keyring });
    expect(attention).to.have.length(1);
    expect(attention[0]).to.include('an import').and.include('tokenkeep keys import');
    await rejection(importTo(endingAfter(0, await openWith(token))));
    await expectKeyringOpen();
  });

  it('writes no row that the transit engine does not give back as it was', async () => {
    const right = await openWith(token);
    const wrong: KeyManagement = { ...right, unwrapDataKey: async () => Buffer.alloc(32) };
    expect((await rejection(importTo(wrong))).message).to.include('gives another data key back');
    await expectKeyringOpen();
    let unwraps = 0;
    const wrongLater: KeyManagement = {
      ...right,
      unwrapDataKey: async (...asked) => (++unwraps > 2 ? Buffer.alloc(32) : right.unwrapDataKey(...asked)),
    };
    expect((await rejection(importTo(wrongLater))).message).to.include('gives another data key back');
    await expectKeyringOpen();
  });

  it('goes on where it was ended, and touches no token', async () => {
    const before = await tokens();
    const whole = await openWith(token);
    expect((await rejection(importTo(endingAfter(250, whole)))).message).to.equal('the process ends');
    expect(await managements()).to.deep.equal(['keyring', 'vault']);
    const { attention } = await readKeyStatus({ database: vault.database, management: keyring });
    expect(attention.join()).to.include('tokenkeep keys import').and.not.include('--retire');
    const status = await runProgram(['keys', 'status', '--data-dir', folder, '--database-url', vault.connectionString]);
    expect(status.stderr).to.include('an import of the keyring').and.include('tokenkeep keys import');

    const { code, stdout, stderr } = await runImport();
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include('data keys moved to the transit key tokenkeep').and.include('Next: start the vault with');
    expect(await managements()).to.deep.equal(['vault']);
    expect(await findChangedKeys(vault.database, await openWith(token))).to.deep.equal([]);
    expect(await tokens()).to.deep.equal(before);
  });

  it('lets no data key be stored any more that the keyring wraps', async () => {
    const work = plantDataKeys(vault.database, keyring, { tenants: 1, keysOfEach: 1 });
    const [outcome] = await Promise.allSettled([work]);
    expect(outcome).to.have.nested.property('reason.constraint', 'data_keys_fence');
  });

  it('leaves every token to a vault that is served with the transit engine, code and all', async () => {
    const keyManagement = await openWith(await transit.tokenFor('tokenkeep-api'));
    const replica = await startReplica(vault, vault.apiConnectionString, {}, { keyManagement });
    const headers = { 'svc-api-key': key };
    const response = await fetch(`${replica.baseUrl}/tokens/${cardId}`, { headers });
    const { data } = (await response.json()) as { data: object };
    await replica.stop();
    expect(data).to.deep.equal(CARD);
  });

  it('finds nothing left to do when it is run again', async () => {
    const { code, stdout } = await runImport();
    expect(code).to.equal(0);
    expect(stdout).to.include('0 data keys moved');
  });
});
