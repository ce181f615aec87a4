import { agreement, differences, type Fact } from './facts.ts';
import { indent, prettyJson, type Screen } from './screen.ts';
import type { VaultProcess } from './vault-process.ts';

/** One request of the story, and what must come of it. */
export interface Step {
  readonly title: string;
  /** The application that asks, by the name under which it is declared. */
  readonly as: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly status: number;
  /** Of the answer's body. */
  readonly facts?: readonly Fact[];
}

/** Carries out steps, and tells each as it goes. */
export interface Narrator {
  /** Steps told so far. */
  readonly steps: number;
  /** Those whose answer was another than expected. */
  readonly differing: number;
  /** Resolves to the body of the answer, whether it is as expected or not; undefined where it has none. */
  readonly tell: (step: Step) => Promise<unknown>;
}

export interface NarratorOptions {
  readonly vault: VaultProcess;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

const REQUEST_TIMEOUT_MS = 30_000;

export function createNarrator({ vault, screen, signal }: NarratorOptions): Narrator {
  let steps = 0;
  let differing = 0;

  async function send({ as, method, path, body }: Step): Promise<{ status: number; body: unknown }> {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await fetch(vault.baseUrl + path, {
      method,
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
      headers: {
        'SVC-API-KEY': await vault.keyOf(as),
        ...(body === undefined ? {} : { 'Content-Type': contentType }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  }

  return {
    get steps() {
      return steps;
    },
    get differing() {
      return differing;
    },
    async tell(step) {
      const { title, as, method, path, body, status, facts = [] } = step;
      steps += 1;
      screen.title(`${steps}. ${title}`);
      screen.line(`  > ${method} ${path}   as ${as}`);
      if (body !== undefined) screen.line(indent(prettyJson(body)));
      const answer = await send(step);
      screen.detail(`  < ${answer.status}`);
      if (answer.body !== undefined) screen.detail(indent(prettyJson(answer.body)));
      const faults = differences(answer, { status, facts });
      for (const fault of faults) screen.failure(fault);
      if (faults.length > 0) differing += 1;
      else screen.success(agreement({ status, facts }));
      return answer.body;
    },
  };
}
