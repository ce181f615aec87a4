import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { openTransit, type Transit } from '../../../src/keys/transit/transit.ts';
import {
  createTestTransit,
  requireTransitServer,
  type ShippedPolicy,
  type TestTransit,
} from '../../support/transit.ts';
import { rejection } from '../../support/rejection.ts';

describe('the shipped policies of Vault', () => {
  const tenantId = randomUUID();
  let transit: TestTransit;
  let wrapped: { tokens: string; cvc: string };
  let mac: string;
  const tokens = {} as Record<ShippedPolicy, string>;
  const opened = {} as Record<ShippedPolicy, Transit>;

  before(async function () {
    transit = await createTestTransit(await requireTransitServer(this));
    await transit.makeKeys();
    for (const policy of ['tokenkeep-api', 'tokenkeep-keys', 'tokenkeep-audit'] as const) {
      tokens[policy] = await transit.tokenFor(policy);
      opened[policy] = await openTransit(transit.optionsFor(tokens[policy]));
    }
    const api = opened['tokenkeep-api'];
    wrapped = {
      tokens: (await api.createDataKey('tokens', tenantId)).wrapped,
      cvc: (await api.createDataKey('cvc', tenantId)).wrapped,
    };
    mac = await api.authenticate(Buffer.from('head'));
  });
  after(async () => {
    for (const management of Object.values(opened)) await management.close();
    await transit?.dispose();
  });

  /** What each of the program's own operations needs, and who has it. */
  const operations: [string, (management: Transit) => Promise<unknown>, ShippedPolicy[]][] = [
    ['make a data key of tokens', (it) => it.createDataKey('tokens', tenantId), ['tokenkeep-api']],
    ['make a data key of codes', (it) => it.createDataKey('cvc', tenantId), ['tokenkeep-api']],
    ['unwrap one of tokens', (it) => it.unwrapDataKey('tokens', tenantId, wrapped.tokens), ['tokenkeep-api']],
    ['unwrap one of codes', (it) => it.unwrapDataKey('cvc', tenantId, wrapped.cvc), ['tokenkeep-api']],
    ['wrap a given one', (it) => it.wrapDataKey('tokens', tenantId, Buffer.alloc(32)), ['tokenkeep-keys']],
    ['rewrap one of tokens', (it) => it.rewrapDataKey('tokens', tenantId, wrapped.tokens), ['tokenkeep-keys']],
    ['rewrap one of codes', (it) => it.rewrapDataKey('cvc', tenantId, wrapped.cvc), []],
    ['see versions', (it) => it.versions('tokens'), ['tokenkeep-api', 'tokenkeep-keys']],
    ['rotate the master key of tokens', (it) => it.rotate('tokens'), ['tokenkeep-keys']],
    ['retire its versions', (it) => it.retire('tokens', 2), ['tokenkeep-keys']],
    ['rotate the master key of codes', (it) => it.rotate('cvc'), ['tokenkeep-api', 'tokenkeep-keys']],
    ['retire its versions, too', (it) => it.retire('cvc', 2), ['tokenkeep-api', 'tokenkeep-keys']],
    ['authenticate', (it) => it.authenticate(Buffer.from('head')), ['tokenkeep-api']],
    ['verify', (it) => it.verifies(Buffer.from('head'), mac), ['tokenkeep-audit']],
    ['be asked whether keys unwrap', (it) => it.ping(), ['tokenkeep-api']],
    ['start over the keys', (it) => it.prepare(async () => true), ['tokenkeep-api', 'tokenkeep-keys']],
  ];

  const policies: ShippedPolicy[] = ['tokenkeep-api', 'tokenkeep-keys', 'tokenkeep-audit'];
  for (const [what, work, allowed] of operations) {
    for (const policy of policies) {
      if (allowed.includes(policy)) {
        it(`let ${policy} ${what}`, async () => void (await work(opened[policy])));
      } else {
        it(`do not let ${policy} ${what}`, async () => {
          const error = await rejection(work(opened[policy]));
          expect(error).to.include({ name: 'DomainError', kind: 'unavailable' });
          expect(error.message).to.include('its policy does not allow that');
        });
      }
    }
  }

  const key = 'transit/keys/tokenkeep';
  const forbidden: [string, 'GET' | 'POST' | 'DELETE', string, object?][] = [
    ['export a master key', 'GET', 'transit/export/encryption-key/tokenkeep'],
    ['export that of audits', 'GET', 'transit/export/hmac-key/tokenkeep-audit'],
    ['back a master key up', 'GET', 'transit/backup/tokenkeep'],
    ['restore another one over it', 'POST', 'transit/restore/tokenkeep', { backup: 'AAAA', force: true }],
    ['delete a master key', 'DELETE', key],
    ['delete that of codes', 'DELETE', `${key}-cvc`],
    ['make a master key exportable', 'POST', `${key}/config`, { exportable: true }],
    ['make that of codes exportable', 'POST', `${key}-cvc/config`, { exportable: true }],
    ['make a master key deletable', 'POST', `${key}/config`, { deletion_allowed: true }],
    [
      'make that of codes deletable',
      'POST',
      `${key}-cvc/config`,
      { deletion_allowed: true, min_decryption_version: 1 },
    ],
    ['let a master key be backed up', 'POST', `${key}-cvc/config`, { allow_plaintext_backup: true }],
    ['make a key of another name', 'POST', `${key}-other`, { type: 'aes256-gcm96' }],
    ['make an exportable key', 'POST', `${key}-other`, { type: 'aes256-gcm96', exportable: true }],
    ['rotate that of audits', 'POST', `${key}-audit/rotate`],
    ['list the keys', 'GET', 'transit/keys?list=true'],
    ['read the policies', 'GET', 'sys/policies/acl/tokenkeep-api'],
    ['make a token', 'POST', 'auth/token/create', { policies: ['tokenkeep-keys'] }],
  ];
  for (const policy of policies) {
    for (const [what, method, path, body] of forbidden) {
      it(`do not let ${policy} ${what}`, async () => {
        const answer = await transit.request({ method, path, token: tokens[policy], ...(body ? { body } : {}) });
        expect(answer.status, JSON.stringify(answer.body)).to.equal(403);
      });
    }
  }

  it('let the custodian make keys that are fit for use, and no others', async () => {
    const empty = await createTestTransit(transit.server);
    try {
      const token = await empty.tokenFor('tokenkeep-keys');
      for (const body of [{ exportable: true }, { allow_plaintext_backup: true }, { type: 'rsa-4096' }]) {
        expect((await empty.request({ method: 'POST', path: key, token, body })).status).to.equal(403);
      }
      const management = await openTransit(empty.optionsFor(token));
      await management.prepare(async () => false);
      expect((await management.versions('cvc')).current).to.equal(1);
      await management.close();
    } finally {
      await empty.dispose();
    }
  });
});
