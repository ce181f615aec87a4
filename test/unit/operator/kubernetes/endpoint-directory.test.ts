import { expect } from 'chai';
import { originsOf } from '../../../../src/operator/kubernetes/endpoint-directory.ts';
import type { EndpointSlice } from '../../../../src/operator/kubernetes/endpoint-directory.ts';

describe('the addresses of replicas of the API', () => {
  const slice = (endpoints: EndpointSlice['endpoints'], more: Partial<EndpointSlice> = {}): EndpointSlice => ({
    metadata: { name: 'internal-abc', namespace: 'tokenkeep' },
    addressType: 'IPv4',
    ports: [{ name: 'internal', port: 8443 }],
    endpoints: endpoints ?? [],
    ...more,
  });
  const pod = (address: string, uid: string, conditions = {}) => ({
    addresses: [address],
    conditions: { ready: true, serving: true, ...conditions },
    targetRef: { uid },
  });

  it('are those of pods that serve, in all slices', () => {
    const slices = [slice([pod('10.0.0.2', 'b')]), slice([pod('10.0.0.1', 'a')])];
    expect(originsOf(slices, 'https:')).to.deep.equal(['https://10.0.0.1:8443', 'https://10.0.0.2:8443']);
  });

  it('leave out pods that do not serve, and keep those that end and still do', () => {
    const endpoints = [
      pod('10.0.0.1', 'a', { ready: false, serving: false }),
      pod('10.0.0.2', 'b', { ready: false, serving: true, terminating: true }),
    ];
    expect(originsOf([slice(endpoints)], 'http:')).to.deep.equal(['http://10.0.0.2:8443']);
  });

  it('take a pod for serving where its conditions do not say, as the API has it', () => {
    expect(originsOf([slice([{ addresses: ['10.0.0.1'] }])], 'http:')).to.deep.equal(['http://10.0.0.1:8443']);
  });

  it('name a pod once that has an address of each family', () => {
    const six = slice([pod('fd00::1', 'a')], { addressType: 'IPv6' });
    expect(originsOf([six, slice([pod('10.0.0.1', 'a')])], 'https:')).to.deep.equal(['https://10.0.0.1:8443']);
    expect(originsOf([six], 'https:')).to.deep.equal(['https://[fd00::1]:8443']);
  });

  it('are at the port of the internal API, or at the only one', () => {
    const ports = [
      { name: 'metrics', port: 9090 },
      { name: 'internal', port: 8443 },
    ];
    expect(originsOf([slice([pod('10.0.0.1', 'a')], { ports })], 'http:')).to.deep.equal(['http://10.0.0.1:8443']);
    const only = [{ port: 9000 }];
    expect(originsOf([slice([pod('10.0.0.1', 'a')], { ports: only })], 'http:')).to.deep.equal([
      'http://10.0.0.1:9000',
    ]);
  });

  it('are none where a slice is empty', () => {
    expect(originsOf([slice(null), slice([pod('10.0.0.1', 'a')], { ports: null })], 'http:')).to.deep.equal([]);
  });
});
