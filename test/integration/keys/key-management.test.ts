import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Context } from 'mocha';
import type { KeyManagement, MasterKey } from '../../../src/keys/key-management.ts';
import { openKeyring } from '../../../src/keys/keyring.ts';
import { openTransit } from '../../../src/keys/transit/transit.ts';
import { rejection } from '../../support/rejection.ts';
import { createTestTransit, requireTransitServer, type TestTransit } from '../../support/transit.ts';

/** An implementation, with all that its processes together may do. */
interface Implementation {
  start(context: Context): Promise<void>;
  /** As another process opens it: over the same master keys. */
  open(): Promise<KeyManagement>;
  stop(): Promise<void>;
}

function keyring(): Implementation {
  let folder: string;
  return {
    async start() {
      folder = await mkdtemp(join(tmpdir(), 'tokenkeep-keyring-'));
    },
    open: () => openKeyring(join(folder, 'keyring.json'), { isNeeded: async () => false }),
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

function vault(): Implementation {
  let transit: TestTransit | undefined;
  return {
    async start(context) {
      transit = await createTestTransit(await requireTransitServer(context));
      // One token here does what several have to share out among them elsewhere.
      const everything = 'path "transit/*" { capabilities = ["create", "read", "update"] }';
      const token = 'path "auth/token/*" { capabilities = ["read", "update"] }';
      await transit.putPolicy('everything', `${everything}\n${token}`);
    },
    async open() {
      const management = await openTransit(transit!.optionsFor(await transit!.tokenFor('everything')));
      await management.prepare(async () => false);
      return management;
    },
    stop: async () => transit?.dispose(),
  };
}

for (const [name, create] of Object.entries({ keyring, vault })) {
  describe(`key management by ${name}`, () => {
    const implementation = create();
    const tenantId = randomUUID();
    const opened: KeyManagement[] = [];
    let management: KeyManagement;

    async function open(): Promise<KeyManagement> {
      const another = await implementation.open();
      opened.push(another);
      return another;
    }

    before(async function () {
      await implementation.start(this);
      management = await open();
    });
    after(async () => {
      for (const each of opened) await each.close();
      await implementation.stop();
    });

    it('is told apart by its name, which its wrapped forms begin with', async () => {
      expect(management.name).to.equal(name);
      const { wrapped } = await management.createDataKey('tokens', tenantId);
      expect(wrapped).to.match(new RegExp(`^${name}:v\\d+:[A-Za-z0-9+/]+={0,2}$`));
    });

    it('makes keys of 256 random bits, each another one, which the wrapped form does not show', async () => {
      const [first, second] = [
        await management.createDataKey('tokens', tenantId),
        await management.createDataKey('tokens', tenantId),
      ];
      expect(first.plaintext).to.have.length(32);
      expect(first.plaintext.equals(second.plaintext)).to.equal(false);
      expect(Buffer.from(first.wrapped.split(':')[2]!, 'base64').includes(first.plaintext)).to.equal(false);
    });

    for (const master of ['tokens', 'cvc'] as const satisfies MasterKey[]) {
      it(`unwraps under ${master} what it, or another process, has wrapped`, async () => {
        const { plaintext, wrapped } = await management.createDataKey(master, tenantId);
        expect(await management.unwrapDataKey(master, tenantId, wrapped)).to.deep.equal(plaintext);
        expect(await (await open()).unwrapDataKey(master, tenantId, wrapped)).to.deep.equal(plaintext);
      });
    }

    it('wraps a key that was made elsewhere, so that it unwraps to the same', async () => {
      const plaintext = randomBytes(32);
      const wrapped = await management.wrapDataKey('tokens', tenantId, plaintext);
      expect(await management.unwrapDataKey('tokens', tenantId, wrapped)).to.deep.equal(plaintext);
    });

    describe('refuses to unwrap, and to rewrap,', () => {
      let wrapped: string;
      before(async () => ({ wrapped } = await management.createDataKey('tokens', tenantId)));

      const wrongs: [string, MasterKey, () => string, () => string][] = [
        ['a key of another tenant', 'tokens', () => wrapped, randomUUID],
        ['a key of no tenant', 'tokens', () => wrapped, () => ''],
        ['a key of the other master key', 'cvc', () => wrapped, () => tenantId],
        ['nothing', 'tokens', () => '', () => tenantId],
        ['a form of the other key management', 'tokens', () => `x${wrapped}`, () => tenantId],
        ['a version that does not exist', 'tokens', () => wrapped.replace(/:v\d+:/, ':v999:'), () => tenantId],
        ['version 0', 'tokens', () => wrapped.replace(/:v\d+:/, ':v0:'), () => tenantId],
        ['no version', 'tokens', () => wrapped.replace(/:v\d+:/, ':'), () => tenantId],
        ['what is no base64', 'tokens', () => wrapped.replace(/.$/, '*'), () => tenantId],
        ['a line more', 'tokens', () => `${wrapped}\n`, () => tenantId],
      ];
      for (const [what, master, form, tenant] of wrongs) {
        it(what, async () => {
          for (const operation of ['unwrapDataKey', 'rewrapDataKey'] as const) {
            const error = await rejection(management[operation](master, tenant(), form()));
            expect(error.name).to.equal('Error');
            expect(error.message).to.match(/^a data key does not unwrap/);
          }
        });
      }

      it('a key with any byte of it changed, left out or added', async () => {
        const [prefix] = /^\w+:v\d+:/.exec(wrapped)!;
        const sealed = Buffer.from(wrapped.slice(prefix.length), 'base64');
        const changes: Buffer[] = [sealed.subarray(0, -1), sealed.subarray(1), Buffer.concat([sealed, Buffer.of(0)])];
        for (let index = 0; index < sealed.length; index++) {
          const changed = Buffer.from(sealed);
          changed[index]! ^= 1;
          changes.push(changed);
        }
        for (const changed of changes) {
          const form = prefix + changed.toString('base64');
          const error = await rejection(management.unwrapDataKey('tokens', tenantId, form));
          expect(error.message).to.match(/^a data key does not unwrap/);
        }
      });
    });

    it('rotates one master key, beside other processes: old keys unwrap, new ones are wrapped anew', async () => {
      const before = await management.versions('tokens');
      const codes = await management.versions('cvc');
      const old = await management.createDataKey('tokens', tenantId);
      const another = await open();
      await management.rotate('tokens');
      const after = await another.versions('tokens');
      expect(after).to.include({ current: before.current + 1, oldest: before.oldest });
      expect(after.currentSince.getTime()).to.be.greaterThanOrEqual(before.currentSince.getTime());
      expect(await another.versions('cvc')).to.deep.equal(codes);
      expect((await another.createDataKey('tokens', tenantId)).wrapped).to.include(`:v${after.current}:`);
      expect(await another.unwrapDataKey('tokens', tenantId, old.wrapped)).to.deep.equal(old.plaintext);
    });

    it('rewraps a data key under the current version, and changes it in nothing', async () => {
      const { plaintext, wrapped } = await management.createDataKey('tokens', tenantId);
      await management.rotate('tokens');
      const { current } = await management.versions('tokens');
      const rewrapped = await management.rewrapDataKey('tokens', tenantId, wrapped);
      expect(rewrapped).to.include(`:v${current}:`);
      expect(await management.unwrapDataKey('tokens', tenantId, rewrapped)).to.deep.equal(plaintext);
      expect((await rejection(management.unwrapDataKey('tokens', randomUUID(), rewrapped))).name).to.equal('Error');
    });

    it('retires versions for good: what was wrapped under them unwraps no more, all else does', async () => {
      const old = await management.createDataKey('cvc', tenantId);
      await management.rotate('cvc');
      const kept = await management.createDataKey('cvc', tenantId);
      const { current } = await management.versions('cvc');
      const another = await open();
      await management.retire('cvc', current);
      expect(await another.versions('cvc')).to.include({ current, oldest: current });
      expect((await rejection(another.unwrapDataKey('cvc', tenantId, old.wrapped))).name).to.equal('Error');
      expect((await rejection(management.rewrapDataKey('cvc', tenantId, old.wrapped))).name).to.equal('Error');
      expect(await another.unwrapDataKey('cvc', tenantId, kept.wrapped)).to.deep.equal(kept.plaintext);
      await management.retire('cvc', current);
      await management.retire('cvc', 1);
      expect(await management.versions('cvc')).to.include({ current, oldest: current });
    });

    it('does not retire the current version', async () => {
      const { current } = await management.versions('cvc');
      expect((await rejection(management.retire('cvc', current + 1))).message).to.include('current version');
      expect(await management.versions('cvc')).to.include({ current });
    });

    it('authenticates messages, so that a forged message or code is told', async () => {
      const message = Buffer.from('head of a chain');
      const mac = await management.authenticate(message);
      const another = await open();
      expect(await another.verifies(message, mac)).to.equal(true);
      expect(await another.verifies(Buffer.from('head of a chaim'), mac)).to.equal(false);
      expect(await another.verifies(Buffer.alloc(0), mac)).to.equal(false);
      const [prefix] = /^\w+:v\d+:/.exec(mac)!;
      const code = Buffer.from(mac.slice(prefix.length), 'base64');
      code[0]! ^= 1;
      for (const forged of ['', mac.slice(0, -4), `x${mac}`, prefix, prefix + code.toString('base64')]) {
        expect(await another.verifies(message, forged), forged).to.equal(false);
      }
    });

    it('authenticates empty and large messages', async () => {
      for (const message of [Buffer.alloc(0), randomBytes(100_000)]) {
        expect(await management.verifies(message, await management.authenticate(message))).to.equal(true);
      }
    });

    it('tells that data keys unwrap, also after the version that it asked with is retired', async () => {
      await management.ping();
      await management.rotate('tokens');
      await management.retire('tokens', (await management.versions('tokens')).current);
      await management.ping();
      await management.ping();
    });

    it('serves many at a time', async () => {
      const made = await Promise.all(Array.from({ length: 200 }, () => management.createDataKey('tokens', tenantId)));
      const unwrapped = await Promise.all(
        made.map(({ wrapped }) => management.unwrapDataKey('tokens', tenantId, wrapped)),
      );
      expect(unwrapped).to.deep.equal(made.map(({ plaintext }) => plaintext));
      expect(new Set(made.map(({ wrapped }) => wrapped)).size).to.equal(200);
    });
  });
}
