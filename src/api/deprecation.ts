/** An operation that is on its way out: since when, until when, and what takes its place. */
export interface Deprecation {
  /** Day, in UTC: `2024-04-17`. */
  readonly since: string;
  /** Day, in UTC, after which the operation may be gone. */
  readonly sunset: string;
  /** Path of the replacement; `{id}` stands for the parameter of the deprecated path. */
  readonly successor: string;
}

function instantOf(day: string): Date {
  return new Date(`${day}T00:00:00Z`);
}

/** The headers that tell a client of it: Deprecation (RFC 9745), Sunset (RFC 8594) and the successor's Link. */
export function deprecationHeaders(
  { since, sunset, successor }: Deprecation,
  params: Readonly<Record<string, string>>,
): Record<string, string> {
  const target = successor.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return {
    Deprecation: `@${instantOf(since).getTime() / 1000}`,
    Sunset: instantOf(sunset).toUTCString(),
    Link: `<${target}>; rel="successor-version"`,
  };
}

/** The same headers as the OpenAPI document describes them. */
export const deprecationHeaderDefinitions = {
  Deprecation: {
    description: 'Since when the operation is deprecated (RFC 9745): `@` and Unix seconds.',
    schema: { type: 'string' },
  },
  Sunset: {
    description: 'From when on the operation may be gone (RFC 8594).',
    schema: { type: 'string' },
  },
  Link: { description: 'What takes its place, as `rel="successor-version"`.', schema: { type: 'string' } },
};
