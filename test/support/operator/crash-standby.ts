import { once } from 'node:events';

// Loaded before the program itself: has all of it in memory, and then waits for a line on standard input. So a program
// that is ended can be followed by the next one at once.

await import('../../../src/roles/operator.ts');
await once(process.stdin, 'data');
process.stdin.pause();
