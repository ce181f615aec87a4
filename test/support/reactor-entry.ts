import { startReactor } from '../../src/roles/reactor.ts';

// The role as `tokenkeep reactor` wires it: SIGTERM drains, the end of the parent ends it.
const role = await startReactor();
process.once('SIGTERM', () => void role.stop().then(() => process.exit(0)));
await role.finished;
process.exit(0);
