import { type Token, TypeGuards } from 'liquidjs';
import { ExpressionFault } from './fault.ts';
import type { Pipeline } from './pipeline.ts';
import { named, PRINTABLE_NAME } from './pipeline-step.ts';

/** What the expressions of a token's own attributes may name. */
export const DATA_VARIABLES: ReadonlySet<string> = new Set(['data', 'metadata']);
/** In a reference filters' arguments are literals: a name there would be a token's id, which Liquid cannot read. */
export const NO_VARIABLES: ReadonlySet<string> = new Set();

/**
 * Throws ExpressionFault where a pipeline names a variable that is not among `known`, at whatever depth. Evaluation
 * itself takes such a name for null, so that what was stored before stays readable.
 */
export function rejectUnknownVariables({ source, steps }: Pipeline, known: ReadonlySet<string>): void {
  if (source !== undefined) rejectUnknown(source, known);
  for (const { name, args } of steps) named(name, () => args.forEach((argument) => rejectUnknown(argument, known)));
}

function rejectUnknown(token: Token, known: ReadonlySet<string>): void {
  if (!TypeGuards.isPropertyAccessToken(token)) return;
  const { variable, props } = token;
  // `data[metadata.name]`: what stands in brackets has variables of its own.
  props.forEach((property) => rejectUnknown(property, known));
  if (variable !== undefined) return;
  const [root] = props;
  // `[data]` would look a name up in the data.
  const name = TypeGuards.isWordToken(root) || TypeGuards.isQuotedToken(root) ? root.content : '';
  if (known.has(name)) return;
  throw new ExpressionFault(PRINTABLE_NAME.test(name) ? `has an unknown variable ${name}` : 'has an unknown variable');
}
