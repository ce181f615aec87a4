import { installGoProgram } from './go-program.ts';
import { CHART_JUDGES } from './kubernetes/chart-judges.ts';
import { installHealth } from './kubernetes/health.ts';
import { installHelm } from './kubernetes/helm.ts';
import { installKubernetes } from './kubernetes/programs.ts';
import { installToxiproxy } from './toxiproxy-program.ts';
import { installTransitServer } from './transit-server.ts';

const TOOLS = {
  OpenBao: installTransitServer,
  toxiproxy: installToxiproxy,
  Kubernetes: installKubernetes,
  Helm: installHelm,
  'the judges of the chart': async () => {
    for (const judge of CHART_JUDGES) await installGoProgram(judge);
  },
  'the libraries of GitOps tools': installHealth,
};

// Best effort: the tests of what is missing then are skipped and say so, or fail with CI=true.
for (const [name, install] of Object.entries(TOOLS)) {
  try {
    await install();
  } catch (error) {
    process.stderr.write(`NOT INSTALLED: ${name}: ${(error as Error).message}\n`);
  }
}
