import { installHelm } from '../../support/kubernetes/helm.ts';
import { installTransitServer } from '../../support/transit-server.ts';
import { installNodePrograms } from '../node/programs.ts';
import type { Step } from '../step.ts';

/** What is built or fetched once for a machine: later runs find it there. */
export const getThePrograms: Step = {
  name: 'get the programs',
  deadlineMs: 45 * 60_000,
  async run() {
    await installNodePrograms();
    await installHelm();
    await installTransitServer();
  },
};
