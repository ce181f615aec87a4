import type { OpenApiDocument, Operation } from '../support/openapi.ts';
import { NoPythonError } from '../support/python-tool.ts';
import { judge } from './pass.ts';
import { setJudgeStage } from './stage.ts';
import { installJudge } from './tool.ts';

type JudgedOperation = Operation & { security?: object[] };

const isSuccess = (status: string): boolean => status.startsWith('2');

/** As many as three to five minutes on two cores allow; JUDGE_EXAMPLES asks for a longer look. */
const EXAMPLES = 60;

/** The operations of the document that succeed for the applications that judge: sessions are for public ones. */
async function operationsOf(baseUrl: string): Promise<string[]> {
  const { paths } = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as OpenApiDocument;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, JudgedOperation>)
      // What needs no key is counted under no route.
      .filter(([, { responses, security }]) => security?.length !== 0 && Object.keys(responses).some(isSuccess))
      .map(([method]) => `${method} ${path}`)
      .filter((operation) => !operation.startsWith('post /sessions')),
  );
}

async function judgeAll(program: string, examples: number): Promise<string> {
  await using stage = await setJudgeStage();
  let passed = 0;
  let failed = 0;
  for (const type of ['private', 'management'] as const) {
    console.log(`\nWith the key of a ${type} application`);
    const outcome = await judge({ program, stage, type, examples });
    passed += outcome.passed;
    failed += outcome.failed;
  }
  // Answers of operations that only ever refused say nothing of those that they give.
  const seen = await stage.succeeded();
  const unseen = (await operationsOf(stage.baseUrl)).filter((operation) => !seen.has(operation));
  for (const operation of unseen) console.log(`FAILED: no request to ${operation} succeeded`);
  failed += unseen.length;
  process.exitCode = failed > 0 ? 1 : 0;
  return `${passed} passed, ${failed} failed, 0 skipped`;
}

try {
  console.log(await judgeAll(await installJudge(), Number(process.env['JUDGE_EXAMPLES'] ?? EXAMPLES)));
} catch (error) {
  if (!(error instanceof NoPythonError)) throw error;
  console.error(`SKIPPED: the judgement of /openapi.json: ${error.message}`);
  console.log('0 passed, 0 failed, 1 skipped');
}
