import { X509Certificate } from 'node:crypto';
import { Gauge } from 'prom-client';
import type { Metrics } from './metrics.ts';
import type { ServerCertificate } from './server-certificate.ts';

/** Which version runs, and as what: 1, by labels. */
export function showBuild(metrics: Metrics, { version, role }: { version: string; role: string }): void {
  const labels = ['version', 'role'] as const;
  metrics.gauge({ name: 'build_info', help: 'Always 1, by version and role.', labels }).set({ version, role }, 1);
}

/** When each certificate of this process ends, by what it is for; as they are when the metrics are read. */
export function showCertificates(
  metrics: Metrics,
  certificates: Readonly<Record<string, ServerCertificate | undefined>>,
): void {
  new Gauge({
    name: 'tokenkeep_certificate_expiry_timestamp_seconds',
    help: 'When the certificate of this process ends, in seconds since the Unix epoch, by what it is for.',
    labelNames: ['certificate'] as const,
    registers: [metrics.registry],
    collect() {
      for (const [certificate, pair] of Object.entries(certificates)) {
        if (pair === undefined) continue;
        this.set({ certificate }, Date.parse(new X509Certificate(pair.current.cert).validTo) / 1_000);
      }
    },
  });
}
