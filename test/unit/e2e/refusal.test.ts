import { expect } from 'chai';
import { failureOf, RefusedError } from '../../e2e/node/refusal.ts';

const REFUSALS = [
  'unshare: unshare failed: Operation not permitted',
  'mount: /run: permission denied.',
  "mount: /var/lib: unknown filesystem type 'overlay'.",
  'RTNETLINK answers: Operation not supported',
  'Error: Unknown device type.',
  'sh: 11: cannot create /proc/sys/net/ipv4/ip_forward: Read-only file system',
];

const MISTAKES = [
  'sh: 12: tinni: not found',
  'RTNETLINK answers: File exists',
  "mkdir: cannot create directory '/run/lock': No space left on device",
  'mount: /var/lib: wrong fs type, bad option, bad superblock on machine, missing codepage or helper program.',
  '',
];

describe('why the machine of the end-to-end test does not start', () => {
  for (const said of REFUSALS) {
    it(`is a refusal: ${said}`, () => {
      const failure = failureOf('the machine did not start', said);
      expect(failure).to.be.instanceOf(RefusedError);
      expect(failure.message).to.equal(`the machine did not start: ${said}`);
    });
  }

  for (const said of MISTAKES) {
    it(`is a failure: ${said === '' ? 'nothing was said' : said}`, () => {
      expect(failureOf('the machine did not start', said)).not.to.be.instanceOf(RefusedError);
    });
  }
});
