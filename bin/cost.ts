/** `npm run cost`: counts how creations use AWS writes docs/cost.md with --write, or computes what a month costs. */
import { cost } from '../lab/cost/command.ts';

process.exitCode = (await cost(process.argv.slice(2))) ? 0 : 1;
