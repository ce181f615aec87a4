import ts from 'typescript';
import type { SourceFile } from './arrows.ts';
import { roomOf } from './arrows.ts';

/** Longer files have more than one reason to change. */
const MAX_LINES = 300;

/** Each breach of a habit that no linter rule holds, as a sentence. */
export function breaches(file: SourceFile): string[] {
  const found: string[] = [];
  const report = (what: string): void => void found.push(`${file.path}: ${what}`);
  const lines = file.text.split('\n').length - 1;
  if (lines > MAX_LINES) report(`${lines} lines, ${MAX_LINES} at most`);

  const source = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest);
  const visit = (node: ts.Node, atTop: boolean): void => {
    if (ts.isEnumDeclaration(node)) report('an enum');
    if (ts.isStringLiteral(node) && node.text === 'node:process') report('takes process from a module');
    if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
      const name = `${node.expression.text}.${node.name.text}`;
      if (name === 'process.env' && roomOf(file.path) !== 'config') report('reads process.env');
      if (name === 'process.exit' && file.path !== 'main.ts') report('calls process.exit');
      if (node.expression.text === 'console' && roomOf(file.path) !== 'cli') report('writes to the console');
    }
    if (atTop && ts.isAwaitExpression(node) && !isEntry(file.path)) report('awaits while it is imported');
    ts.forEachChild(node, (child) => visit(child, atTop && !ts.isFunctionLike(child)));
  };
  visit(source, true);

  const effects = source.statements.filter(actsOnImport);
  if (effects.length > 0 && !isEntry(file.path)) report('acts while it is imported');
  return found;
}

/** Programs that are started, never imported. */
function isEntry(path: string): boolean {
  return /(^|\/)main\.ts$/.test(path) || path === 'cli/demo.ts' || path.startsWith('reactors/guest/');
}

/** A statement that does something, rather than declare something. */
function actsOnImport(statement: ts.Statement): boolean {
  if (ts.isImportDeclaration(statement)) return statement.importClause === undefined;
  return !(
    ts.isExportDeclaration(statement) ||
    ts.isVariableStatement(statement) ||
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isEnumDeclaration(statement) ||
    ts.isModuleDeclaration(statement)
  );
}
