import { SettingFault, type Setting, type Settings } from './setting.ts';
import { parseOneOf } from './values.ts';

/**
 * Whether and which traces are sent, by the standard variables of OpenTelemetry. Where they are sent, and as whom, the
 * exporter itself reads: OTEL_EXPORTER_OTLP_*, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES.
 */
export interface TracingConfig {
  readonly tracingDisabled: boolean;
  /** Undefined: `otlp` where there is an endpoint. */
  readonly tracesExporter: 'otlp' | 'none' | undefined;
  readonly tracesEndpoint: string | undefined;
  readonly otlpEndpoint: string | undefined;
  readonly tracesProtocol: 'http/protobuf' | undefined;
  readonly otlpProtocol: 'http/protobuf' | undefined;
  readonly tracesSampler: TracesSampler;
  /** Between 0 and 1: the part of the traces, for the samplers that take one. */
  readonly tracesSamplerArg: number;
}

/** As OpenTelemetry's specification names them. */
export const TRACES_SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;
export type TracesSampler = (typeof TRACES_SAMPLERS)[number];

/** A variable that is empty counts as not set, by the specification. */
function variable<T>(name: string, description: string, parse: (text: string) => T, absent: T): Setting<T> {
  return {
    // Never on a command line; the name is only for those who look for it there.
    flag: name.toLowerCase().replaceAll('_', '-'),
    variable: name,
    placeholder: '',
    description,
    fallback: { value: absent },
    parse: (text) => (text.trim() === '' ? absent : parse(text.trim())),
  };
}

/** The exporter speaks no other, and sends nothing to a collector that does not understand it. */
const parseProtocol = parseOneOf(['http/protobuf'] as const);

function parseEndpoint(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new SettingFault('must be an http or https URL');
  }
  return text;
}

function parseRatio(text: string): number {
  const ratio = Number(text);
  if (!(ratio >= 0 && ratio <= 1)) throw new SettingFault('must be a number between 0 and 1');
  return ratio;
}

export const tracingSettings: Settings<TracingConfig> = {
  tracingDisabled: variable(
    'OTEL_SDK_DISABLED',
    'true: no traces, whatever else says so',
    (text) => text === 'true',
    false,
  ),
  tracesExporter: variable<TracingConfig['tracesExporter']>(
    'OTEL_TRACES_EXPORTER',
    'otlp: send traces; none (default none, otlp where an endpoint is given)',
    parseOneOf(['otlp', 'none'] as const),
    undefined,
  ),
  tracesEndpoint: variable<string | undefined>(
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'whole URL that traces are sent to, such as http://collector:4318/v1/traces',
    parseEndpoint,
    undefined,
  ),
  otlpEndpoint: variable<string | undefined>(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'as the one before, without the path, such as http://collector:4318',
    parseEndpoint,
    undefined,
  ),
  tracesProtocol: variable<TracingConfig['tracesProtocol']>(
    'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
    'http/protobuf, the only one',
    parseProtocol,
    undefined,
  ),
  otlpProtocol: variable<TracingConfig['otlpProtocol']>(
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'http/protobuf, the only one',
    parseProtocol,
    undefined,
  ),
  tracesSampler: variable<TracesSampler>(
    'OTEL_TRACES_SAMPLER',
    `which traces are sent: ${TRACES_SAMPLERS.join(', ')} (default ${TRACES_SAMPLERS[0]})`,
    parseOneOf(TRACES_SAMPLERS),
    TRACES_SAMPLERS[0],
  ),
  tracesSamplerArg: variable(
    'OTEL_TRACES_SAMPLER_ARG',
    'the part of them, 0 to 1, by traceidratio (default 1)',
    parseRatio,
    1,
  ),
};
