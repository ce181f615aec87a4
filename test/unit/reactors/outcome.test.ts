import { expect } from 'chai';
import { ERROR_CLASSES, FAILURES, errorClassOf } from '../../../src/reactors/errors.ts';
import { outcomeOf } from '../../../src/reactors/host/outcome.ts';
import { parseFromChild } from '../../../src/reactors/protocol.ts';

describe('statuses of reactor failures', () => {
  it('gives every failure its status', () => {
    const statuses = Object.entries(FAILURES).map(([kind, { status }]) => [kind, status]);
    expect(Object.fromEntries(statuses)).to.deep.equal({
      'timed-out': 504,
      crashed: 502,
      'out-of-memory': 502,
      'invalid-result': 500,
      'result-too-large': 500,
      unavailable: 503,
    });
  });

  it('tells the limit of a result that is too large', () => {
    expect(FAILURES['result-too-large']).to.have.property('detail').that.contains('1 MB');
  });

  it('gives every error class its status', () => {
    const statuses = Object.entries(ERROR_CLASSES).map(([name, { status }]) => [name, status]);
    expect(Object.fromEntries(statuses)).to.deep.equal({
      AuthenticationError: 401,
      AuthorizationError: 403,
      BadRequestError: 400,
      InvalidPaymentMethodError: 402,
      InvalidReactorConfigurationError: 400,
      RateLimitError: 429,
      ReactorRuntimeError: 500,
      ServiceUnavailableError: 503,
    });
  });

  it('finds the class under which an API error is thrown', () => {
    const classes = [400, 401, 402, 403, 404, 429, 500, 502, 504].map(errorClassOf);
    expect(classes).to.deep.equal([
      'BadRequestError',
      'AuthenticationError',
      'InvalidPaymentMethodError',
      'AuthorizationError',
      'BadRequestError',
      'RateLimitError',
      'ReactorRuntimeError',
      'ServiceUnavailableError',
      'ServiceUnavailableError',
    ]);
  });
});

describe('outcomes from what a child says', () => {
  it('keeps absent and null apart', () => {
    expect(outcomeOf({ type: 'returned', raw: 'null', tokenize: '' })).to.deep.equal({ kind: 'returned', raw: null });
  });

  it('counts no bracket inside a string as nesting', () => {
    const raw = JSON.stringify(`${'['.repeat(200)}"\\`);
    expect(outcomeOf({ type: 'returned', raw, tokenize: '' }).kind).to.equal('returned');
  });

  for (const raw of ['{', 'undefined', `${'['.repeat(101)}${']'.repeat(101)}`]) {
    it(`refuses ${raw.slice(0, 12)} as a result`, () => {
      expect(outcomeOf({ type: 'returned', raw, tokenize: '' })).to.deep.equal({ kind: 'invalid-result' });
    });
  }

  for (const error of [
    '{"class":"constructor","errors":{}}',
    '{"class":"RateLimitError","errors":{"a":[1]}}',
    '[]',
    'x',
  ]) {
    it(`refuses ${error} as an error`, () => {
      expect(outcomeOf({ type: 'classed', error })).to.deep.equal({ kind: 'invalid-result' });
    });
  }

  it('takes no name of an error that is not built in', () => {
    const outcome = outcomeOf({ type: 'threw', name: '4242424242424242', line: Number.NaN });
    expect(outcome).to.have.property('detail', 'A value that is no error');
  });
});

describe('a missing module that a child reports', () => {
  const detailFor = (module: string) => {
    const outcome = outcomeOf({ type: 'threw', name: 'Error', line: 3, module });
    return outcome.kind === 'threw' ? outcome.detail : undefined;
  };

  for (const name of ['left-pad', '@scope/pack.age', 'fs/promises', './local.js', '../../above', 'lodash4']) {
    it(`names ${name}`, () => {
      expect(detailFor(name)).to.contain(`requires the module "${name}", which is not available (line 3). Available:`);
    });
  }

  for (const name of ['4242424242424242', 'pan-4242424242424242', 'ada@example.com', 'a b', '"', 'x'.repeat(101)]) {
    it(`does not name ${name.slice(0, 20)}`, () => {
      expect(detailFor(name)).to.match(/^The code requires a module that is not available \(line 3\)\. Available: /);
    });
  }
});

describe('messages of a child', () => {
  it('reads each kind of message', () => {
    const message = { type: 'returned', id: 1, raw: '1', tokenize: '' };
    expect(parseFromChild(JSON.stringify(message))).to.deep.equal(message);
  });

  for (const line of [
    '',
    'null',
    '7',
    '{}',
    '{"type":"toString"}',
    '{"type":"returned","id":"1"}',
    '{"type":"svc","id":1}',
  ]) {
    it(`refuses ${line || 'an empty line'}`, () => {
      expect(parseFromChild(line)).to.equal(undefined);
    });
  }
});
