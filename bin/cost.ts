/**
 * npm run cost
 *   [--measured N] [--json]    counts how creations use AWS, and writes docs/cost.md (with --json it writes nothing);
 *                              the page stays the same while nothing has changed (tools/cost/keep-figures.ts)
 * npm run cost -- --vendor NAME
 *   [--creations N] [--seconds S] [--webhook | --polls] [--picture 1K | 4K | sources] [--megabytes M] [--json]
 *                              computes what N creations of a month cost at a vendor that takes S seconds
 */
import { cost } from '../tools/cost/command.ts';

process.exitCode = (await cost(process.argv.slice(2))) ? 0 : 1;
