import type { ReactorWorkload } from '../../domain/declarations.ts';
import { SVC_FILES } from '../../domain/reactor-certificates.ts';
import { packText } from '../../platform/packed-text.ts';
import type { KeyPair } from './certificates.ts';
import { renewalOf } from './certificates.ts';
import { labelsOf, REVISION_LABEL, workloadName, workloadSecretName } from './names.ts';
import { partOf } from './parts.ts';
import type { Part } from './parts.ts';

/** Which authorities a certificate was issued under. */
export const AUTHORITIES_ANNOTATION = 'tokenkeep.dev/authorities';
/** When a certificate is to be replaced: ISO 8601. */
export const RENEWAL_ANNOTATION = 'tokenkeep.dev/renew-after';

/** A Secret holds 1 MiB in all; code and configuration may be more as long as they are not packed. */
const MAX_PLAIN_BYTES = 1000 * 1000;

/**
 * The code and configuration of one revision. Immutable: a pod that restarts runs what it ran before. Changes of the
 * scale do not change it, since an instance is told nothing else of it than `concurrency`, which is in the revision.
 */
export function buildWorkloadSecret(workload: ReactorWorkload): Part {
  const { revision } = workload;
  return {
    ...partOf('Secret', workloadSecretName(workloadName(workload), revision), {
      ...labelsOf(workload),
      [REVISION_LABEL]: revision,
    }),
    type: 'Opaque',
    immutable: true,
    data: { 'workload.json': packText(JSON.stringify(workload), MAX_PLAIN_BYTES).toString('base64') },
  };
}

export interface IssuedPairs extends KeyPair {
  /** Of the API, what it shows to `svc`. */
  readonly served?: KeyPair | undefined;
}

/** Which entries such a Secret has; what others put into it besides is let be. */
export const tlsEntries = (isServing: boolean): readonly string[] => [
  ...['tls.crt', 'tls.key', 'ca.crt'],
  ...(isServing ? [SVC_FILES.certFile, SVC_FILES.keyFile] : []),
];

/** A certificate with its key and whom it trusts, in the form that everything in Kubernetes reads. */
export function buildTlsSecret(
  name: string,
  labels: Readonly<Record<string, string>>,
  { certificate, key, served }: IssuedPairs,
  trust: { readonly bundle: string; readonly authorities: string },
): Part {
  const part = partOf('Secret', name, labels);
  const annotations = {
    [AUTHORITIES_ANNOTATION]: trust.authorities,
    [RENEWAL_ANNOTATION]: new Date(renewalOf(certificate)).toISOString(),
  };
  return {
    ...part,
    metadata: { ...part.metadata, annotations },
    // What holds two pairs is as the chart makes it, empty, so that it goes with the release.
    type: served === undefined ? 'kubernetes.io/tls' : 'Opaque',
    data: {
      ...{ 'tls.crt': base64(certificate), 'tls.key': base64(key), 'ca.crt': base64(trust.bundle) },
      ...(served === undefined
        ? {}
        : { [SVC_FILES.certFile]: base64(served.certificate), [SVC_FILES.keyFile]: base64(served.key) }),
    },
  };
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
