import { expect } from 'chai';
import { clientAddress, countedAddress } from '../../../src/api/client-address.ts';

describe('an address as it is counted', () => {
  const counted: [string, string][] = [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', 'unknown'],
    ['localhost', 'unknown'],
  ];
  for (const [address, expected] of counted) {
    it(`${address || 'none'} counts as ${expected}`, () => expect(countedAddress(address)).to.equal(expected));
  }

  it('is one for a whole /64 network, and another for the next', () => {
    expect(countedAddress('2001:db8:1:2::1')).to.equal(countedAddress('2001:db8:1:2:ffff::9'));
    expect(countedAddress('2001:db8:1:2::1')).not.to.equal(countedAddress('2001:db8:1:3::1'));
  });
});

describe('the client address', () => {
  const SOCKET = '10.0.0.1';

  it('is that of the connection where no proxy is trusted, whatever the header says', () => {
    expect(clientAddress(SOCKET, '192.0.2.1', 0)).to.deep.equal({ address: SOCKET, fellBack: false });
    expect(clientAddress('::ffff:10.0.0.1', '', 0)).to.deep.equal({ address: SOCKET, fellBack: false });
    expect(clientAddress(undefined, '', 0)).to.deep.equal({ address: 'unknown', fellBack: false });
  });

  const named: [string, number, string][] = [
    ['192.0.2.1', 1, '192.0.2.1'],
    ['203.0.113.9, 192.0.2.1', 1, '192.0.2.1'],
    ['203.0.113.9,192.0.2.1 , 10.0.0.2', 2, '192.0.2.1'],
    ['not an address, 192.0.2.1', 1, '192.0.2.1'],
    ['192.0.2.1:4711', 1, '192.0.2.1'],
    ['[2001:db8::1]:443', 1, '2001:db8:0:0::/64'],
    ['[2001:db8::1]', 1, '2001:db8:0:0::/64'],
    ['2001:db8::1', 1, '2001:db8:0:0::/64'],
  ];
  for (const [header, proxies, address] of named) {
    it(`behind ${proxies} trusted, "${header}" is ${address}`, () => {
      expect(clientAddress(SOCKET, header, proxies)).to.deep.equal({ address, fellBack: false });
    });
  }

  const unusable: [string, number][] = [
    ['', 1],
    ['192.0.2.1', 2],
    ['192.0.2.1, unknown', 1],
    ['192.0.2.1,', 1],
    ['192.0.2.1:http', 1],
    ['999.0.2.1', 1],
    ['192.0.2.1, _hidden', 1],
  ];
  for (const [header, proxies] of unusable) {
    it(`behind ${proxies} trusted, "${header}" names nobody: the connection stands`, () => {
      expect(clientAddress(SOCKET, header, proxies)).to.deep.equal({ address: SOCKET, fellBack: true });
    });
  }

  it('cannot be chosen by who is left of the trusted proxies', () => {
    for (const forged of ['192.0.2.66', '::1', 'x', ',,,']) {
      expect(clientAddress(SOCKET, `${forged}, 198.51.100.4`, 1).address).to.equal('198.51.100.4');
    }
  });
});
