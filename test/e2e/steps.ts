import type { Step } from './step.ts';
import { applyTheSamples } from './steps/apply-the-samples.ts';
import { buildImages } from './steps/build-images.ts';
import { callFromAPod } from './steps/call-from-a-pod.ts';
import { changeTheCode } from './steps/change-the-code.ts';
import { getThePrograms } from './steps/get-the-programs.ts';
import { importImages } from './steps/import-images.ts';
import { installTheChart } from './steps/install-the-chart.ts';
import { killThePods } from './steps/kill-the-pods.ts';
import { rollBackUnderLoad } from './steps/roll-back-under-load.ts';
import { runStandalone } from './steps/run-standalone.ts';
import { scaleAReactor } from './steps/scale-a-reactor.ts';
import { startBackingServices } from './steps/start-backing-services.ts';
import { startTheNode } from './steps/start-the-node.ts';
import { tryTheNetworkPolicies } from './steps/try-the-network-policies.ts';
import { uninstall } from './steps/uninstall.ts';
import { upgradeUnderLoad } from './steps/upgrade-under-load.ts';
import { useThePlugin } from './steps/use-the-plugin.ts';

/** In their order. A step is a file in `steps/` and a line here. */
export const STEPS: readonly Step[] = [
  getThePrograms,
  buildImages,
  startTheNode,
  importImages,
  runStandalone,
  startBackingServices,
  installTheChart,
  applyTheSamples,
  callFromAPod,
  tryTheNetworkPolicies,
  useThePlugin,
  scaleAReactor,
  changeTheCode,
  upgradeUnderLoad,
  rollBackUnderLoad,
  killThePods,
  uninstall,
];
