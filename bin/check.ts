/** `npm run check`, or `npm run check -- types` for one. The last line is always "N passed, N failed". */
import { printCount, runChecks } from './checks.ts';

process.exitCode = printCount(await runChecks(process.argv.slice(2)));
