const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** A DNS label of RFC 1123: 1 to 63 of a-z, 0-9 and `-`, so it can be no other path than its own. */
export function isDnsLabel(name: string): boolean {
  return DNS_LABEL.test(name);
}

/**
 * What Kubernetes takes as the name of a Secret: up to 253 of a-z, 0-9, `-` and `.`, as RFC 1123 has it. No two dots
 * follow each other and none comes first, so it can be no other path than its own either.
 */
export function isDnsSubdomain(name: string): boolean {
  return DNS_SUBDOMAIN.test(name);
}
