import { expect } from 'chai';
import { digestOfKey, generateApplicationKey, generateSessionKey } from '../../../src/domain/application-keys.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { DEFAULT_QUOTAS, DEFAULT_SETTINGS } from '../../../src/domain/tenants.ts';
import { type AccessRecord, type Authentication, createAuthentication } from '../../../src/services/authentication.ts';

const callerOf = (applicationId: string): Caller => ({
  ...{ tenantId: 'tenant', tenantType: 'production', quotas: DEFAULT_QUOTAS, settings: DEFAULT_SETTINGS },
  ...{ keyId: 'key', applicationId, applicationType: 'private', permissions: ['token:read'], rules: [] },
});

async function refusal(attempt: Promise<Caller>): Promise<string> {
  return attempt.then(
    () => expect.fail('was let in'),
    (error: DomainError) => `${error.kind}: ${error.message}`,
  );
}

describe('authentication', () => {
  const key = generateApplicationKey('production', 'private');
  let now: number;
  let lookups: number;
  let sessionLookups: number;
  let records: Map<string, AccessRecord>;
  let authentication: Authentication;

  beforeEach(() => {
    now = 1_000_000;
    lookups = 0;
    sessionLookups = 0;
    records = new Map([[digestOfKey(key), { caller: callerOf('a'), endsAt: Infinity }]]);
    authentication = createAuthentication({
      clock: { now: () => now },
      findAccess: async (digest) => {
        lookups++;
        return records.get(digest);
      },
      findSession: async (digest) => {
        sessionLookups++;
        return records.get(digest);
      },
    });
  });

  it('looks a key up once for many requests, also for those that come together', async () => {
    await Promise.all([authentication.authenticate(key), authentication.authenticate(key)]);
    await authentication.authenticate(key);
    expect(lookups).to.equal(1);
  });

  it('sees a change within a second even where nothing announced it', async () => {
    await authentication.authenticate(key);
    records.clear();
    now += 899;
    expect(await authentication.authenticate(key)).to.have.property('applicationId', 'a');
    now += 101;
    expect(await refusal(authentication.authenticate(key))).to.match(/^unauthenticated/);
  });

  it('sees an announced change at once', async () => {
    await authentication.authenticate(key);
    records.clear();
    authentication.forgetApplication('a');
    expect(await refusal(authentication.authenticate(key))).to.match(/^unauthenticated/);
  });

  it('keeps what it knows of other applications', async () => {
    await authentication.authenticate(key);
    authentication.forgetApplication('b');
    await authentication.authenticate(key);
    expect(lookups).to.equal(1);
    authentication.forgetAll();
    await authentication.authenticate(key);
    expect(lookups).to.equal(2);
  });

  it('does not keep an answer that was under way when the change was announced', async () => {
    const slow = Promise.withResolvers<AccessRecord | undefined>();
    const answers = [slow.promise, Promise.resolve(undefined)];
    authentication = createAuthentication({
      clock: { now: () => now },
      findAccess: () => answers.shift()!,
      findSession: async () => undefined,
    });
    const early = authentication.authenticate(key);
    authentication.forgetApplication('a');
    slow.resolve({ caller: callerOf('a'), endsAt: Infinity });
    await early;
    expect(await refusal(authentication.authenticate(key))).to.match(/^unauthenticated/);
  });

  it('does not remember an unknown key, which may be made next', async () => {
    const next = generateApplicationKey('production', 'private');
    await refusal(authentication.authenticate(next));
    records.set(digestOfKey(next), { caller: callerOf('b'), endsAt: Infinity });
    expect(await authentication.authenticate(next)).to.have.property('applicationId', 'b');
  });

  it('does not remember that a look-up failed', async () => {
    let fails = true;
    authentication = createAuthentication({
      clock: { now: () => now },
      findAccess: async () => {
        if (fails) throw new DomainError('unavailable', 'Postgres is unreachable');
        return { caller: callerOf('a'), endsAt: Infinity };
      },
      findSession: async () => undefined,
    });
    expect(await refusal(authentication.authenticate(key))).to.match(/^unavailable/);
    fails = false;
    expect(await authentication.authenticate(key)).to.have.property('applicationId', 'a');
  });

  it('ends with the second at which the key or its application ends, cached or not', async () => {
    records.set(digestOfKey(key), { caller: callerOf('a'), endsAt: now + 500 });
    await authentication.authenticate(key);
    now += 500;
    expect(await refusal(authentication.authenticate(key))).to.match(/^unauthenticated/);
  });

  it('refuses every bad key alike, and asks for none that cannot be one', async () => {
    const unknown = generateApplicationKey('production', 'private');
    const refusals = [undefined, '', 'junk', `${key.slice(0, -1)}-`, unknown].map((bad) =>
      refusal(authentication.authenticate(bad)),
    );
    expect(new Set(await Promise.all(refusals))).to.have.property('size', 1);
    expect(lookups).to.equal(1);
  });

  describe('of a session', () => {
    const sessionKey = generateSessionKey('production');
    const record = (overrides: Partial<AccessRecord> = {}): AccessRecord => ({
      caller: { ...callerOf('public'), sessionId: 's' },
      endsAt: Infinity,
      ...overrides,
    });

    it('looks it up among sessions alone, once for many requests', async () => {
      records.set(digestOfKey(sessionKey), record({ follows: ['private'] }));
      await authentication.authenticate(sessionKey);
      expect(await authentication.authenticate(sessionKey)).to.have.property('sessionId', 's');
      expect([lookups, sessionLookups]).to.deep.equal([0, 1]);
    });

    it('looks it up once for many requests that come together', async () => {
      records.set(digestOfKey(sessionKey), record({ follows: ['private'] }));
      await Promise.all(Array.from({ length: 20 }, () => authentication.authenticate(sessionKey)));
      expect(sessionLookups).to.equal(1);
    });

    it('looks it up twice for many that come together before it is authorized: the later ones share', async () => {
      records.set(digestOfKey(sessionKey), record({ isPending: true }));
      await Promise.all(Array.from({ length: 20 }, () => authentication.authenticate(sessionKey)));
      expect(sessionLookups).to.equal(2);
    });

    it('knows that it is authorized although a look-up from before is under way', async () => {
      const slow = Promise.withResolvers<AccessRecord>();
      const answers = [slow.promise, Promise.resolve(record())];
      authentication = createAuthentication({
        clock: { now: () => now },
        findAccess: async () => undefined,
        findSession: () => answers.shift()!,
      });
      const early = authentication.authenticate(sessionKey);
      const late = authentication.authenticate(sessionKey);
      slow.resolve(record({ caller: callerOf('pending'), isPending: true }));
      expect(await early).to.have.property('applicationId', 'pending');
      expect(await late).to.have.property('applicationId', 'public');
    });

    it('asks each time as long as it may be authorized at any moment', async () => {
      records.set(digestOfKey(sessionKey), record({ isPending: true }));
      await authentication.authenticate(sessionKey);
      records.set(digestOfKey(sessionKey), record({ caller: { ...callerOf('public'), sessionId: 'authorized' } }));
      expect(await authentication.authenticate(sessionKey)).to.have.property('sessionId', 'authorized');
    });

    for (const applicationId of ['public', 'private']) {
      it(`forgets it with the ${applicationId} application that it comes from`, async () => {
        records.set(digestOfKey(sessionKey), record({ follows: ['private'] }));
        await authentication.authenticate(sessionKey);
        records.clear();
        authentication.forgetApplication('another');
        await authentication.authenticate(sessionKey);
        authentication.forgetApplication(applicationId);
        expect(await refusal(authentication.authenticate(sessionKey))).to.match(/^unauthenticated/);
      });
    }
  });

  describe('of a key that is admitted for one invocation', () => {
    const admittedKey = generateApplicationKey('production', 'private');
    const admit = () => authentication.admit(admittedKey, async () => records.get('admitted'));

    beforeEach(() => {
      records.set('admitted', { caller: callerOf('reactor'), endsAt: Infinity });
    });

    it('lets it in until it is revoked', async () => {
      const { revoke } = admit();
      expect(await authentication.authenticate(admittedKey)).to.have.property('applicationId', 'reactor');
      revoke();
      expect(await refusal(authentication.authenticate(admittedKey))).to.match(/^unauthenticated/);
    });

    it('follows what becomes of the application meanwhile', async () => {
      admit();
      await authentication.authenticate(admittedKey);
      records.delete('admitted');
      authentication.forgetApplication('reactor');
      expect(await refusal(authentication.authenticate(admittedKey))).to.match(/^unauthenticated/);
    });

    it('counts its requests until it is revoked, and those of no other key', () => {
      const { revoke } = admit();
      expect(authentication.countAdmitted(admittedKey)).to.equal(1);
      expect(authentication.countAdmitted(admittedKey)).to.equal(2);
      const alike = generateApplicationKey('production', 'private');
      for (const other of [alike, key, '', admittedKey.toUpperCase(), `${admittedKey} `]) {
        expect(authentication.countAdmitted(other)).to.equal(undefined);
      }
      revoke();
      expect(authentication.countAdmitted(admittedKey)).to.equal(undefined);
    });

    it('counts each invocation apart', () => {
      admit();
      authentication.countAdmitted(admittedKey);
      const next = generateApplicationKey('production', 'private');
      authentication.admit(next, async () => records.get('admitted'));
      expect(authentication.countAdmitted(next)).to.equal(1);
    });

    it('does not outlast its revocation through an answer under way', async () => {
      const slow = Promise.withResolvers<AccessRecord>();
      const { revoke } = authentication.admit(admittedKey, () => slow.promise);
      const early = authentication.authenticate(admittedKey);
      revoke();
      slow.resolve({ caller: callerOf('reactor'), endsAt: Infinity });
      await early;
      expect(await refusal(authentication.authenticate(admittedKey))).to.match(/^unauthenticated/);
    });
  });
});
