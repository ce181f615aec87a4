import type { Queryable, Statement } from './database.ts';

/** Which key managements have wrapped data keys that are stored: the beginnings of their wrapped forms. */
export interface Wrappings {
  readonly keyring: boolean;
  readonly vault: boolean;
}

const WRAPPINGS: Statement = {
  text: `
    select exists (select from data_keys where starts_with(wrapped, 'keyring:')) as keyring,
      exists (select from data_keys where starts_with(wrapped, 'vault:')) as vault`,
};

export async function findWrappings(queryable: Queryable): Promise<Wrappings> {
  const [row] = await queryable.run<{ keyring: boolean; vault: boolean }>(WRAPPINGS);
  return row!;
}
