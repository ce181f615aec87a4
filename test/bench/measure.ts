import { cpuBetween, readCpu, sumCpu, type CpuSeconds } from './cpu.ts';
import { median, quantile, runLoop, type Operation } from './load-loop.ts';

/** One operation at one concurrency. */
export interface Subject {
  readonly scenario: string;
  /** Null for ours, else the name of the ceiling. */
  readonly ceiling: string | null;
  readonly concurrency: number;
  readonly operation: Operation;
}

/** Medians over the rounds; CPU over all of them. */
export interface Measurement {
  readonly subject: Subject;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** For a thousand operations; undefined where it cannot be read. */
  readonly cpu: CpuSeconds | undefined;
}

export interface Plan {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly sliceMs: number;
  /** Of one slice. */
  readonly maxOperations: number;
  readonly vaultPid: number;
  /** Ends the measuring early. */
  readonly signal: AbortSignal;
  readonly onRound: (round: number) => void;
}

interface Slice {
  perSecond: number;
  p50: number;
  p99: number;
  operations: number;
  cpu: CpuSeconds | undefined;
}

/**
 * Measures all subjects in turn, and that several times, in alternating order: what else the machine does meanwhile
 * falls on all of them alike.
 */
export async function measure(subjects: readonly Subject[], plan: Plan): Promise<Measurement[]> {
  const { rounds, warmUpMs, maxOperations, signal, onRound } = plan;
  const slices = new Map<Subject, Slice[]>(subjects.map((subject) => [subject, []]));
  for (const { operation, concurrency } of subjects) {
    signal.throwIfAborted();
    await runLoop(operation, { concurrency, durationMs: warmUpMs, maxOperations });
  }
  for (let round = 1; round <= rounds; round++) {
    onRound(round);
    for (const subject of round % 2 === 1 ? subjects : subjects.toReversed()) {
      signal.throwIfAborted();
      slices.get(subject)!.push(await measureSlice(subject, plan));
    }
  }
  return subjects.map((subject) => summarize(subject, slices.get(subject)!));
}

async function measureSlice({ operation, concurrency }: Subject, plan: Plan): Promise<Slice> {
  const { sliceMs: durationMs, maxOperations, vaultPid } = plan;
  const before = readCpu(vaultPid);
  const { seconds, latencies } = await runLoop(operation, { concurrency, durationMs, maxOperations });
  const after = readCpu(vaultPid);
  return {
    perSecond: latencies.length / seconds,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    operations: latencies.length,
    cpu: before && after && cpuBetween(before, after),
  };
}

function summarize(subject: Subject, slices: readonly Slice[]): Measurement {
  const thousands = slices.reduce((sum, { operations }) => sum + operations, 0) / 1000;
  const used = slices.flatMap(({ cpu }) => cpu ?? []);
  const total = used.length === slices.length ? sumCpu(used) : undefined;
  return {
    subject,
    perSecond: median(slices.map((slice) => slice.perSecond)),
    p50: median(slices.map((slice) => slice.p50)),
    p99: median(slices.map((slice) => slice.p99)),
    cpu: total && {
      api: total.api / thousands,
      postgres: total.postgres / thousands,
      reactors: total.reactors / thousands,
      loader: total.loader / thousands,
    },
  };
}
