import { DomainError, type Violations } from '../../../src/domain/errors.ts';

/** The violations of the 'invalid' error that `work` throws; throws where it does not. */
export function violationsOf(work: () => unknown): Violations {
  try {
    work();
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'invalid' && error.violations) return error.violations;
    throw error;
  }
  throw new Error('nothing was refused');
}
