import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { provideKeys } from '../../../src/operator/application-keys.ts';
import type { ApplicationResource } from '../../../src/operator/kinds/application.ts';
import type { Placement } from '../../../src/operator/placement.ts';
import { NamespaceTerminatingError } from '../../../src/operator/sources/errors.ts';
import type { OwnedSecret, StoredSecret } from '../../../src/operator/sources/types.ts';

type Context = Parameters<typeof provideKeys>[0];

describe('the key of an application in its Secret', () => {
  const metadata = { namespace: 'default', name: 'payments' };
  const spec = { type: 'private', key: {}, deletionPolicy: 'Delete' };
  const application = { kind: 'Application', metadata, spec } as ApplicationResource;
  const place = { id: '5a4d7a3a-6b5f-4d0e-9a35-0d6b1d1c8e11', tenant: { type: 'production' } } as Placement;

  /** A source that holds one Secret, which `whileRead` may change behind the reader's back. */
  function holding(whileRead: () => void = () => undefined) {
    const held: { secret: StoredSecret | undefined; writes: number } = { secret: undefined, writes: 0 };
    const source = {
      async readOwnedSecret() {
        const read = structuredClone(held.secret);
        whileRead();
        return read;
      },
      async writeOwnedSecret(secret: OwnedSecret, before: StoredSecret | undefined) {
        const next = { ...secret, isImmutable: before?.isImmutable ?? false, version: before?.version };
        if (isDeepStrictEqual(next, before)) return;
        held.writes++;
        held.secret = structuredClone(next);
      },
      recordEvent: () => undefined,
    };
    return {
      held,
      source,
      context: { source, clock: { now: () => 1_000 }, publicBaseUrl: 'http://vault' } as unknown as Context,
    };
  }

  async function keysOf(context: Context) {
    const provided = await provideKeys(context, application, place);
    return 'keys' in provided ? provided.keys : expect.fail('no keys');
  }

  it('is written when it is made, when something beside it is to change, and not otherwise', async () => {
    const { held, context } = holding();
    const made = await keysOf(context);
    expect(held.writes).to.equal(1);
    expect(await keysOf(context)).to.deep.equal(made);
    expect(held.writes).to.equal(1);
    await keysOf({ ...context, publicBaseUrl: 'http://moved' });
    expect(held.writes).to.equal(2);
    expect(held.secret!.data['base-url']).to.equal('http://moved');
  });

  it('comes with what the Service Binding specification asks for', async () => {
    const { held, context } = holding();
    await keysOf(context);
    expect(held.secret!.data).to.include({ type: 'tokenkeep', provider: 'tokenkeep' });
  });

  it('of the person’s own stalls where the entry that holds it is not text', async () => {
    const source = { readReferent: () => Promise.resolve({ key: null, other: 'text' }) };
    const brought = { ...application, spec: { ...spec, key: { fromSecret: { name: 'mine', key: 'key' } } } };
    const { outcome } = await provideKeys({ source } as unknown as Context, brought as ApplicationResource, place);
    expect(outcome).to.include({ state: 'stalled', reason: 'EntryNotText' });
    expect(outcome?.message).to.include('Entry key of Secret mine');
  });

  it('does not come back where the Secret is deleted while it is looked at: the next look makes another', async () => {
    let isDeleted = false;
    const { held, context } = holding(() => {
      if (isDeleted) held.secret = undefined;
    });
    const first = await keysOf(context);
    isDeleted = true;
    await keysOf(context);
    expect(held.secret).to.equal(undefined);
    const next = await keysOf(context);
    expect(next).to.have.lengthOf(1).and.not.deep.equal(first);
  });

  it('cannot change in an immutable Secret: a person is told to delete it', async () => {
    const { held, context } = holding();
    const made = await keysOf(context);
    held.secret!.isImmutable = true;
    expect(await keysOf(context)).to.deep.equal(made);
    const moved = await provideKeys({ ...context, publicBaseUrl: 'http://moved' }, application, place);
    expect(moved.outcome).to.include({ state: 'stalled', reason: 'SecretImmutable' });
    expect(held.writes).to.equal(1);
  });

  it('is not made in a namespace that is being deleted, and that is no failure', async () => {
    const { source, context } = holding();
    source.writeOwnedSecret = () => Promise.reject(new NamespaceTerminatingError('default'));
    const provided = await provideKeys(context, application, place);
    expect(provided.outcome).to.include({ state: 'waiting', reason: 'NamespaceTerminating' });
  });

  it('fails where the Secret was changed by another writer in between', async () => {
    const { source, context } = holding();
    source.writeOwnedSecret = () => Promise.reject(new Error('changed'));
    const outcome = await provideKeys(context, application, place).then(
      () => 'provided',
      () => 'failed',
    );
    expect(outcome).to.equal('failed');
  });
});
