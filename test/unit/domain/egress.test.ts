import { expect } from 'chai';
import {
  EGRESS_LIMITS,
  egressFaults,
  egressRules,
  normalEgress,
  parseEgressEntry,
} from '../../../src/domain/egress.ts';
import { isLoopback, reachOf } from '../../../src/domain/egress-addresses.ts';
import { ADDRESSES } from '../../support/egress/addresses.ts';

describe('a policy of egress', () => {
  for (const [entry, host, kind, port] of [
    ['api.example.com', 'api.example.com', 'host', 443],
    ['API.Example.com.:8443', 'api.example.com', 'host', 8443],
    ['bücher.example', 'xn--bcher-kva.example', 'host', 443],
    ['XN--BCHER-KVA.example', 'xn--bcher-kva.example', 'host', 443],
    ['_tcp.under_score.internal:80', '_tcp.under_score.internal', 'host', 80],
    ['gateway', 'gateway', 'host', 443],
    ['*.example.com', 'example.com', 'below', 443],
    ['*.a.b.example:1', 'a.b.example', 'below', 1],
    ['10.1.2.3:65535', '10.1.2.3', 'address', 65_535],
    ['8.8.8.8', '8.8.8.8', 'address', 443],
    ['[FD00:0::1]:80', 'fd00::1', 'address', 80],
    ['[2606:4700::1111]', '2606:4700::1111', 'address', 443],
  ] as const) {
    it(`may name ${entry}`, () => {
      expect(parseEgressEntry(entry)).to.deep.equal({ host, kind, port });
    });
  }

  for (const [entry, fault] of [
    ['', /must be a host/],
    ['https://a.example', /must be a host/],
    ['a.example/path', /must be a host/],
    ['a.example?q', /must be a host/],
    ['user@a.example', /must be a host/],
    ['a b.example', /must be a host/],
    ['a%2eexample', /must be a host/],
    ['fd00::1', /must be a host/],
    ['a.example:443:443', /must be a host/],
    ['*', /must be a host/],
    ['a.*.example', /must be a host/],
    ['**.example.com', /must be a host/],
    ['[fe80::1%25eth0]', /must be a host/],
    ['*.com', /two labels/],
    ['*.10.0.0.1', /must be a name/],
    ['a..example', /the name of a host/],
    ['a,b.example', /the name of a host/],
    ['[10.0.0.1]', /the name of a host/],
    ['[::ffff:0:0:0:0:0:0:0:1]', /the name of a host/],
    [`${'a'.repeat(254)}`, /the name of a host/],
    ['a'.repeat(EGRESS_LIMITS.entryLength + 1), /at most 261/],
    ['a.example:0', /a port from 1 to 65535/],
    ['a.example:65536', /a port from 1 to 65535/],
    ['a.example:0443', /a port from 1 to 65535/],
    ['0x0a.1', /written as 10\.0\.0\.1/],
    ['167772161', /written as 10\.0\.0\.1/],
    ['①0.0.0.1', /written as 10\.0\.0\.1/],
    ['localhost', /this machine/],
    ['LOCALHOST.:80', /this machine/],
    ['a.localhost', /this machine/],
    ['127.0.0.1:8080', /never reached/],
    ['0.0.0.0', /never reached/],
    ['169.254.169.254:80', /never reached/],
    ['168.63.129.16', /never reached/],
    ['100.100.100.200', /never reached/],
    ['224.0.0.1', /never reached/],
    ['[::1]:443', /never reached/],
    ['[::]', /never reached/],
    ['[fe80::1]', /never reached/],
    ['[ff02::1]', /never reached/],
    ['[fd00:ec2::254]', /never reached/],
    ['[::ffff:10.0.0.1]', /never reached/],
    ['[64:ff9b::7f00:1]', /never reached/],
  ] as const) {
    it(`may not name ${entry.slice(0, 40) || 'nothing'}`, () => {
      expect(parseEgressEntry(entry)).to.be.a('string').that.matches(fault);
    });
  }

  it('tells every fault, each with its entry', () => {
    const faults = egressFaults({ allow: ['a.example', '*', 'b.example', 'localhost'] });
    expect(faults.map(({ index, entry }) => [index, entry])).to.deep.equal([
      [1, '*'],
      [3, 'localhost'],
    ]);
  });

  it('has one form for all its spellings', () => {
    const allow = ['B.example.:443', '*.a.example', 'b.example', '[fd00:0::1]:80', '10.0.0.1'];
    const normal = normalEgress({ allow });
    expect(normal.allow).to.deep.equal(['*.a.example:443', '10.0.0.1:443', '[fd00::1]:80', 'b.example:443']);
    expect(normalEgress(normal)).to.deep.equal(normal);
    expect(normalEgress({ allow: [...allow].reverse() })).to.deep.equal(normal);
  });

  const verdict = (allow: string[] | undefined, url: string, address: string): string => {
    const { protocol, hostname, port } = new URL(url);
    const admits = egressRules(allow && { allow }).admit({
      ...{ protocol: protocol as 'http:' | 'https:', host: hostname.replace(/^\[(.*)\]$/, '$1') },
      port: port === '' ? { 'http:': 80, 'https:': 443 }[protocol]! : Number(port),
    });
    if (typeof admits === 'string') return admits;
    return admits(address) ? 'admitted' : 'address';
  };
  const PUBLIC = '93.184.215.14';
  for (const [allow, url, address, expected] of [
    [undefined, 'https://a.example', PUBLIC, 'admitted'],
    [undefined, 'https://a.example', '10.0.0.1', 'address'],
    [undefined, 'http://a.example', PUBLIC, 'scheme'],
    [undefined, 'http://a.example:443', PUBLIC, 'scheme'],
    [undefined, 'https://a.example:8443', PUBLIC, 'port'],
    [[], 'https://a.example', PUBLIC, 'host'],
    [['a.example'], 'https://a.example', PUBLIC, 'admitted'],
    [['a.example'], 'https://a.example', '10.0.0.1', 'admitted'],
    [['a.example'], 'https://a.example', '127.0.0.1', 'address'],
    [['a.example'], 'https://a.example', '169.254.169.254', 'address'],
    [['a.example'], 'https://b.example', PUBLIC, 'host'],
    [['a.example'], 'https://x.a.example', PUBLIC, 'host'],
    [['a.example'], 'https://xa.example', PUBLIC, 'host'],
    [['a.example'], 'http://a.example', PUBLIC, 'port'],
    [['a.example:80'], 'http://a.example', PUBLIC, 'admitted'],
    [['a.example', 'a.example:80'], 'http://a.example', PUBLIC, 'admitted'],
    [['*.a.example'], 'https://x.a.example', PUBLIC, 'admitted'],
    [['*.a.example'], 'https://y.x.a.example', PUBLIC, 'admitted'],
    [['*.a.example'], 'https://a.example', PUBLIC, 'host'],
    [['*.a.example'], 'https://xa.example', PUBLIC, 'host'],
    [['*.a.example'], 'https://x.a.example.evil.test', PUBLIC, 'host'],
    [['*.a.example'], 'https://x.a.example:8443', PUBLIC, 'port'],
    [['10.0.0.1:80'], 'http://10.0.0.1', '10.0.0.1', 'admitted'],
    [['[fd00::1]:80'], 'http://[fd00:0::1]', 'fd00::1', 'admitted'],
    [['127.0.0.1:80'], 'http://127.0.0.1', '127.0.0.1', 'host'],
  ] as const) {
    it(`of ${JSON.stringify(allow) ?? 'nothing'} gives ${url} at ${address}: ${expected}`, () => {
      expect(verdict(allow && [...allow], url, address)).to.equal(expected);
    });
  }
});

describe('addresses', () => {
  for (const [reach, addresses] of Object.entries(ADDRESSES)) {
    it(`that are reached ${reach === 'public' ? 'by everybody' : reach}`, () => {
      for (const address of addresses) expect(reachOf(address), address).to.equal(reach);
    });
  }

  for (const text of ['fe80::1%eth0', '8.8.8.8%eth0', 'junk', '', '8.8.8.8.8']) {
    it(`are not what ${text || 'nothing'} is`, () => expect(reachOf(text)).to.equal('never'));
  }

  for (const [address, expected] of [
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['::1', true],
    ['128.0.0.1', false],
    ['0.0.0.0', false],
    ['::', false],
    ['::ffff:127.0.0.1', false],
    ['64:ff9b::127.0.0.1', false],
    ['::1%lo', false],
    ['localhost', false],
  ] as const) {
    it(`such as ${address} are ${expected ? '' : 'not '}this machine’s own`, () => {
      expect(isLoopback(address)).to.equal(expected);
    });
  }
});
