#!/usr/bin/env node
// `kubectl tokenkeep`: kubectl runs a program of this name on the PATH. It is the same program as `tokenkeep kubectl`,
// and as there, this file must run on whatever Node the machine has.
process.argv.splice(2, 0, 'kubectl');
await import('./tokenkeep.js');
