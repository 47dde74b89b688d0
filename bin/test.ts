/**
 * `npm test`: types, lint, rules of import, format and unused code, then all tests.
 *
 *   npm test                      everything
 *   npm test -- test/core -t key  only vitest, with these arguments
 *
 * The last line is always "N passed, N failed".
 */
import { printCount } from '../tools/checks/checks.ts';
import { runEverything, runTests } from '../tools/checks/tests.ts';

const args = process.argv.slice(2);
process.exitCode = printCount(await (args.length > 0 ? runTests(args) : runEverything()));
