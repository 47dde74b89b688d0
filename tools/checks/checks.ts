/** The checks that read the source text and run no test. */
import pc from 'picocolors';
import { printResult, runProgram, type Command } from './run-program.ts';

interface Check {
  readonly name: string;
  readonly command: Command;
}

/** The folders whose imports have rules. */
const rooms = [
  'adapters',
  'admin',
  'bin',
  'catalog',
  'client',
  'config',
  'core',
  'document',
  'functions',
  'lib',
  'local',
  'portal',
  'simulation',
  'start',
  'terminal',
  'test',
  'tools',
];

const checks: readonly Check[] = [
  { name: 'types and lint', command: ['oxlint', '--type-aware', '--type-check', '--deny-warnings'] },
  { name: 'rules of import', command: ['depcruise', '--config', '.dependency-cruiser.mjs', ...rooms] },
  { name: 'format', command: ['oxfmt', '--check'] },
  { name: 'unused code', command: ['knip', '--no-progress'] },
];

export interface Count {
  readonly passed: number;
  readonly failed: number;
}

function countChecks(results: readonly boolean[]): Count {
  const passed = results.filter((isClean) => isClean).length;
  return { passed, failed: results.length - passed };
}

/** All checks at the same time, and each to its end, so that one run shows all findings. */
export async function runChecks(): Promise<Count> {
  return countChecks(await Promise.all(checks.map(runCheck)));
}

/** Runs one check, and prints its findings when there are any. True when there are none. */
async function runCheck({ name, command }: Check): Promise<boolean> {
  const { code, seconds, output } = await runProgram(command, 'to the result');
  printResult(name, code === 0, seconds);
  if (code !== 0) console.log(`\n${pc.bold(name)}\n${output.trimEnd()}`);
  return code === 0;
}

/** Prints the last line of `npm test` and of `npm run check`. Gives the exit code. */
export function printCount({ passed, failed }: Count): number {
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}
