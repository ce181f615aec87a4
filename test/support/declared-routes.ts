import { readdir } from 'node:fs/promises';
import type { Route } from '../../src/api/route.ts';

const ROUTES = new URL('../../src/api/routes/', import.meta.url);

/** Every route that a room of `src/api/routes` declares, without the parts that its handler needs to be called. */
export async function declaredRoutes(): Promise<Route[]> {
  const rooms = (await readdir(ROUTES)).sort();
  const modules = await Promise.all(
    rooms.map((room) => import(new URL(`${room}/index.ts`, ROUTES).href) as Promise<Record<string, unknown>>),
  );
  return modules.flatMap((module) =>
    Object.entries(module).flatMap(([name, value]) =>
      name.endsWith('Routes') && typeof value === 'function' ? (value as (parts: object) => Route[])({}) : [],
    ),
  );
}
