import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span as ApiSpan,
  type TextMapGetter,
  type TextMapSetter,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import { NO_SPAN, type Part, type Span, type Tracing } from './tracing.ts';

export interface OpenTelemetryOptions {
  /** `service.name`, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES say otherwise. */
  readonly service: string;
  readonly version: string;
  readonly sampling: TraceSampling;
  /** Traces could not be sent; told at most once a minute. */
  readonly onFailure: () => void;
}

/** Which traces are sent. */
export interface TraceSampling {
  /** Between 0 and 1: the part of the traces that begin here. */
  readonly ratio: number;
  /** Whether a trace that began elsewhere is sent as its beginner decided. */
  readonly parentBased: boolean;
}

export interface OpenTelemetry extends Tracing {
  /** Sends what has not been sent, as far as that takes no longer than two seconds, and stops. */
  stop(): Promise<void>;
}

const FAILURE_EVERY_MS = 60_000;
/** A process that is asked to stop has little time, and most of it is for requests. */
const STOP_DEADLINE_MS = 2_000;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const RECEIVED: TextMapGetter<Headers> = {
  get: (headers, name) => headers[name],
  keys: (headers) => Object.keys(headers),
};
const SENT: TextMapSetter<Record<string, string>> = {
  set(headers, name, value) {
    headers[name] = value;
  },
};

/**
 * Sends traces by OTLP over HTTP to where the standard variables OTEL_EXPORTER_OTLP_* say. A collector that is away
 * costs the traces of the meantime, and no request.
 */
export function createOpenTelemetry(options: OpenTelemetryOptions): OpenTelemetry {
  const { service, version, sampling } = options;
  const named = resourceFromAttributes({ 'service.name': service, 'service.version': version });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(sampling),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  const onFailure = atMostEvery(FAILURE_EVERY_MS, options.onFailure);
  setGlobalErrorHandler(onFailure);
  // What the work belongs to that is being done, across awaits.
  const contexts = new AsyncLocalStorage<Context>();
  const active = (): Context => contexts.getStore() ?? ROOT_CONTEXT;
  const propagator = new W3CTraceContextPropagator();
  const tracer = provider.getTracer('tokenkeep', version);

  async function run<Result>(
    name: string,
    { kind, attributes, parent }: { kind: SpanKind; attributes?: Part['attributes']; parent: Context },
    work: (span: Span) => Promise<Result>,
  ): Promise<Result> {
    const span = tracer.startSpan(name, { kind, ...(attributes ? { attributes } : {}) }, parent);
    try {
      return await contexts.run(trace.setSpan(parent, span), () => work(wrap(span)));
    } catch (error) {
      // Its message and stack may hold what no trace may.
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', error instanceof Error ? error.constructor.name : typeof error);
      throw error;
    } finally {
      span.end();
    }
  }

  return {
    request(headers, name, work) {
      const parent = propagator.extract(ROOT_CONTEXT, headers, RECEIVED);
      return run(name, { kind: SpanKind.SERVER, parent }, work);
    },
    part({ name, isCall = true, attributes }, work) {
      const parent = active();
      if (trace.getSpan(parent) === undefined) return work(NO_SPAN);
      const kind = isCall ? SpanKind.CLIENT : SpanKind.INTERNAL;
      return run(name, { kind, parent, ...(attributes ? { attributes } : {}) }, work);
    },
    headers() {
      const headers: Record<string, string> = {};
      propagator.inject(active(), headers, SENT);
      return headers;
    },
    async stop() {
      const cancel = new AbortController();
      const late = delay(STOP_DEADLINE_MS, undefined, { signal: cancel.signal }).catch(() => undefined);
      // It tries again and again while the collector does not answer.
      await Promise.race([provider.shutdown().catch(onFailure), late]).finally(() => cancel.abort());
    },
  };
}

function wrap(span: ApiSpan): Span {
  return {
    traceId: span.spanContext().traceId,
    rename: (name) => void span.updateName(name),
    set: (attributes) => void span.setAttributes({ ...attributes }),
    fail: () => void span.setStatus({ code: SpanStatusCode.ERROR }),
  };
}

function samplerOf({ ratio, parentBased }: TraceSampling): Sampler {
  const root =
    ratio >= 1 ? new AlwaysOnSampler() : ratio <= 0 ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
  return parentBased ? new ParentBasedSampler({ root }) : root;
}

function atMostEvery(intervalMs: number, tell: () => void): () => void {
  let toldAt = -Infinity;
  return () => {
    if (performance.now() - toldAt < intervalMs) return;
    toldAt = performance.now();
    tell();
  };
}
