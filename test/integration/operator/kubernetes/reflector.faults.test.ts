import { expect } from 'chai';
import type { RestartReason } from '../../../../src/operator/kubernetes/restart-reasons.ts';
import { eventually } from '../../../support/eventually.ts';
import { startReflectedApi } from '../../../support/kubernetes/reflected-api.ts';
import type { ReflectedApi } from '../../../support/kubernetes/reflected-api.ts';
import { event, object, page, refusal, reset, stream, streamAndEnd } from '../../../support/kubernetes/scripted-api.ts';
import type { Answer } from '../../../support/kubernetes/scripted-api.ts';

describe('a reflector whose watch fails', () => {
  let reflected: ReflectedApi;

  beforeEach(async () => {
    reflected = await startReflectedApi();
  });

  afterEach(() => reflected.close());

  describe('begins again, where it was, after', () => {
    const faults: [string, Answer, RestartReason][] = [
      ['a connection that breaks before the answer', reset, 'disconnected'],
      ['401', refusal(401, 'Unauthorized'), 'unauthorized'],
      ['403', refusal(403, 'Forbidden'), 'forbidden'],
      ['404, as before its definition is installed', refusal(404, 'NotFound'), 'not-found'],
      ['429', refusal(429, 'TooManyRequests'), 'throttled'],
      ['500', refusal(500, 'InternalError'), 'server-error'],
      ['503', refusal(503, 'ServiceUnavailable'), 'server-error'],
      ['an ERROR in the stream', stream(event('ERROR', { kind: 'Status', code: 500 })), 'server-error'],
      [
        'an ERROR in the stream that asks for patience',
        stream(event('ERROR', { kind: 'Status', code: 429 })),
        'throttled',
      ],
      ['a watch that ends at once', streamAndEnd(), 'cut-short'],
    ];
    for (const [what, fault, reason] of faults) {
      it(what, async () => {
        await reflected.begin(fault, stream(event('ADDED', object('b', 6))));
        await reflected.hasRestarted(reason);
        expect(reflected.watches()).to.have.length(1);
        await reflected.clock.advance(200);
        await reflected.isTold('a@4', 'b@6');
        expect(reflected.watches()[1]?.resourceVersion).to.equal('5');
        expect(reflected.lists()).to.have.length(1);
      });
    }

    it('a connection that breaks between two events', async () => {
      await reflected.begin(
        (response) => response.write(event('ADDED', object('b', 6)), () => response.destroy()),
        stream(event('ADDED', object('c', 7))),
      );
      await reflected.hasRestarted('disconnected');
      await reflected.clock.advance(200);
      await reflected.isTold('a@4', 'b@6', 'c@7');
      expect(reflected.watches()[1]?.resourceVersion).to.equal('6');
    });

    it('an API that is away, once it is back', async () => {
      await reflected.begin(stream());
      reflected.api.watches.push(...Array<Answer>(10).fill(reset), stream(event('ADDED', object('b', 6))));
      reflected.api.open[0]?.destroy();
      for (let time = 0; time < 11; time += 1) {
        await eventually(() => expect(reflected.restarts).to.have.length(time + 1));
        await reflected.clock.advance(30_000);
      }
      await reflected.isTold('a@4', 'b@6');
    });

    it('silence for longer than the watch was to last', async () => {
      await reflected.begin(stream());
      reflected.api.watches.push(stream(event('ADDED', object('b', 6))));
      await reflected.clock.advance(300_000);
      expect(reflected.restarts).to.be.empty;
      await reflected.clock.advance(30_000);
      await reflected.hasRestarted('silent');
      await reflected.clock.advance(200);
      await reflected.isTold('a@4', 'b@6');
      await eventually(() => expect(reflected.api.open).to.have.length(1));
    });
  });

  describe('lists again, and tells what has vanished and changed in between, after', () => {
    const again = page([object('b', 7), object('c', 8)], 9);
    const losses: [string, Answer, RestartReason][] = [
      ['410', refusal(410, 'Gone'), 'expired'],
      ['410 in the stream', stream(event('ERROR', { kind: 'Status', code: 410, reason: 'Expired' })), 'expired'],
      ['an event from before what was listed', stream(event('ADDED', object('x', 3))), 'expired'],
      ['half a line', streamAndEnd(event('ADDED', object('x', 6)).slice(0, 40)), 'malformed'],
      ['an event without metadata', stream('{"type":"ADDED","object":{}}\n'), 'malformed'],
    ];
    for (const [what, loss, reason] of losses) {
      it(what, async () => {
        reflected.api.lists.push(page([object('a', 4), object('b', 5)], 5), again);
        reflected.api.watches.push(loss);
        await reflected.reflector.start();
        await reflected.hasRestarted(reason);
        await reflected.clock.advance(200);
        await reflected.isTold('a@4', 'b@5', 'b@7', 'c@8', '-default/a');
        await reflected.isWatching(2);
        expect(reflected.watches()[1]?.resourceVersion).to.equal('9');
      });
    }

    it('410, at once, but not over and over', async () => {
      await reflected.begin(refusal(410, 'Gone'), refusal(410, 'Gone'), stream());
      reflected.api.lists.push(page([], 6), page([object('b', 7)], 8));
      await reflected.hasRestarted('expired', 'expired');
      expect(reflected.lists()).to.have.length(2);
      await reflected.clock.advance(400);
      await reflected.isTold('a@4', '-default/a', 'b@7');
    });
  });
});
