import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { proveKeys } from '../../../src/keys/key-proof.ts';
import { openTransit, type Transit } from '../../../src/keys/transit/transit.ts';
import { rejection } from '../../support/rejection.ts';
import {
  createTestTransit,
  requireTransitServer,
  type TestTransit,
  type TransitServer,
} from '../../support/transit.ts';

const unneeded = async (): Promise<boolean> => false;
const needed = async (): Promise<boolean> => true;
const SAMPLE = { id: randomUUID(), purpose: 'data', uses: 0, createdAt: new Date(), destroyAt: null } as const;

describe('the keys of the transit engine', () => {
  const tenantId = randomUUID();
  let server: TransitServer;
  let transit: TestTransit;
  let opened: Transit[];

  before(async function () {
    server = await requireTransitServer(this);
  });
  beforeEach(async () => {
    transit = await createTestTransit(server);
    opened = [];
  });
  afterEach(async () => {
    for (const each of opened) await each.close();
    await transit?.dispose();
  });

  async function open(token: string): Promise<Transit> {
    const management = await openTransit(transit.optionsFor(token));
    opened.push(management);
    return management;
  }
  const openAs = async (policy: string): Promise<Transit> => open(await transit.tokenFor(policy));
  const openAsRoot = (): Promise<Transit> => open(server.rootToken);

  async function keyNamed(name: string): Promise<Record<string, unknown>> {
    return transit.demand({ path: `transit/keys/${name}` });
  }

  async function remove(name: string): Promise<void> {
    await transit.demand({ method: 'POST', path: `transit/keys/${name}/config`, body: { deletion_allowed: true } });
    await transit.demand({ method: 'DELETE', path: `transit/keys/${name}` });
  }

  it('are made at the first start, where the policy allows that: derived, and never to leave Vault', async () => {
    await (await openAsRoot()).prepare(unneeded);
    const secrets = { exportable: false, allow_plaintext_backup: false, deletion_allowed: false };
    for (const name of ['tokenkeep', 'tokenkeep-cvc']) {
      expect(await keyNamed(name)).to.include({ type: 'aes256-gcm96', derived: true, ...secrets });
    }
    expect(await keyNamed('tokenkeep-audit')).to.include({ type: 'hmac', key_size: 32, ...secrets });
  });

  it('stay as they are at the next start', async () => {
    await (await openAsRoot()).prepare(unneeded);
    await (await openAsRoot()).rotate('tokens');
    await (await openAsRoot()).prepare(needed);
    expect(await (await openAsRoot()).versions('tokens')).to.include({ current: 2, oldest: 1 });
  });

  it('are made where some are there', async () => {
    await (await openAsRoot()).prepare(unneeded);
    await remove('tokenkeep-audit');
    await (await openAsRoot()).prepare(needed);
    expect(await keyNamed('tokenkeep-audit')).to.include({ type: 'hmac' });
  });

  it('are not made under the policy of the API, which is told what an administrator runs', async () => {
    const error = await rejection((await openAs('tokenkeep-api')).prepare(unneeded));
    expect(error).to.include({ name: 'DomainError', kind: 'unavailable' });
    expect(error.message).to.include('vault write -f transit/keys/tokenkeep type=aes256-gcm96 derived=true');
  });

  it('are missed with the engine itself, which is told too', async () => {
    await transit.demand({ method: 'DELETE', path: 'sys/mounts/transit' });
    const error = await rejection((await openAsRoot()).prepare(unneeded));
    expect(error.message).to.include('vault secrets enable -path=transit transit, then vault write');
  });

  it('are not made anew where data is sealed under those that are gone', async () => {
    await (await openAsRoot()).prepare(unneeded);
    await remove('tokenkeep');
    const error = await rejection((await openAsRoot()).prepare(needed));
    expect(error.message).to.include('no transit key tokenkeep, and data is sealed under it: restore it');
    expect((await transit.request({ path: 'transit/keys/tokenkeep' })).status).to.equal(404);
  });

  const unfit: [string, string, object, string][] = [
    ['not derived', 'tokenkeep', { type: 'aes256-gcm96' }, 'derived must be true'],
    [
      'exportable',
      'tokenkeep-cvc',
      { type: 'aes256-gcm96', derived: true, exportable: true },
      'exportable must be false',
    ],
    ['of another type', 'tokenkeep-audit', { type: 'aes256-gcm96' }, 'type must be hmac'],
  ];
  for (const [what, name, body, fault] of unfit) {
    it(`are refused where one is ${what}`, async () => {
      await transit.demand({ method: 'POST', path: `transit/keys/${name}`, body });
      const error = await rejection((await openAsRoot()).prepare(unneeded));
      expect(error.message).to.include(`the transit key ${name} is not fit for use: ${fault}`);
    });
  }

  it('leave nothing of a retired version in Vault', async () => {
    await transit.makeKeys();
    const management = await openAs('tokenkeep-keys');
    await management.rotate('tokens');
    await management.rotate('tokens');
    await management.retire('tokens', 3);
    const key = await keyNamed('tokenkeep');
    expect(key).to.include({ min_decryption_version: 3, min_encryption_version: 3, min_available_version: 3 });
    expect(Object.keys(key['keys'] as object)).to.deep.equal(['3']);
  });

  it('are retired to the end where that was cut short before the versions were destroyed', async () => {
    await transit.makeKeys();
    const management = await openAs('tokenkeep-keys');
    await management.rotate('tokens');
    const body = { min_decryption_version: 2, min_encryption_version: 2 };
    await transit.demand({ method: 'POST', path: 'transit/keys/tokenkeep/config', body });
    await management.retire('tokens', 2);
    expect(await keyNamed('tokenkeep')).to.include({ min_available_version: 2 });
  });

  it('wrap with the tenant as context, and no associated data, with which they could not be rewrapped', async () => {
    await transit.makeKeys();
    const { plaintext, wrapped } = await (await openAs('tokenkeep-api')).createDataKey('tokens', tenantId);
    const body = { ciphertext: wrapped, context: Buffer.from(tenantId).toString('base64') };
    const opened = await transit.demand({ method: 'POST', path: 'transit/decrypt/tokenkeep', body });
    expect(opened.plaintext).to.equal(plaintext.toString('base64'));
  });

  describe('when they are taken away while a vault is served,', () => {
    let management: Transit;
    let wrapped: string;
    let plaintext: Buffer;

    beforeEach(async () => {
      await transit.makeKeys();
      management = await openAs('tokenkeep-api');
      ({ plaintext, wrapped } = await management.createDataKey('tokens', tenantId));
      await management.ping();
    });

    async function expectUnavailable(): Promise<void> {
      const works = [
        () => management.ping(),
        () => management.unwrapDataKey('tokens', tenantId, wrapped),
        () => management.createDataKey('tokens', tenantId),
      ];
      for (const work of works) {
        expect(await rejection(work())).to.include({ name: 'DomainError', kind: 'unavailable' });
      }
    }

    it('by the policy: unavailable, and well again once it is back', async () => {
      await transit.putPolicy('tokenkeep-api', 'path "auth/token/lookup-self" { capabilities = ["read"] }');
      await expectUnavailable();
      await transit.restorePolicy('tokenkeep-api');
      await management.ping();
      expect(await management.unwrapDataKey('tokens', tenantId, wrapped)).to.deep.equal(plaintext);
    });

    it('by deletion: unavailable, rather than taken for altered data', async () => {
      await remove('tokenkeep');
      await expectUnavailable();
    });

    it('by deletion and another key of the same name: told apart from altered data by asking', async () => {
      await remove('tokenkeep');
      await transit.demand({
        method: 'POST',
        path: 'transit/keys/tokenkeep',
        body: { type: 'aes256-gcm96', derived: true },
      });
      expect(await rejection(management.ping())).to.include({ name: 'DomainError', kind: 'unavailable' });
      expect((await rejection(management.unwrapDataKey('tokens', tenantId, wrapped))).message).to.match(
        /^a data key does not unwrap/,
      );
    });

    it('by a snapshot from before a version was made: well again, as older versions unwrap', async () => {
      const path = 'transit/keys/tokenkeep/config';
      const body = { exportable: true, allow_plaintext_backup: true, deletion_allowed: true };
      await transit.demand({ method: 'POST', path, body });
      const { backup } = await transit.demand({ path: 'transit/backup/tokenkeep' });
      await transit.demand({ method: 'POST', path: 'transit/keys/tokenkeep/rotate', body: {} });
      const later = await openAs('tokenkeep-api');
      await later.ping();
      await transit.demand({ method: 'DELETE', path: 'transit/keys/tokenkeep' });
      await transit.demand({ method: 'POST', path: 'transit/restore/tokenkeep', body: { backup } });
      await later.ping();
      await later.ping();
      expect(await later.unwrapDataKey('tokens', tenantId, wrapped)).to.deep.equal(plaintext);
    });

    it('by another key with fewer versions: found out by the data keys of the vault', async () => {
      await transit.demand({ method: 'POST', path: 'transit/keys/tokenkeep/rotate', body: {} });
      const later = await openAs('tokenkeep-api');
      const { wrapped: second } = await later.createDataKey('tokens', tenantId);
      const samples = async () => [wrapped, second].map((each) => ({ ...SAMPLE, tenantId, wrapped: each }));
      await proveKeys({ management: later, samples });
      await remove('tokenkeep');
      const body = { type: 'aes256-gcm96', derived: true };
      await transit.demand({ method: 'POST', path: 'transit/keys/tokenkeep', body });
      const error = await rejection(proveKeys({ management: later, samples }));
      expect(error).to.include({ name: 'DomainError', kind: 'unavailable' });
      expect(error.message).to.include('is not the one that wrapped the data keys');
    });

    it('with the whole engine: unavailable', async () => {
      await transit.demand({ method: 'DELETE', path: 'sys/mounts/transit' });
      await expectUnavailable();
    });
  });
});
