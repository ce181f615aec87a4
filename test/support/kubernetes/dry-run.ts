import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { isJsonObject } from '../../../src/domain/json.ts';
import type { Json, JsonObject } from '../../../src/domain/json.ts';
import type { ResourceDefinition } from '../../../src/operator/schema/definitions.ts';
import type { KubernetesCluster } from './control-plane.ts';

/** What came of a document: its spec as it would be stored, or the fields at fault. */
export type DocumentVerdict =
  { spec: Json; faults?: never; reason?: never } | { spec?: never; faults: string[]; reason: string };

/** Asks an API server what it would do with documents, over one connection. */
export interface DryRun {
  /** Creates nothing. */
  create(definition: ResourceDefinition, document: JsonObject): Promise<DocumentVerdict>;
  /** Creates the first for good, and then judges the second as what replaces it. */
  replace(definition: ResourceDefinition, before: JsonObject, document: JsonObject): Promise<DocumentVerdict>;
  close(): void;
}

/** Documents are judged in the namespace `default`, with unknown fields refused, as `kubectl` has it. */
export function createDryRun({ server, caFile, adminToken }: KubernetesCluster): DryRun {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: readFileSync(caFile) });

  async function send(method: string, path: string, document?: JsonObject): Promise<{ status: number; body: Json }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: Json }>();
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const call = request(new URL(path, server), { method, agent, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) as Json });
      });
    });
    call.on('error', reject);
    call.end(document === undefined ? undefined : JSON.stringify(document));
    return promise;
  }

  const collectionOf = ({ apiVersion, kind, namespaced }: ResourceDefinition) =>
    `/apis/${apiVersion}/${namespaced ? 'namespaces/default/' : ''}${kind.toLowerCase()}s`;
  const onlyAsked = '?dryRun=All&fieldValidation=Strict';

  return {
    async create(definition, document) {
      const { status, body } = await send('POST', collectionOf(definition) + onlyAsked, document);
      return toVerdict(status, body);
    },
    async replace(definition, before, document) {
      const collection = collectionOf(definition);
      const created = await send('POST', collection, before);
      const { name, resourceVersion } = metadataOf(created.body);
      if (created.status !== 201 || name === undefined) throw new Error(`The first version was refused: ${name}`);
      try {
        const next = { ...document, metadata: { ...metadataOf(document), name, resourceVersion: resourceVersion! } };
        const { status, body } = await send('PUT', `${collection}/${name}${onlyAsked}`, next);
        return toVerdict(status, body);
      } finally {
        await send('DELETE', `${collection}/${name}`);
      }
    },
    close: () => agent.destroy(),
  };
}

function metadataOf(body: Json): { name?: string; resourceVersion?: string } {
  return isJsonObject(body) && isJsonObject(body['metadata']) ? body['metadata'] : {};
}

interface Status {
  message: string;
  details?: { causes?: { field?: string }[] };
}

function toVerdict(status: number, body: Json): DocumentVerdict {
  if (status < 300 && isJsonObject(body)) return { spec: body['spec'] ?? null };
  const { message, details } = body as unknown as Status;
  if (status === 422) return { faults: fieldsOf(details?.causes ?? []), reason: message };
  if (status !== 400) throw new Error(`The API server answered ${status}: ${message}`);
  // Found while decoding, which knows no causes.
  const unknown = [...message.matchAll(/unknown field "([^"]*)"/g)].map(([, field]) => field!);
  const misread = [...message.matchAll(/struct field ObjectMeta\.(\w+)/g)].map(([, field]) => `metadata.${field}`);
  return { faults: [...unknown, ...misread], reason: message };
}

function fieldsOf(causes: { field?: string }[]): string[] {
  // Without a field, a cause says that not all was looked at.
  const fields = causes.map(({ field }) => field ?? '').filter((field) => field !== '' && field !== '<nil>');
  return [...new Set(fields)];
}
