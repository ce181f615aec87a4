import { expect } from 'chai';
import type { RestartReason } from '../../../../src/operator/kubernetes/restart-reasons.ts';
import { eventually } from '../../../support/eventually.ts';
import { startReflectedApi } from '../../../support/kubernetes/reflected-api.ts';
import type { ReflectedApi } from '../../../support/kubernetes/reflected-api.ts';
import { object, page, refusal, reset } from '../../../support/kubernetes/scripted-api.ts';
import type { Answer } from '../../../support/kubernetes/scripted-api.ts';

describe('a reflector', () => {
  let reflected: ReflectedApi;

  beforeEach(async () => {
    reflected = await startReflectedApi();
  });

  afterEach(() => reflected.close());

  describe('while it cannot list', () => {
    const faults: [string, Answer, RestartReason][] = [
      ['because the connection breaks', reset, 'disconnected'],
      ['because the kind is not served yet', refusal(404, 'NotFound'), 'not-found'],
      ['because it is refused', refusal(401, 'Unauthorized'), 'unauthorized'],
      ['because the answer is no list', (response) => response.end('{}'), 'malformed'],
      ['because the answer is cut off', (response) => response.end('{"items": ['), 'malformed'],
    ];
    for (const [what, fault, reason] of faults) {
      it(`${what}, asks again later, and is not started`, async () => {
        let isStarted = false;
        reflected.api.lists.push(fault, fault, page([object('a', 4)], 5));
        const starting = reflected.reflector.start().then(() => (isStarted = true));
        await reflected.hasRestarted(reason);
        await reflected.clock.advance(200);
        await reflected.hasRestarted(reason, reason);
        expect(isStarted).to.equal(false);
        await reflected.clock.advance(399);
        expect(reflected.lists()).to.have.length(2);
        await reflected.clock.advance(1);
        await starting;
        expect(reflected.told).to.deep.equal(['a@4']);
      });
    }

    it('in the middle of its pages, begins with the first one again', async () => {
      reflected.api.lists.push(page([object('a', 1)], 5, 'second'), refusal(500, 'InternalError'));
      reflected.api.lists.push(page([object('b', 6)], 7, 'second'), page([object('c', 3)], 7));
      const starting = reflected.reflector.start();
      await reflected.hasRestarted('server-error');
      await reflected.clock.advance(200);
      await starting;
      expect(reflected.told).to.deep.equal(['a@1', 'b@6', 'c@3', '-default/a']);
    });

    it('because it does not come, asks again after the deadline of a request', async () => {
      await reflected.close();
      reflected = await startReflectedApi(200);
      const starting = reflected.reflector.start();
      await reflected.hasRestarted('timed-out');
      await eventually(() => expect(reflected.api.connections()).to.equal(0));
      reflected.api.lists.push(page([object('a', 4)], 5));
      await reflected.clock.advance(200);
      await starting;
      expect(reflected.told).to.deep.equal(['a@4']);
    });

    it('waits for as long as it is told to', async () => {
      reflected.api.lists.push(refusal(429, 'TooManyRequests', { details: { retryAfterSeconds: 50 } }), page([], 5));
      const starting = reflected.reflector.start();
      await reflected.hasRestarted('throttled');
      await reflected.clock.advance(49_999);
      expect(reflected.lists()).to.have.length(1);
      await reflected.clock.advance(1);
      await starting;
    });

    it('waits longer each time, up to half a minute', async () => {
      reflected.api.lists.push(...Array<Answer>(12).fill(reset));
      void reflected.reflector.start().catch(() => undefined);
      const waits = [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000];
      for (const [time, wait] of waits.entries()) {
        await eventually(() => expect(reflected.restarts).to.have.length(time + 1));
        await reflected.clock.advance(wait - 1);
        expect(reflected.lists()).to.have.length(time + 1);
        await reflected.clock.advance(1);
        await eventually(() => expect(reflected.lists()).to.have.length(time + 2));
      }
    });
  });
});
