/** `npm run simulate`: `npm run simulate -- --help` lists the kinds of runs. */
import { simulate } from '../lab/simulation/command.ts';

process.exitCode = (await simulate(process.argv.slice(2))) ? 0 : 1;
