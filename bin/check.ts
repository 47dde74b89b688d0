/**
 * `npm run check`: types, rules of import, format, unused code and lint, without a test. The last line is
 * always "N passed, N failed".
 */
import { printCount, runChecks } from '../tools/checks/checks.ts';

process.exitCode = printCount(await runChecks());
