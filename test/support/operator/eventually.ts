/** Polls `check` until it no longer throws; rejects with its last error after the deadline. */
export async function eventually<Result>(check: () => Result | Promise<Result>, deadlineMs = 5_000): Promise<Result> {
  const end = Date.now() + deadlineMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
