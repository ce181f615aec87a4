import { expect } from 'chai';
import { readCommand } from '../../../src/config/command.ts';
import type { StandaloneConfig } from '../../../src/config/standalone.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createShutdownStack } from '../../../src/platform/shutdown.ts';
import { noTracing } from '../../../src/platform/tracing.ts';
import { startTracing } from '../../../src/roles/tracing.ts';

const COLLECTOR = 'http://127.0.0.1:4318';

function configOf(environment: Record<string, string>): StandaloneConfig {
  const command = readCommand(['standalone'], environment);
  if (command.action !== 'run' || command.role !== 'standalone') throw new Error(JSON.stringify(command));
  return command.config;
}

async function isTraced(environment: Record<string, string>): Promise<boolean> {
  const logger = silentLogger;
  const shutdown = createShutdownStack({ logger });
  const tracing = await startTracing(configOf(environment), { service: 'test', version: '0', logger, shutdown });
  await shutdown.run();
  return tracing !== noTracing;
}

describe('OpenTelemetry’s variables', () => {
  it('ask for no traces by themselves', async () => {
    expect(await isTraced({})).to.equal(false);
    expect(await isTraced({ OTEL_SERVICE_NAME: 'vault', OTEL_TRACES_SAMPLER: 'always_on' })).to.equal(false);
  });

  const asking: Record<string, string>[] = [
    { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR },
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${COLLECTOR}/v1/traces` },
    { OTEL_TRACES_EXPORTER: 'otlp' },
  ];
  for (const environment of asking) {
    it(`ask for traces by ${Object.keys(environment).join()}`, async () => {
      expect(await isTraced(environment)).to.equal(true);
      expect(await isTraced({ ...environment, OTEL_SDK_DISABLED: 'true' })).to.equal(false);
    });
  }

  it('turn them off again, and count as not set where they are empty', async () => {
    expect(await isTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, OTEL_TRACES_EXPORTER: 'none' })).to.equal(false);
    expect(await isTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_EXPORTER: '' })).to.equal(false);
  });

  it('choose which traces are sent', () => {
    const chosen = configOf({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' });
    expect(chosen).to.include({ tracesSampler: 'parentbased_traceidratio', tracesSamplerArg: 0.25 });
  });

  it('are refused where they ask for what is not there', () => {
    const command = readCommand(['standalone'], {
      OTEL_TRACES_EXPORTER: 'zipkin',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_TRACES_SAMPLER: 'jaeger_remote',
      OTEL_TRACES_SAMPLER_ARG: '2',
    });
    if (command.action !== 'refuse') throw new Error('accepted');
    expect(command.faults.map((fault) => fault.split(':')[0])).to.have.members([
      'OTEL_TRACES_EXPORTER',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      'OTEL_TRACES_SAMPLER',
      'OTEL_TRACES_SAMPLER_ARG',
    ]);
  });
});
