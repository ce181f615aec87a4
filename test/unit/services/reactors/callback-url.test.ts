import { expect } from 'chai';
import { callbackRules, faultOfCallbackUrl } from '../../../../src/services/reactors/asynchronous/callback-url.ts';
import { ADDRESSES } from '../../../support/egress/addresses.ts';

const HOSTS = {
  httpHosts: ['receiver.internal', 'shop.internal:8080', '[::1]:9000', '127.0.0.1:8081', 'localhost:8082', '10.0.0.1'],
};
const NOT_PUBLIC = 'must lead to a public address';

describe('a callback URL', () => {
  for (const url of [
    'https://example.com',
    'HTTPS://EXAMPLE.COM.',
    'https://example.com:443/a?b=c',
    'https://93.184.215.14/',
    'https://[2606:4700::1111]/',
    'http://receiver.internal/',
    'http://receiver.internal.:81/',
    'https://receiver.internal:8443/',
    'http://SHOP.internal:8080/x',
    'http://[::1]:9000/',
    'http://127.0.0.1:8081/',
    'http://localhost:8082/',
    'https://10.0.0.1:1/',
  ]) {
    it(`may be ${url}`, () => expect(faultOfCallbackUrl(url, HOSTS)).to.equal(undefined));
  }

  for (const [url, fault] of [
    ['', 'must be an absolute URL'],
    ['example.com', 'must be an absolute URL'],
    ['//example.com/', 'must be an absolute URL'],
    ['https://a..example/', 'must be an absolute URL'],
    ['https:\\\\example.com/', 'must be an absolute URL'],
    ['https://example.com/\n', 'must be an absolute URL'],
    [`https://${'a.'.repeat(130)}example/`, 'must be an absolute URL'],
    ['file:///etc/passwd', 'must begin with https://'],
    ['ws://example.com/', 'must begin with https://'],
    ['http://example.com/', 'must begin with https://'],
    ['http://shop.internal/', 'must begin with https://'],
    ['http://shop.internal:8081/', 'must begin with https://'],
    ['http://receiver.internal.evil.test/', 'must begin with https://'],
    ['http://evil.test/?receiver.internal', 'must begin with https://'],
    ['http://receiver.internal@evil.test/', 'must hold no user name and no password'],
    ['https://user@example.com/', 'must hold no user name and no password'],
    ['https://:secret@example.com/', 'must hold no user name and no password'],
    ['https://example.com:8443/', 'must have no port but 443'],
    ['https://example.com:80/', 'must have no port but 443'],
    ['https://shop.internal:8443/', 'must have no port but 443'],
    ['https://10.1.2.3/', NOT_PUBLIC],
    ['https://2130706433/', NOT_PUBLIC],
    ['https://0x7f.1/', NOT_PUBLIC],
    ['https://[::ffff:a9fe:a9fe]/', NOT_PUBLIC],
    ['https://localhost/', NOT_PUBLIC],
    ['https://LOCALHOST./', NOT_PUBLIC],
    ['https://a.localhost/', NOT_PUBLIC],
    ['https://example.com/#a', 'must have no fragment'],
    [`https://example.com/${'a'.repeat(1_981)}`, 'must be at most 2000 characters long'],
  ] as const) {
    it(`must not be ${JSON.stringify(url.slice(0, 50))}`, () => {
      expect(faultOfCallbackUrl(url, HOSTS)).to.equal(fault);
    });
  }

  it('has no address that is not public', () => {
    for (const [reach, addresses] of Object.entries(ADDRESSES)) {
      for (const address of addresses) {
        const url = `https://${address.includes(':') ? `[${address}]` : address}/`;
        expect(faultOfCallbackUrl(url, { httpHosts: [] }), url).to.equal(reach === 'public' ? undefined : NOT_PUBLIC);
      }
    }
  });
});

describe('hosts that the deployer has named', () => {
  const admits = (url: string, httpHosts: string[], address: string): boolean | string => {
    const { protocol, hostname, port } = new URL(url);
    const target = {
      ...{ protocol: protocol as 'http:' | 'https:', host: hostname.replace(/^\[(.*)\]$/, '$1') },
      port: port === '' ? { 'http:': 80, 'https:': 443 }[protocol]! : Number(port),
    };
    const test = callbackRules({ httpHosts }).admit(target);
    return typeof test === 'string' ? test : test(address);
  };

  for (const [url, host, expected] of [
    ['http://a.test/', 'a.test:80', true],
    ['https://a.test/', 'a.test:443', true],
    ['http://a.test:1/', 'a.test', true],
    ['http://a.test/', 'a.test:443', 'scheme'],
    ['https://a.test:1/', 'a.test:443', 'port'],
    ['https://b.test/', 'a.test', false],
    ['http://b.test/', 'a.test', 'scheme'],
  ] as const) {
    it(`with ${host} among them: ${url} may have a private address: ${expected}`, () => {
      expect(admits(url, [host], '10.0.0.1')).to.equal(expected);
    });
  }

  it('lead to no address that is never reached, whatever their name stands for', () => {
    for (const [reach, addresses] of Object.entries(ADDRESSES)) {
      for (const address of addresses) {
        expect(admits('http://a.test/', ['a.test'], address), address).to.equal(reach !== 'never');
      }
    }
  });

  for (const [host, address, expected] of [
    ['127.0.0.1', '127.0.0.1', true],
    ['[::1]:80', '::1', true],
    ['localhost', '127.0.0.1', true],
    ['localhost', '::1', true],
    ['localhost', '169.254.169.254', false],
    ['localhost', '0.0.0.0', false],
    ['169.254.169.254', '169.254.169.254', false],
    ['0.0.0.0', '0.0.0.0', false],
    ['[::ffff:7f00:1]', '::ffff:7f00:1', false],
  ] as const) {
    it(`are this machine only as such: ${host} at ${address}: ${expected}`, () => {
      expect(admits(`http://${host}/`, [host], address)).to.equal(expected);
    });
  }
});
