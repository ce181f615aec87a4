import { expect } from 'chai';
import { CONFIGURABLE_LOG_FORMATS, CONFIGURABLE_LOG_LEVELS } from '../../../src/config/shared-settings.ts';
import { LOG_FORMATS, LOG_LEVELS } from '../../../src/platform/logger.ts';

describe('log settings', () => {
  it('are those that the logger obeys', () => {
    expect(CONFIGURABLE_LOG_LEVELS).to.deep.equal(LOG_LEVELS);
    expect(CONFIGURABLE_LOG_FORMATS).to.deep.equal(LOG_FORMATS);
  });
});
