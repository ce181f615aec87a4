import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { openImageStore, type ImageStore } from './images/store.ts';
import { stopMachines } from './node/machine.ts';
import { findObstacle } from './node/obstacle.ts';
import { createStateFolder, othersAreAtWork, removeLeftovers, removeStateFolder } from './node/state-folder.ts';
import { play, within } from './play.ts';
import { writeReport } from './report.ts';
import { Stage, type Step } from './step.ts';
import { STEPS } from './steps.ts';
import { summaryOf, tableOf, type Outcome } from './table.ts';

// The whole of it on a real node of Kubernetes, which is made on this machine for it and goes with it. `--until <step>`
// ends early; `--keep` leaves the node be, also after a failure, until Ctrl-C.

const REPORT_DEADLINE_MS = 3 * 60_000;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function playAll(steps: readonly Step[], stage: Stage, asked: AbortSignal): Promise<boolean> {
  const outcomes: Outcome[] = [];
  for (const step of steps) {
    const failed = outcomes.some(({ result }) => result === 'FAILED');
    if (failed || asked.aborted) {
      outcomes.push({ name: step.name, result: 'not run', ms: 0, remark: '' });
      continue;
    }
    const { failure, ...outcome } = await play(step, stage, say);
    outcomes.push(outcome);
    if (failure !== undefined && !asked.aborted) {
      say(`   ${failure}`);
      const folder = `/tmp/tokenkeep-e2e.report.${new Date().toISOString().replaceAll(':', '')}`;
      await within(REPORT_DEADLINE_MS, writeReport(folder, stage.folder, stage.find('node'))).catch((error: Error) =>
        say(`   not all of it could be kept: ${error.message}`),
      );
      say(`   logs, events and descriptions: ${folder}`);
    }
  }
  say(`\n${tableOf(outcomes)}\n\n${summaryOf(outcomes)}`);
  return outcomes.every(({ result }) => result === 'passed');
}

const { values } = parseArgs({ options: { until: { type: 'string' }, keep: { type: 'boolean', default: false } } });
const last = values.until === undefined ? STEPS.length - 1 : STEPS.findIndex(({ name }) => name === values.until);
if (last === -1) throw new Error(`--until must name one of: ${STEPS.map(({ name }) => name).join(', ')}`);

const steps = STEPS.slice(0, last + 1);

/** Ends without any step, with the reason in the line before the last. */
function endWithout(result: 'FAILED' | 'not run', reason: string): never {
  const [first, ...rest] = steps.map(({ name }): Outcome => ({ name, result: 'not run', ms: 0, remark: '' }));
  say(`${result === 'FAILED' ? 'FAILED' : 'NOT RUN: e2e'}: ${reason.replaceAll('\n', ' ')}`);
  say(summaryOf([{ ...first!, result }, ...rest]));
  process.exit(result === 'FAILED' ? 1 : 0);
}

/** What killed runs left. Containers are listed first: those of a run that begins after that are not among them. */
async function removeWhatIsLeft(images: ImageStore): Promise<void> {
  try {
    for (const reason of await removeLeftovers()) say(`left by an earlier run, and cannot be removed: ${reason}`);
    const containers = await images.containers();
    if (!(await othersAreAtWork())) await images.removeContainers(containers);
  } catch (error) {
    say(`what is left by earlier runs cannot be removed: ${(error as Error).message}`);
  }
}

const images = await openImageStore();
const obstacle = await findObstacle(images.folder).catch((error: Error) => endWithout('FAILED', error.message));
if (obstacle !== undefined) endWithout('not run', obstacle);

const folder = await createStateFolder();
const stage = new Stage(images, folder);
const asked = new AbortController();
const ending = Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal))).then(() => asked.abort());

try {
  await removeWhatIsLeft(images);
  const playing = playAll(steps, stage, asked.signal);
  const passed = await Promise.race([playing, ending.then(() => false)]);
  process.exitCode = passed ? 0 : 1;
  const node = stage.find('node');
  if (values.keep && node !== undefined && !asked.signal.aborted) {
    const { machine, programs, adminKubeconfig } = node;
    say(`\nIn another terminal:\n`);
    say(`  alias kubectl="nsenter -t ${machine.pid} -m -n -p ${programs.kubectl} --kubeconfig ${adminKubeconfig}"`);
    say(`\nCtrl-C ends all of it`);
    await ending;
  }
} finally {
  // A step that was cut off may still be at work.
  await images.stop();
  await stopMachines();
  await removeWhatIsLeft(images);
  await removeStateFolder(folder);
}
process.exit();
