import type { TracingConfig } from '../config/tracing-settings.ts';
import type { Logger } from '../platform/logger.ts';
import type { TraceSampling } from '../platform/opentelemetry.ts';
import type { ShutdownStack } from '../platform/shutdown.ts';
import { noTracing, type Tracing } from '../platform/tracing.ts';

export interface TracingOptions {
  /** What the process is called in traces. */
  readonly service: string;
  readonly version: string;
  readonly logger: Logger;
  readonly shutdown: ShutdownStack;
}

/** Traces as OpenTelemetry's variables say. Where they ask for none, nothing of it is loaded. */
export async function startTracing(config: TracingConfig, options: TracingOptions): Promise<Tracing> {
  if (!isAskedFor(config)) return noTracing;
  const { logger, shutdown, service, version } = options;
  const { createOpenTelemetry } = await import('../platform/opentelemetry.ts');
  const tracing = createOpenTelemetry({
    ...{ service, version, sampling: samplingOf(config) },
    onFailure: () => logger.warn({}, 'Traces could not be sent to the collector; they are lost'),
  });
  shutdown.push('traces', () => tracing.stop());
  return tracing;
}

function isAskedFor({ tracingDisabled, tracesExporter, tracesEndpoint, otlpEndpoint }: TracingConfig): boolean {
  if (tracingDisabled || tracesExporter === 'none') return false;
  return tracesExporter === 'otlp' || tracesEndpoint !== undefined || otlpEndpoint !== undefined;
}

function samplingOf({ tracesSampler, tracesSamplerArg }: TracingConfig): TraceSampling {
  const parentBased = tracesSampler.startsWith('parentbased_');
  if (tracesSampler.endsWith('always_on')) return { parentBased, ratio: 1 };
  return { parentBased, ratio: tracesSampler.endsWith('always_off') ? 0 : tracesSamplerArg };
}
