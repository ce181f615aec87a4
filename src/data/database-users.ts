import type { Queryable, Statement } from './database.ts';
import { API_ROLE, SWEEPER_ROLE, type GroupRole } from './group-roles.ts';

/** What a user of Postgres may do here, as far as row-level security is concerned. */
export interface UserRights {
  readonly name: string;
  /** Superuser, told to bypass row-level security, or the owner of the tables: no policy holds it. */
  readonly bypasses: boolean;
  /** The groups whose privileges it may take on. */
  readonly groups: readonly GroupRole[];
}

// Since Postgres 16, to be a member of a role and to be allowed to take it on are two things.
const RIGHTS: Statement = {
  text: `
    select u.rolname as name,
      u.rolsuper or u.rolbypassrls or coalesce(
        pg_has_role((select relowner from pg_class where oid = to_regclass('tokens')), 'member'), false
      ) as bypasses,
      array(
        select wanted from unnest($1::text[]) as wanted
        where to_regrole(wanted) is not null and pg_has_role(
          wanted, case when current_setting('server_version_num')::integer < 160000 then 'member' else 'set' end
        )
      ) as groups
    from pg_roles u where u.rolname = current_user`,
};

/** The rights of the user that is logged in. */
export async function readUserRights(queryable: Queryable): Promise<UserRights> {
  const [rights] = await queryable.run<UserRights>(RIGHTS, [[API_ROLE, SWEEPER_ROLE]]);
  return rights!;
}

/** Whether the user is held to what the group may do, whatever its statements are. */
export function isConfinedTo({ bypasses, groups }: UserRights, group: GroupRole): boolean {
  return !bypasses && groups.length === 1 && groups[0] === group;
}
