/**
 * `npm run check`: types, lint, rules of import, format and unused code, without a test. `npm run check -- types` runs
 * one of them. The last line is always "N passed, N failed".
 */
import { printCount, runChecks } from './checks.ts';

process.exitCode = printCount(await runChecks(process.argv.slice(2)));
