import { reporters } from 'mocha';

/** Mocha's own listing, ended by the one line that tells the outcome to people and programs. */
export default class SummaryReporter extends reporters.Spec {
  epilogue() {
    const { passes, failures, pending } = this.stats;
    if (failures > 0) reporters.Base.list(this.failures);
    process.stdout.write(`\n${passes} passed, ${failures} failed, ${pending} skipped\n`);
  }
}
