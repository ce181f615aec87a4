import ts from 'typescript';
import type { SourceFile } from './arrows.ts';

/** An `it` or a `describe` as it stands in a test file. */
export interface TestTitle {
  /** From the outermost describe to its own. What is filled in when the tests are made reads `…`. */
  readonly path: readonly string[];
  /** Whether it, or a describe around it, is left out of every run. */
  readonly skipped: boolean;
}

const SUITES = ['describe', 'context', 'xdescribe', 'xcontext'];
const TESTS = ['it', 'specify', 'xit', 'xspecify'];

/** Every title of a test file, in order. */
export function titlesOf(file: SourceFile): TestTitle[] {
  return titlesBelow(ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest), { path: [], skipped: false });
}

function titlesBelow(node: ts.Node, around: TestTitle): TestTitle[] {
  const found: TestTitle[] = [];
  ts.forEachChild(node, (child) => {
    const call = ts.isCallExpression(child) ? readCall(child) : undefined;
    if (call === undefined) {
      found.push(...titlesBelow(child, around));
      return;
    }
    const path = [...around.path, call.title];
    const below = titlesBelow(child, { path, skipped: around.skipped || call.isLeftOut });
    // A suite without a test that runs shows nothing.
    const isIdle = call.isSuite && below.every(({ skipped }) => skipped);
    found.push({ path, skipped: around.skipped || call.isLeftOut || isIdle }, ...below);
  });
  return found;
}

interface TestCall {
  readonly title: string;
  readonly isSuite: boolean;
  readonly isLeftOut: boolean;
}

/** What a call declares; undefined for one that declares no test. */
function readCall(call: ts.CallExpression): TestCall | undefined {
  const { expression: callee } = call;
  const modifier = ts.isPropertyAccessExpression(callee) ? callee.name.text : undefined;
  const subject = ts.isPropertyAccessExpression(callee) ? callee.expression : callee;
  const [title, body] = call.arguments;
  if (!ts.isIdentifier(subject) || title === undefined) return undefined;
  const isSuite = SUITES.includes(subject.text);
  if (!isSuite && !TESTS.includes(subject.text)) return undefined;
  const isLeftOut = modifier === 'skip' || subject.text.startsWith('x') || body === undefined;
  return { title: fixedText(title), isSuite, isLeftOut: isLeftOut || (!isSuite && skipsItself(body)) };
}

/** The text of a title, with `…` for each part that only a run knows. */
function fixedText(title: ts.Expression): string {
  if (ts.isStringLiteralLike(title)) return title.text;
  if (ts.isTemplateExpression(title)) {
    return title.head.text + title.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
  }
  return '…';
}

function skipsItself(node: ts.Node): boolean {
  const isSkip =
    ts.isPropertyAccessExpression(node) &&
    node.expression.kind === ts.SyntaxKind.ThisKeyword &&
    node.name.text === 'skip';
  return isSkip || ts.forEachChild(node, (child) => skipsItself(child) || undefined) === true;
}
