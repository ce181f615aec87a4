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
  const found: TestTitle[] = [];
  const visit = (node: ts.Node, around: TestTitle): void => {
    const title = ts.isCallExpression(node) ? readTitle(node, around) : undefined;
    if (title !== undefined) found.push(title);
    ts.forEachChild(node, (child) => visit(child, title ?? around));
  };
  visit(ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest), { path: [], skipped: false });
  return found;
}

/** What a call declares; undefined for one that declares no test. */
function readTitle(call: ts.CallExpression, around: TestTitle): TestTitle | undefined {
  const { expression: callee } = call;
  const modifier = ts.isPropertyAccessExpression(callee) ? callee.name.text : undefined;
  const subject = ts.isPropertyAccessExpression(callee) ? callee.expression : callee;
  const [title, body] = call.arguments;
  if (!ts.isIdentifier(subject) || title === undefined) return undefined;
  const isTest = TESTS.includes(subject.text);
  if (!isTest && !SUITES.includes(subject.text)) return undefined;
  const isLeftOut = modifier === 'skip' || subject.text.startsWith('x') || body === undefined;
  const skipped = around.skipped || isLeftOut || (isTest && skipsItself(body));
  return { path: [...around.path, fixedText(title)], skipped };
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
