import type { Logger } from '../../platform/logger.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { clientAddress } from '../client-address.ts';
import type { ApiContext } from '../state.ts';

export interface ClientAddressOptions {
  /** How many proxies in front of the API append to `X-Forwarded-For`; 0: addresses are those of the connections. */
  readonly trustedProxies: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Builds what gives the address of a request's client as it is counted, and tells the operator, without any address,
 * where the number of proxies does not fit what comes.
 */
export function createClientAddresses(options: ClientAddressOptions): (ctx: ApiContext) => string {
  const { trustedProxies, logger, metrics } = options;
  const unusable = metrics.counter({
    name: 'forwarded_addresses_unusable_total',
    help: 'Requests whose X-Forwarded-For did not name the client behind the trusted proxies.',
  });
  let hasWarned = false;

  return (ctx) => {
    const forwardedFor = ctx.get('X-Forwarded-For');
    const { address, fellBack } = clientAddress(ctx.req.socket.remoteAddress, forwardedFor, trustedProxies);
    if (fellBack) unusable.inc();
    if (trustedProxies === 0 && forwardedFor !== '' && !hasWarned) {
      hasWarned = true;
      logger.warn(
        {},
        '--trusted-proxies is 0 but requests come with X-Forwarded-For: ' +
          'all clients behind that proxy share one rate limit',
      );
    }
    return address;
  };
}
