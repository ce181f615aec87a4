import { DomainError } from '../domain/errors.ts';
import type { Queryable, Statement } from './database.ts';

const SETTINGS: Statement = {
  text: `
    select name, setting from pg_settings
    where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'
    order by name`,
};

/**
 * Refuses a Postgres that confirms commits which a crash could lose: an answer to a client promises that the token
 * exists.
 */
export async function assertDurable(queryable: Queryable): Promise<void> {
  const off = await queryable.run<{ name: string }>(SETTINGS);
  if (off.length === 0) return;
  const names = off.map(({ name }) => name).join(', ');
  throw new DomainError('unavailable', `Postgres may lose confirmed writes: set ${names} to on (now off)`);
}
