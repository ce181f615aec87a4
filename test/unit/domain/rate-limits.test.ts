import { expect } from 'chai';
import type { CustomRateLimit } from '../../../src/domain/rate-limit-quotas.ts';
import {
  addressCounters,
  ALL_REQUESTS,
  callerCounters,
  type CounterState,
  DEFAULT_ROWS,
  type LimitedRequest,
  longestRefusal,
  lowestRate,
} from '../../../src/domain/rate-limits.ts';

const REQUEST: LimitedRequest = {
  method: 'GET',
  routePath: '/logs',
  address: '192.0.2.1',
  keyId: 'key-1',
  legacyKey: false,
  tenantId: 'tenant-1',
  tenantType: 'production',
  applicationType: 'private',
  quota: { plan: 'Default' },
};

const countersOf = (request: Partial<LimitedRequest>) => callerCounters({ ...REQUEST, ...request });
const idsOf = (request: Partial<LimitedRequest>) => countersOf(request).map(({ id }) => id);

const PAIR = 'ip-and-key/192.0.2.1/key-1';
const PRIVATE = ['private/key/key-1', 'private/ip/192.0.2.1'];

describe('the rows of rate limits', () => {
  it('are those of the specification', () => {
    const table = [ALL_REQUESTS, ...DEFAULT_ROWS].map(
      ({ name, counters, requests, windowSeconds, blockSeconds = 0 }) =>
        `${name}: ${counters.join(' or ')}, ${requests} / ${windowSeconds} s${blockSeconds ? `, block ${blockSeconds} s` : ''}`,
    );
    expect(table).to.deep.equal([
      'all-requests: ip, 2000 / 10 s, block 30 s',
      'test-tenant: ip-and-key, 50 / 10 s',
      'search-tokens: ip-and-key, 50 / 10 s',
      'list-tokens: ip-and-key, 100 / 10 s',
      'create-tokens: ip-and-key, 200 / 10 s',
      'update-tokens: ip-and-key, 200 / 10 s',
      'delete-tokens: ip-and-key, 200 / 10 s',
      'account-updater: ip-and-key, 10 / 10 s',
      'private: key or ip, 2000 / 10 s',
      'public: ip-and-key, 50 / 60 s, block 10 s',
      'management: key, 200 / 60 s, block 60 s',
      'legacy-key: ip-and-key, 100 / 60 s',
    ]);
  });

  const applicable: [string, Partial<LimitedRequest>, string[]][] = [
    ['any request of a private application', {}, PRIVATE],
    ['of a public application', { applicationType: 'public' }, [`public/${PAIR}`]],
    ['of a management application', { applicationType: 'management' }, ['management/key/key-1']],
    ['of a test tenant', { tenantType: 'test' }, [`test-tenant/${PAIR}`, ...PRIVATE]],
    ['with a legacy key', { legacyKey: true }, [...PRIVATE, `legacy-key/${PAIR}`]],
    ['search', { method: 'POST', routePath: '/tokens/search' }, [`search-tokens/${PAIR}`, ...PRIVATE]],
    ['search, version 2', { method: 'POST', routePath: '/v2/tokens/search' }, [`search-tokens/${PAIR}`, ...PRIVATE]],
    ['list', { routePath: '/tokens' }, [`list-tokens/${PAIR}`, ...PRIVATE]],
    ['list, version 2', { routePath: '/v2/tokens' }, [`list-tokens/${PAIR}`, ...PRIVATE]],
    ['list without its body', { method: 'HEAD', routePath: '/tokens' }, [`list-tokens/${PAIR}`, ...PRIVATE]],
    ['read of one token', { routePath: '/tokens/{id}' }, PRIVATE],
    ['create', { method: 'POST', routePath: '/tokens' }, [`create-tokens/${PAIR}`, ...PRIVATE]],
    ['tokenize', { method: 'POST', routePath: '/tokenize' }, [`create-tokens/${PAIR}`, ...PRIVATE]],
    ['detokenize', { method: 'POST', routePath: '/detokenize' }, PRIVATE],
    ['update', { method: 'PATCH', routePath: '/tokens/{id}' }, [`update-tokens/${PAIR}`, ...PRIVATE]],
    ['delete', { method: 'DELETE', routePath: '/tokens/{id}' }, [`delete-tokens/${PAIR}`, ...PRIVATE]],
    ['of the account updater', { routePath: '/account-updater/jobs' }, [`account-updater/${PAIR}`, ...PRIVATE]],
    ['of the account updater itself', { routePath: '/account-updater' }, [`account-updater/${PAIR}`, ...PRIVATE]],
    ['of what only sounds like it', { routePath: '/account-updaters' }, PRIVATE],
    [
      'that several rows name',
      { method: 'POST', routePath: '/tokens', tenantType: 'test', applicationType: 'public', legacyKey: true },
      ['test-tenant', 'create-tokens', 'public', 'legacy-key'].map((name) => `${name}/${PAIR}`),
    ],
  ];
  for (const [what, request, ids] of applicable) {
    it(`count ${what} on ${ids.map((id) => id.split('/').slice(0, 2).join(' by ')).join(', ')}`, () => {
      expect(idsOf(request)).to.deep.equal(ids);
    });
  }

  it('count a call of a reactor on its application alone, wherever it comes from', () => {
    const call = { method: 'POST', routePath: '/tokens', address: undefined };
    expect(idsOf(call)).to.deep.equal(['create-tokens/ip-and-key/key-1', 'private/key/key-1']);
    expect(idsOf({ ...call, applicationType: 'public' })).to.deep.equal([
      'create-tokens/ip-and-key/key-1',
      'public/ip-and-key/key-1',
    ]);
  });

  it('count create and tokenize together', () => {
    const create = idsOf({ method: 'POST', routePath: '/tokens' });
    expect(idsOf({ method: 'POST', routePath: '/tokenize' })).to.deep.equal(create);
  });

  it('count by address alone before anything is known of the caller', () => {
    expect(addressCounters('192.0.2.1')).to.deep.equal([
      { row: ALL_REQUESTS, kind: 'ip', id: 'all-requests/ip/192.0.2.1' },
    ]);
  });

  describe('of a tenant', () => {
    const rows: CustomRateLimit[] = [
      { name: 'all', counter: 'Key', requests: 5, windowSeconds: 1, action: 'Throttle' },
      {
        ...{ name: 'searches', resource: 'SearchTokens', counter: 'KeyAndIP', applicationType: 'private' },
        ...{ requests: 1, windowSeconds: 1, action: 'Block', blockSeconds: 9 },
      },
      {
        name: 'from-one-place',
        applicationType: 'public',
        counter: 'IP',
        requests: 2,
        windowSeconds: 1,
        action: 'Throttle',
      },
    ];
    const quota = { plan: 'Custom', rows } as const;

    it('are none where it is unlimited', () => {
      expect(idsOf({ quota: { plan: 'Unlimited' }, tenantType: 'test', legacyKey: true })).to.deep.equal([]);
    });

    it('take the place of the others where it has its own', () => {
      expect(idsOf({ quota, tenantType: 'test' })).to.deep.equal(['tenant-1/all/key/key-1']);
      expect(idsOf({ quota, applicationType: 'public' })).to.deep.equal([
        'tenant-1/all/key/key-1',
        'tenant-1/from-one-place/ip/192.0.2.1',
      ]);
      const [, search] = countersOf({ quota, method: 'POST', routePath: '/tokens/search' });
      expect(search).to.deep.equal({
        id: `tenant-1/searches/${PAIR}`,
        kind: 'ip-and-key',
        row: {
          ...{ name: 'searches', resource: 'SearchTokens', applicationType: 'private', counters: ['ip-and-key'] },
          ...{ requests: 1, windowSeconds: 1, blockSeconds: 9 },
        },
      });
    });

    it('count a call of a reactor on none of its rows that count addresses', () => {
      const call = { quota, address: undefined, applicationType: 'public' } as const;
      expect(idsOf(call)).to.deep.equal(['tenant-1/all/key/key-1']);
    });

    it('count its requests apart from those of other tenants at the same address', () => {
      const at = (tenantId: string) => idsOf({ quota, tenantId, applicationType: 'public' })[1];
      expect(at('tenant-1')).not.to.equal(at('tenant-2'));
    });
  });
});

