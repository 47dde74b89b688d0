/**
 * npm run simulate --
 *   --seeds N [--from M]       runs N seeds in two processes
 *   --seed N --trace           runs one seed twice, prints its trace, and shrinks the run if it fails
 *   --seed N --mutant NAME     does the same with a planted bug
 *   --conflicts P [--requests N] [--from M]
 *                              runs crowds of clients until N requests were answered;
 *                              each single write meets a conflict with probability P
 *   --exhaustive [--pairs]     strikes every call site with every kind of fault;
 *                              with --pairs also every two calls that move money
 *   --mutants [name…]          plants each bug and runs seeds until one of them catches it
 *   --outage                   takes StartExecution away for ten minutes at 100 creations a second
 *   --flapping [--seeds N]     runs seeds in which providers go down and come back, and nothing else happens
 *   --load provider-down [--rate N] [--minutes N] [--way WAY] [--json]
 *                              takes a provider away for ten minutes, at N creations a second
 *   --load crowd [--rate N] [--minutes M] [--seconds S] [--vendor synchronous|job] [--quotas default|raised]
 *     [--accounts N] [--start warm|cold] [--json]
 *                              sends N requests a second under the limits of AWS; a vendor takes S seconds
 *   --load one-account …       sends all requests from one account
 *   --kill N [--seed M]        runs the real service under load and kills it N times
 */
import { simulate } from '../simulation/command.ts';

process.exitCode = (await simulate(process.argv.slice(2))) ? 0 : 1;
