import { setTimeout as delay } from 'node:timers/promises';

/** Repeats an assertion until it holds; past the deadline, fails as it last failed. */
export async function eventually<Result>(
  assertion: () => Result | Promise<Result>,
  { deadlineMs = 10_000, everyMs = 10 }: { deadlineMs?: number; everyMs?: number } = {},
): Promise<Result> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await delay(everyMs);
  }
}
