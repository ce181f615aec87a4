import { writeFileSync } from 'node:fs';
import { reporters } from 'mocha';

/**
 * Mocha's own listing, ended by the one line that tells the outcome to people and programs. Where TOKENKEEP_TEST_FAILURES
 * names a file, that is given the failures as JSON: `[{ file, title }]`, without a file for what belongs to none.
 */
export default class SummaryReporter extends reporters.Spec {
  epilogue() {
    const { passes, failures, pending } = this.stats;
    if (failures > 0) reporters.Base.list(this.failures);
    const list = process.env.TOKENKEEP_TEST_FAILURES;
    if (list) {
      const failed = this.failures.map((test) => ({ file: test.file, title: test.fullTitle() }));
      writeFileSync(list, JSON.stringify(failed));
    }
    process.stdout.write(`\n${passes} passed, ${failures} failed, ${pending} skipped\n`);
  }
}
