import { judge } from './pass.ts';
import { setJudgeStage } from './stage.ts';
import { installJudge, NoPythonError } from './tool.ts';

/** As many as three to five minutes on two cores allow; JUDGE_EXAMPLES asks for a longer look. */
const EXAMPLES = 60;

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
