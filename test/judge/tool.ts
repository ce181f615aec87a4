import { installPythonTool } from '../support/python-tool.ts';

const REQUIREMENTS = new URL('../../config/schemathesis-requirements.txt', import.meta.url);

/**
 * Installs the judge.
 *
 * @returns the path of its program
 * @throws NoPythonError
 */
export function installJudge(): Promise<string> {
  return installPythonTool({ name: 'schemathesis', requirements: REQUIREMENTS, program: 'schemathesis' });
}
