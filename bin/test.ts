/**
 * `npm test`: types, lint, rules of import, format and unused code, then the tests.
 *
 *   npm test                      everything
 *   npm test -- test/core -t key  only vitest, with these arguments
 *   npm test -- --long             the tests that only CI runs
 *
 * The last line is always "N passed, N failed".
 */
import { prepareBrowser } from '../lab/browser/browsers.ts';
import { printCount, runEverything, runLongTests, runTests } from './checks.ts';

const args = process.argv.slice(2);
const run = args[0] === '--long' ? runLongTests : args.length > 0 ? () => runTests(args) : runEverything;
await prepareBrowser(console.error);
process.exitCode = printCount(await run());