describe('of several counters', () => {
  const state = (
    name: string,
    requests: number,
    windowSeconds: number,
    more: Partial<CounterState> = {},
  ): CounterState => ({
    row: { name, counters: ['key'], requests, windowSeconds },
    ...{ refused: false, remaining: requests, waitMs: 1 },
    ...more,
  });

  it('the lowest rate is per second, not per window', () => {
    const states = [state('fast', 50, 10), state('slow', 100, 60), state('faster', 2000, 10)];
    expect(lowestRate(states)?.row.name).to.equal('slow');
  });

  it('the fuller one counts as the lower of equal rates, and the first where both are as full', () => {
    const states = [state('one', 50, 10, { remaining: 7 }), state('two', 5, 1, { remaining: 3 })];
    expect(lowestRate(states)?.row.name).to.equal('two');
    expect(lowestRate([state('one', 5, 1), state('two', 5, 1)])?.row.name).to.equal('one');
    expect(lowestRate([])).to.equal(undefined);
  });

  it('the one that refuses longest tells when to come again', () => {
    const states = [
      state('short', 1, 1, { refused: true, waitMs: 5 }),
      state('long', 9, 1, { refused: true, waitMs: 9 }),
      state('lets through', 1, 1, { waitMs: 50 }),
    ];
    expect(longestRefusal(states)?.row.name).to.equal('long');
    expect(longestRefusal([state('lets through', 1, 1)])).to.equal(undefined);
  });
});
