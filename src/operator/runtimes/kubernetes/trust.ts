import type { KubernetesClient } from '../../../platform/kubernetes/client.ts';
import { KubernetesError } from '../../../platform/kubernetes/errors.ts';
import type { Timers } from '../../timers.ts';
import { createTurns } from '../../turns.ts';
import { nextRotation, rotateAuthorities, stateOf, trustedBy } from '../../workloads/authorities.ts';
import type { Authorities } from '../../workloads/authorities.ts';
import { issueCertificate } from '../../workloads/certificates.ts';
import type { Subject } from '../../workloads/certificates.ts';
import { AUTHORITY_SECRET } from '../../workloads/names.ts';
import { PART_KINDS } from '../../workloads/parts.ts';
import { AUTHORITIES_ANNOTATION, buildTlsSecret, RENEWAL_ANNOTATION, tlsEntries } from '../../workloads/secrets.ts';
import { authoritiesIn, authorityEntries, buildAuthoritySecret } from './authority-secret.ts';
import type { AuthoritySecret } from './authority-secret.ts';
import type { ObservedPart } from './objects.ts';
import type { Observed } from './observed.ts';
import { isEdited } from './ownership.ts';
import type { Applied } from './ownership.ts';
import type { PartWriter } from './writer.ts';

export interface TrustOptions {
  client: Pick<KubernetesClient, 'read' | 'create' | 'mergePatch' | 'apply'>;
  namespace: string;
  clock: Timers;
  observed: Observed;
  writer: PartWriter;
}

/** Whom instances and the API believe. The keys of the authorities are in one Secret, and in this process's memory. */
export interface Trust {
  /** Has a Secret hold certificates that are good now, and nobody else's. Resolves with when to look again: in how many ms. */
  ensure(secret: CertificateSecret): Promise<number>;
}

export interface CertificateSecret {
  name: string;
  labels: Readonly<Record<string, string>>;
  subject: Subject;
  /** Of another certificate in it, for what its holder serves to `svc`. */
  served?: Subject;
  /** Where it is, if not among the workloads: there it is looked at each minute rather than watched. */
  namespace?: string;
}

/** How often a Secret is looked at that no watch tells of. */
const UNWATCHED_MS = 60_000;

interface Known {
  authorities: Authorities;
  resourceVersion: string;
}

export function createTrust({ client, namespace, clock, observed, writer }: TrustOptions): Trust {
  const inTurn = createTurns();
  const at = { ...PART_KINDS.Secret, namespace };
  let known: Known | undefined;

  /** As stored; made where there are none. Of two operators, what the first one made counts for both. */
  async function load(): Promise<Known> {
    const stored = await client.read<AuthoritySecret>({ ...at, name: AUTHORITY_SECRET });
    if (stored !== undefined) return remember(stored, authoritiesIn(stored));
    const authorities = await rotateAuthorities(undefined, clock.now());
    try {
      return remember(await client.create<ObservedPart>(at, buildAuthoritySecret(authorities)), authorities);
    } catch (error) {
      if (error instanceof KubernetesError && error.reason === 'AlreadyExists') return load();
      throw error;
    }
  }

  function remember(object: ObservedPart, authorities: Authorities): Known {
    observed.wrote('Secret', object);
    return { authorities, resourceVersion: object.metadata.resourceVersion };
  }

  async function current(): Promise<Authorities> {
    const version = observed.part('Secret', AUTHORITY_SECRET)?.metadata.resourceVersion;
    if (known === undefined || known.resourceVersion !== version) known = await load();
    const { authorities, resourceVersion } = known;
    const rotated = await rotateAuthorities(authorities, clock.now());
    if (rotated === authorities) return authorities;
    // Conditional: whoever was faster has made another one, which is the one that counts.
    known = undefined;
    const patch = { metadata: { resourceVersion }, data: authorityEntries(rotated) };
    known = remember(await client.mergePatch<ObservedPart>({ ...at, name: AUTHORITY_SECRET }, patch), rotated);
    return rotated;
  }

  return {
    async ensure({ name, labels, subject, served, namespace: elsewhere }) {
      const authorities = await inTurn(AUTHORITY_SECRET, current);
      const state = stateOf(authorities);
      const path = elsewhere === undefined ? undefined : { ...PART_KINDS.Secret, namespace: elsewhere, name };
      const stored = path === undefined ? observed.part('Secret', name) : await client.read<ObservedPart>(path);
      const { annotations = {} } = stored?.metadata ?? {};
      let renewal = Date.parse(annotations[RENEWAL_ANNOTATION] ?? '');
      const isGood = stored !== undefined && !isEdited(shapeOf(labels, served !== undefined), stored);
      if (!isGood || annotations[AUTHORITIES_ANNOTATION] !== state || !(renewal > clock.now())) {
        const issue = (each: Subject) => issueCertificate(authorities.current, each, clock.now());
        const pairs = { ...(await issue(subject)), served: served && (await issue(served)) };
        const trust = { bundle: trustedBy(authorities), authorities: state };
        const secret = buildTlsSecret(name, labels, pairs, trust);
        await (path === undefined ? writer.write(secret) : client.apply(path, secret));
        renewal = Date.parse(secret.metadata.annotations![RENEWAL_ANNOTATION]!);
      }
      const lookAgainMs = Math.max(Math.min(renewal, nextRotation(authorities)) - clock.now(), 0);
      return path === undefined ? lookAgainMs : Math.min(lookAgainMs, UNWATCHED_MS);
    },
  };
}

/** What `isEdited` is to look for in a Secret of ours: values are looked at by nobody. */
function shapeOf(labels: Readonly<Record<string, string>>, isServing: boolean): Applied {
  const annotations = { [AUTHORITIES_ANNOTATION]: '', [RENEWAL_ANNOTATION]: '' };
  const data = Object.fromEntries(tlsEntries(isServing).map((entry) => [entry, '']));
  return { metadata: { labels, annotations }, data };
}
