import { expect } from 'chai';
import type { DocumentVerdict } from '../kubernetes/dry-run.ts';

/**
 * Fails unless a folder judges a document as the API server does: the same spec with its defaults, or the same fields
 * at fault. Where the server gives up early, because of an unknown field or a rule that it cannot evaluate, a folder
 * may name more; it may also name a member where the server names the object that holds it. The server renders a member
 * as it is, a folder in brackets where it is no plain name.
 */
export function expectSameVerdict(server: DocumentVerdict, folder: DocumentVerdict, title: string): void {
  const context = `${title}\n  API server: ${render(server)}\n  folder: ${render(folder)}`;
  if (server.faults === undefined || folder.faults === undefined) {
    expect(folder, context).to.deep.equal(server);
    return;
  }
  const gaveUp = /strict decoding error|evaluating rule/.test(server.reason);
  const [named, ours] = [server.faults, folder.faults.map(withoutBrackets)];
  const isNamed = (field: string) => ours.some((other) => isWithin(other, field) || (gaveUp && isWithin(field, other)));
  const unnamed = named.filter((field) => !isNamed(field));
  const invented = ours.filter((field) => !gaveUp && !named.some((other) => isWithin(field, other)));
  expect({ unnamed, invented }, context).to.deep.equal({ unnamed: [], invented: [] });
}

function withoutBrackets(field: string): string {
  return field.replaceAll(/\[("[^\]]*")\]/g, (_, name: string) => `.${JSON.parse(name) as string}`);
}

function isWithin(field: string, parent: string): boolean {
  return field === parent || field.startsWith(`${parent}.`) || field.startsWith(`${parent}[`);
}

function render({ spec, faults, ...rest }: DocumentVerdict): string {
  return faults === undefined ? `takes ${JSON.stringify(spec)}` : `refuses ${JSON.stringify({ faults, ...rest })}`;
}
