import type { Context, RootHookObject, Runner, Suite } from 'mocha';

/** Handles that are still open then would keep the run from ending; they are a leak of some test. */
const LEAK_DEADLINE_MS = 10_000;

/** Starts what integration tests share, where the run has any; unit tests do not even load it. */
export async function mochaGlobalSetup(this: Runner): Promise<void> {
  if (!includesIntegration(this.suite)) return;
  const { startTestPostgres } = await import('./postgres.ts');
  await startTestPostgres();
}

const startedAt = Date.now();

/** However slow the machine: what a whole run leaves behind is a gigabyte. */
const SCAN_TIMEOUT_MS = 300_000;

/** Holds a whole run against the API's document, and what it leaves behind against its secrets. */
export const mochaHooks: RootHookObject = {
  afterAll: [
    async function (this: Context) {
      const root = this.test!.parent!;
      if (!includesIntegration(root)) return;
      const { checkDocumentCoverage } = await import('./document-coverage.ts');
      await checkDocumentCoverage(root);
    },
    async function (this: Context) {
      this.timeout(SCAN_TIMEOUT_MS);
      if (!includesIntegration(this.test!.parent!)) return;
      const { checkRunCanaries } = await import('./run-canary-check.ts');
      await checkRunCanaries(startedAt);
    },
  ],
};

/** Stops it, and fails the run where a test has left something open. */
export async function mochaGlobalTeardown(this: Runner): Promise<void> {
  if (includesIntegration(this.suite)) {
    const { stopTestPostgres } = await import('./postgres.ts');
    await stopTestPostgres();
    const { stopTransitServer } = await import('./transit-server.ts');
    await stopTransitServer();
    const { stopSharedKubernetes } = await import('./kubernetes/control-plane.ts');
    await stopSharedKubernetes();
    const { dropOutput } = await import('./run-canaries.ts');
    await dropOutput();
  }
  setTimeout(() => {
    process.stderr.write(`handles leaked by the tests: ${process.getActiveResourcesInfo().join(', ')}\n`);
    process.exit(1);
  }, LEAK_DEADLINE_MS).unref();
}

function includesIntegration(suite: Suite): boolean {
  return suite.file?.includes('/test/integration/') === true || suite.suites.some(includesIntegration);
}
