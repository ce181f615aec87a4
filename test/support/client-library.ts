import { BasisTheoryClient } from '@basis-theory/node-sdk';
import { expect } from 'chai';
import type { TestVault } from './vault.ts';

/** A client library that people use with an API of this shape, as they use it: its base URL and key are ours. */
export function clientOf(vault: TestVault, key: string): BasisTheoryClient {
  // Tests look at the first answer; a user's client would ask again where it may.
  return new BasisTheoryClient({ baseUrl: vault.baseUrl, apiKey: key, maxRetries: 0 });
}

/** What a call of the client fails with, which must be an error of this class. */
export async function failureOf<Failure extends Error>(
  call: PromiseLike<unknown>,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- constructors of any arguments
  kind: new (...args: any[]) => Failure,
): Promise<Failure> {
  const failure = await Promise.resolve(call).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).to.be.instanceOf(kind);
  return failure as Failure;
}

/** Everything that an iterator of the client gives. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
