import { readFile } from 'node:fs/promises';
import { actionOf } from './helm-grants.ts';

/** One request that the API server has answered, or for a watch, begun to answer. */
export interface AuditedRequest {
  readonly user: string;
  readonly userAgent: string;
  readonly verb: string;
  /** As in a Grant; undefined for a path that is no resource, such as `/readyz`. */
  readonly action: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly uri: string;
  /** HTTP status. */
  readonly code: number;
  readonly isAllowed: boolean;
}

interface AuditEvent {
  auditID: string;
  stage: string;
  verb: string;
  requestURI: string;
  user: { username: string };
  userAgent?: string;
  objectRef?: { apiGroup?: string; resource: string; subresource?: string; namespace?: string; name?: string };
  responseStatus?: { code?: number };
  annotations?: Record<string, string>;
}

const WRITING = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** The name that the API server knows a ServiceAccount (`namespace/name`) by. */
export function userOf(serviceAccount: string): string {
  return `system:serviceaccount:${serviceAccount.replace('/', ':')}`;
}

/** The requests in an audit log, each once, in the order of their answers. */
export async function readAuditLog(file: string): Promise<AuditedRequest[]> {
  // What is being written may end within a line.
  const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
  const seen = new Set<string>();
  const requests: AuditedRequest[] = [];
  for (const line of lines) {
    const event = JSON.parse(line) as AuditEvent;
    if (seen.has(event.auditID)) continue;
    seen.add(event.auditID);
    requests.push(requestOf(event));
  }
  return requests;
}

export function isWrite({ verb }: AuditedRequest): boolean {
  return WRITING.has(verb);
}

function requestOf(event: AuditEvent): AuditedRequest {
  const { objectRef, verb } = event;
  const resource = [objectRef?.resource, objectRef?.subresource].filter((part) => part !== undefined).join('/');
  return {
    user: event.user.username,
    userAgent: event.userAgent ?? '',
    verb,
    action: objectRef && actionOf(verb, objectRef.apiGroup ?? '', resource),
    namespace: objectRef?.namespace,
    name: objectRef?.name,
    uri: event.requestURI,
    code: event.responseStatus?.code ?? 0,
    isAllowed: event.annotations?.['authorization.k8s.io/decision'] === 'allow',
  };
}
