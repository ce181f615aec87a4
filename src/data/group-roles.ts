import type { Queryable, Statement } from './database.ts';

/**
 * The roles that hold privileges; users that log in are members of one of them. The API is confined to the tenant in
 * scope; the sweeper sees every tenant's rows, but not what is sealed in them.
 */
export const API_ROLE = 'tokenkeep_api';
export const SWEEPER_ROLE = 'tokenkeep_sweeper';
export type GroupRole = typeof API_ROLE | typeof SWEEPER_ROLE;

const GROUPS: readonly GroupRole[] = [API_ROLE, SWEEPER_ROLE];

/** The group roles are missing, and the user of the database may not make them. The message has the SQL to run. */
export class GroupRolesMissing extends Error {
  override readonly name = 'GroupRolesMissing';

  constructor(missing: readonly string[]) {
    const statements = missing.map((role) => `create role ${role} nologin;`).join(' ');
    super(`this user of Postgres may not create roles; as one that may, run: ${statements}`);
  }
}

const STATE: Statement = {
  text: `
    select u.rolsuper or u.rolcreaterole as "mayCreate",
      array(select wanted from unnest($1::text[]) wanted where to_regrole(wanted) is null) as missing
    from pg_roles u where u.rolname = current_user`,
};

// Roles belong to the whole server: migrations of several databases may make them at once.
function createRole(role: string): Statement {
  return {
    text: `
      do $$ begin
        create role ${role} nologin;
      exception when duplicate_object or unique_violation then null;
      end $$`,
  };
}

/** Makes those of the roles that the server does not have. Throws GroupRolesMissing where the user may not. */
export async function ensureGroupRoles(owner: Queryable, roles: readonly string[] = GROUPS): Promise<void> {
  const [state] = await owner.run<{ mayCreate: boolean; missing: string[] }>(STATE, [roles]);
  const { mayCreate, missing } = state!;
  if (missing.length > 0 && !mayCreate) throw new GroupRolesMissing(missing);
  for (const role of missing) await owner.run(createRole(role));
}

const WITHOUT_MEMBERS: Statement = {
  text: `
    select wanted as role from unnest($1::text[]) wanted
    where not exists (
      select from pg_auth_members where roleid = to_regrole(wanted) and member <> current_user::regrole
    )`,
};

/** The statements, with a name and a password to choose, by which users come into the groups that have none. */
export async function statementsForLogins(
  queryable: Queryable,
  groupRoles: readonly string[] = GROUPS,
): Promise<string[]> {
  const groups = await queryable.run<{ role: string }>(WITHOUT_MEMBERS, [groupRoles]);
  return groups.map(({ role }) => `create user <name> password '<password>' in role ${role};`);
}

/** Makes a user who may log in, as a member of a group, or gives it another password. Both must be plain words. */
export async function putLogin(
  owner: Queryable,
  { name, password, group }: { name: string; password: string; group: GroupRole },
): Promise<void> {
  for (const word of [name, password]) {
    if (!/^[a-z0-9_]+$/i.test(word)) throw new RangeError('Names and passwords of logins are letters and digits');
  }
  await owner.run(createRole(name));
  await owner.run({ text: `alter role ${name} login password '${password}'` });
  await owner.run({ text: `grant ${group} to ${name}` });
}
