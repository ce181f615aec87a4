import { expect } from 'chai';
import { provideKeys } from '../../../src/operator/application-keys.ts';
import type { ApplicationResource } from '../../../src/operator/kinds/application.ts';
import type { Placement } from '../../../src/operator/placement.ts';
import type { OwnedSecret } from '../../../src/operator/sources/types.ts';

type Context = Parameters<typeof provideKeys>[0];

describe('the key of an application in its Secret', () => {
  const metadata = { namespace: 'default', name: 'payments' };
  const application = { kind: 'Application', metadata, spec: { type: 'private', key: {} } } as ApplicationResource;
  const place = { id: '5a4d7a3a-6b5f-4d0e-9a35-0d6b1d1c8e11', tenant: { type: 'production' } } as Placement;

  /** A source that holds one Secret, which `whileRead` may change behind the reader's back. */
  function holding(whileRead: () => void = () => undefined) {
    const held: { secret: OwnedSecret | undefined; writes: number } = { secret: undefined, writes: 0 };
    const source = {
      async readOwnedSecret() {
        const read = structuredClone(held.secret);
        whileRead();
        return read;
      },
      async writeOwnedSecret(secret: OwnedSecret) {
        held.writes++;
        held.secret = structuredClone(secret);
      },
      recordEvent: () => undefined,
    };
    return {
      held,
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
});
