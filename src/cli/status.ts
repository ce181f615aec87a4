import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { STATUS_FILE } from '../domain/resource-status.ts';
import type { RefusedDocument, ReportedResource, StatusReport } from '../domain/resource-status.ts';
import { formatAge } from './age.ts';
import { renderTable } from './table.ts';

/**
 * Writes the conditions of every declared resource and the refused documents as tables.
 *
 * Resolves to the exit code: 0 where everything is Ready, 1 where something is not or was refused, or where the folder
 * holds no status.
 */
export async function printStatus(
  dataDir: string,
  write: (text: string) => void,
  nowMs: number = Date.now(),
): Promise<0 | 1> {
  const report = await readReport(dataDir);
  if (report === undefined) {
    write(`No status in ${dataDir}: is it the --data-dir of a tokenkeep that has run with --manifests?\n`);
    return 1;
  }
  const { resources, refused } = report;
  const tables = renderResources(resources, nowMs);
  if (refused.length > 0) tables.push(renderRefused(refused));
  write(tables.length > 0 ? tables.join('\n') : 'Nothing is declared\n');
  return refused.length === 0 && resources.every(isReady) ? 0 : 1;
}

/** A table of each kind. */
export function renderResources(resources: ReportedResource[], nowMs: number): string[] {
  const kinds = [...new Set(resources.map(({ kind }) => kind))];
  return kinds.map((kind) => renderKind(kind, resources, nowMs));
}

async function readReport(dataDir: string): Promise<StatusReport | undefined> {
  try {
    return JSON.parse(await readFile(path.join(dataDir, STATUS_FILE), 'utf8')) as StatusReport;
  } catch {
    return undefined;
  }
}

const readyCondition = ({ conditions }: ReportedResource) => conditions.find(({ type }) => type === 'Ready');

export function isReady(resource: ReportedResource): boolean {
  return readyCondition(resource)?.status === 'True';
}

function renderKind(kind: string, resources: ReportedResource[], nowMs: number): string {
  const ofKind = resources.filter((resource) => resource.kind === kind);
  const isNamespaced = ofKind.some(({ namespace }) => namespace !== '');
  const columns = ofKind[0]?.columns.map(({ name }) => name.toUpperCase()) ?? [];
  const header = [...(isNamespaced ? ['NAMESPACE'] : []), 'NAME', ...columns, 'AGE', 'MESSAGE'];
  const rows = ofKind.map((resource) => [
    ...(isNamespaced ? [resource.namespace] : []),
    `${kind.toLowerCase()}.tokenkeep.dev/${resource.name}`,
    ...resource.columns.map(({ value }) => value),
    formatAge(nowMs - Date.parse(resource.creationTimestamp)),
    readyCondition(resource)?.message ?? 'Not looked at yet',
  ]);
  return renderTable([header, ...rows]);
}

function renderRefused(refused: RefusedDocument[]): string {
  const blocks = refused.map(({ file, line, subject, reasons }) => {
    const title = subject === undefined ? `${file}:${line}` : `${file}:${line}  ${subject}`;
    const faults = reasons.map(
      (reason) => `  ${file}:${reason.line}  ${reason.path === '' ? 'document' : reason.path} ${reason.message}`,
    );
    return [title, ...faults].join('\n');
  });
  return `REFUSED DOCUMENTS\n${blocks.join('\n')}\n`;
}
