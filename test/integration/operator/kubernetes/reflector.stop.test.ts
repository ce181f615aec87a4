import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { startReflectedApi } from '../../../support/kubernetes/reflected-api.ts';
import type { ReflectedApi } from '../../../support/kubernetes/reflected-api.ts';
import { event, object, page, reset, stream } from '../../../support/kubernetes/scripted-api.ts';
import { rejection } from '../../../support/rejection.ts';

const A_YEAR_MS = 365 * 24 * 3_600_000;

describe('a reflector', () => {
  let reflected: ReflectedApi;

  beforeEach(async () => {
    reflected = await startReflectedApi();
  });

  afterEach(() => reflected.close());

  describe('stopped', () => {
    async function stopForGood(): Promise<void> {
      const before = [...reflected.told];
      await reflected.reflector.stop();
      const seen = reflected.api.seen.length;
      await reflected.clock.advance(A_YEAR_MS);
      await eventually(() => expect(reflected.api.open).to.be.empty);
      expect(reflected.api.seen).to.have.length(seen);
      expect(reflected.told).to.deep.equal(before);
    }

    it('during its list, tells nothing and opens no watch', async () => {
      let answerLate: () => void = () => undefined;
      reflected.api.lists.push(
        (response, request) => (answerLate = () => page([object('a', 4)], 5)(response, request)),
      );
      const starting = rejection(reflected.reflector.start());
      await eventually(() => expect(reflected.lists()).to.have.length(1));
      const stopping = stopForGood();
      answerLate();
      await stopping;
      expect((await starting).message).to.equal('The watch of configmaps was stopped');
      expect(reflected.told).to.be.empty;
    });

    it('by what it tells, tells no more of the page that it has', async () => {
      reflected.api.lists.push(page([object('a', 4), object('b', 4)], 5));
      reflected.onTold = () => void reflected.reflector.stop();
      await rejection(reflected.reflector.start());
      await stopForGood();
      expect(reflected.told).to.deep.equal(['a@4']);
    });

    it('during its watch, closes it', async () => {
      await reflected.begin(stream(event('ADDED', object('b', 6))));
      await reflected.isTold('a@4', 'b@6');
      await stopForGood();
      expect(reflected.restarts).to.be.empty;
    });

    it('while it waits before the next attempt, makes none', async () => {
      await reflected.begin(reset);
      await reflected.hasRestarted('disconnected');
      await stopForGood();
    });

    it('before it was started, stays so', async () => {
      await reflected.reflector.stop();
      await rejection(reflected.reflector.start());
      expect(reflected.api.seen).to.be.empty;
    });
  });
});
