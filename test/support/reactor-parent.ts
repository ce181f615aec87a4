import { createProcessRuntime } from '../../src/operator/runtimes/process.ts';
import { REACTOR_COMMAND, workloadOf } from './reactors.ts';

// A parent to be killed: starts a reactor that runs an endless timer, and the checker, and says when they are ready.
const runtime = createProcessRuntime({ command: REACTOR_COMMAND });
runtime.onChange(({ ready }) => ready.length > 0 && process.stdout.write('ready\n'));
await runtime.checker();
await runtime.apply(workloadOf('module.exports = async () => ({})'), 1);
