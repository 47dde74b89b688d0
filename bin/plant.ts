/**
 * npm run plant -- --seed N --count 100     plants small random bugs, one at a time, and prints which of
 *                                           them no test catches; the same seed gives the same bugs
 *                  [--folders core,lib]     plants bugs only in these folders; otherwise in core, functions,
 *                                           adapters, lib and the state machine's definition
 *                  [--only FILE]            plants bugs only in files whose path ends with this text
 *                  [--list]                 lists the bugs and runs no test
 *                  [--phases unit,stack]    runs only these parts of the tests: unit, simulation, stack,
 *                                           service
 *                  [--lanes 2]              tries two bugs at the same time
 *                  [--json]                 prints the results as JSON
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { wholeNumber } from '../terminal/whole-number.ts';
import { plantingFolders } from '../tools/plant/draw.ts';
import { listBugs, plantBugs } from '../tools/plant/run.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '100' },
    folders: { type: 'string', default: plantingFolders.join() },
    only: { type: 'string' },
    phases: { type: 'string', default: '' },
    lanes: { type: 'string', default: '1' },
    list: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const options = {
  root: fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, ''),
  count: wholeNumber('--count', values.count),
  lanes: wholeNumber('--lanes', values.lanes),
  seed: wholeNumber('--seed', values.seed, 0),
  folders: values.folders.split(','),
  only: values.only,
  phases: values.phases.split(',').filter((name) => name !== ''),
  json: values.json,
};
if (values.list) listBugs(options);
else await plantBugs(options);
