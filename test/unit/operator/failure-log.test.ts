import { expect } from 'chai';
import { FailureLog } from '../../../src/operator/failure-log.ts';
import type { LogFields } from '../../../src/platform/logger.ts';
import { silentLogger } from '../../../src/platform/logger.ts';

describe('the log of reactors that fail', () => {
  const state = { tenantId: 't', reactorId: 'r', revision: '1', ready: [], desired: 1 };
  let now: number;
  let lines: LogFields[];
  let log: FailureLog;
  beforeEach(() => {
    now = 0;
    lines = [];
    const warn = (fields: LogFields | string): void => void lines.push(fields as LogFields);
    log = new FailureLog({ ...silentLogger, warn }, { now: () => now });
  });
  const details = (): unknown[] => lines.map(({ detail }) => detail);

  it('names the reactor and what keeps it from answering', () => {
    log.tell({ ...state, failure: 'It throws (line 1)', failureReason: 'CodeRefused' });
    const named = { tenantId: 't', reactorId: 'r' };
    expect(lines).to.deep.equal([{ ...named, reason: 'CodeRefused', detail: 'It throws (line 1)' }]);
  });

  it('says nothing of one that is well, and a new reason at once', () => {
    log.tell(state);
    log.tell({ ...state, failure: 'one' });
    log.tell({ ...state, failure: 'two' });
    expect(details()).to.deep.equal(['one', 'two']);
  });

  it('says the same once in ten minutes, whether it was well meanwhile or not', () => {
    for (const at of [0, 1_000, 599_999]) {
      now = at;
      log.tell({ ...state, failure: 'one' });
      log.tell(state);
    }
    expect(lines).to.have.length(1);
    now = 600_000;
    log.tell({ ...state, failure: 'one' });
    log.tell({ ...state, reactorId: 'other', failure: 'one' });
    expect(lines).to.have.length(3);
  });

  it('begins anew with one that was forgotten', () => {
    log.tell({ ...state, failure: 'one' });
    log.forget('t/r');
    log.tell({ ...state, failure: 'one' });
    expect(lines).to.have.length(2);
  });
});
