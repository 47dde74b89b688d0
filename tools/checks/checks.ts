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
  'config',
  'core',
  'functions',
  'lib',
  'local',
  'simulation',
  'start',
  'terminal',
  'test',
  'tools',
];

export const lint: Check = { name: 'lint', command: ['eslint', '.'] };

/** The compiler notes here what it has checked, and checks only what depends on a change. */
const typesCache = 'node_modules/.cache/types.tsbuildinfo';

/** These checks take about as long as the slowest of them; lint takes longer than all of them. */
export const quickChecks: readonly Check[] = [
  {
    name: 'types',
    command: ['tsc', '--noEmit', '-p', '.', '--incremental', '--tsBuildInfoFile', typesCache],
  },
  { name: 'rules of import', command: ['depcruise', '--config', '.dependency-cruiser.mjs', ...rooms] },
  { name: 'format', command: ['prettier', '--check', '--log-level', 'warn', '--cache', '.'] },
  { name: 'unused code', command: ['knip', '--no-progress'] },
];

/** Runs one check, and prints its findings when there are any. True when there are none. */
export async function runCheck({ name, command }: Check): Promise<boolean> {
  const { code, seconds, output } = await runProgram(command, 'to the result');
  printResult(name, code === 0, seconds);
  if (code !== 0) console.log(`\n${pc.bold(name)}\n${output.trimEnd()}`);
  return code === 0;
}

export interface Count {
  readonly passed: number;
  readonly failed: number;
}

export function countChecks(results: readonly boolean[]): Count {
  const passed = results.filter((isClean) => isClean).length;
  return { passed, failed: results.length - passed };
}

/** `npm run check`: all checks at the same time, without tests. */
export async function runChecks(): Promise<Count> {
  return countChecks(await Promise.all([...quickChecks, lint].map(runCheck)));
}

/** Prints the last line of `npm test` and of `npm run check`. Gives the exit code. */
export function printCount({ passed, failed }: Count): number {
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}
