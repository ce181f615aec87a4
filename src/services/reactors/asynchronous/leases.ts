/**
 * How long a process that has died keeps what it had claimed from the others; a living one renews its leases three
 * times as often.
 */
export const LEASE_SECONDS = 15;
