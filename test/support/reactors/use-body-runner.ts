import { BODY_RUNNER, createReactorHarness } from '../reactors.ts';
import type { DeployedReactor, ReactorHarness } from '../reactors.ts';

/** To be called in a suite: all of its tests are given one reactor that runs the bodies that they send it. */
export function useBodyRunner(give: (made: { reactors: ReactorHarness; runner: DeployedReactor }) => void): void {
  let reactors: ReactorHarness;

  before(async () => {
    reactors = createReactorHarness();
    give({ reactors, runner: await reactors.deploy(BODY_RUNNER) });
  });
  after(() => reactors.stop());
}
