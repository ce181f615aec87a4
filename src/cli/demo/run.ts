import { createNarrator } from './narrator.ts';
import { createScreen, type Screen } from './screen.ts';
import { tellStory } from './story.ts';
import { startVaultProcess } from './vault-process.ts';

export interface DemoOptions {
  /** The folder of declarations that the vault starts with. */
  readonly manifests: string;
  /** Ends the demo early: what was started is stopped, what was made is removed. */
  readonly signal: AbortSignal;
}

/** Resolves to the exit code: 0 where every step of the story went as it tells, 1 otherwise. Leaves nothing behind. */
export async function runDemo({ manifests, signal }: DemoOptions): Promise<0 | 1> {
  const screen = createScreen();
  try {
    await using vault = await startVaultProcess({ manifests, signal, screen });
    const narrator = createNarrator({ vault, screen, signal });
    await tellStory(narrator);
    return summarize(screen, narrator.steps, narrator.differing);
  } catch (error) {
    screen.failure(signal.aborted ? 'interrupted' : error instanceof Error ? error.message : String(error));
    return 1;
  }
}

function summarize(screen: Screen, steps: number, differing: number): 0 | 1 {
  if (differing === 0) {
    screen.success(`${steps} steps, all as they should be.`);
    return 0;
  }
  screen.failure(`${differing} of ${steps} steps differ from what they should be.`);
  return 1;
}
