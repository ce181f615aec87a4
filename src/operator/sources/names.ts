const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** A DNS label of RFC 1123: 1 to 63 of a-z, 0-9 and `-`, so it can be no other path than its own. */
export function isDnsLabel(name: string): boolean {
  return DNS_LABEL.test(name);
}
