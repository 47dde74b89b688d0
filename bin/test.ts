/**
 * `npm test`: the checks, and then the tests. The last line is always "N passed, N failed".
 *
 *   npm test -- test/core -t key  only vitest, with these arguments
 *   npm test -- --long             the tests that only CI runs
 */
import { prepareBrowser } from '../lab/browser/browsers.ts';
import { printCount, runEverything, runLongTests, runTests } from './checks.ts';

const args = process.argv.slice(2);
const run = args[0] === '--long' ? runLongTests : args.length > 0 ? () => runTests(args) : runEverything;
await prepareBrowser(console.error);
process.exitCode = printCount(await run());
