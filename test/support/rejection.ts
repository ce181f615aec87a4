import { expect } from 'chai';

/** What `work` rejects with; fails where it resolves. */
export async function rejection(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => expect.fail('did not fail'),
    (error: Error) => error,
  );
}
