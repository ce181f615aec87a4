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
    required: true,
    schema: { type: 'string' },
    example: '@1713312000',
  },
  Sunset: {
    description: 'From when on the operation may be gone (RFC 8594).',
    required: true,
    schema: { type: 'string' },
    example: 'Thu, 17 Oct 2024 00:00:00 GMT',
  },
  Link: {
    description: 'What takes its place, as `rel="successor-version"`.',
    required: true,
    schema: { type: 'string' },
    example: '</applications/e1a7c3d4-52b6-4f8a-9c0d-1e2f3a4b5c6d/keys>; rel="successor-version"',
  },
};
