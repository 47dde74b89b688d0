/**
 * A worker process of `npm run simulate`, started as `node lab/simulation/worker.ts '<job as JSON>'` with a
 * channel to its parent.
 */
import { environment } from './environment.ts';
import type { Job, Message } from './messages.ts';
import { mutants } from './runs/mutants/all-mutants.ts';
import { plant } from './runs/mutants/plant.ts';

const job = JSON.parse(process.argv[2] ?? '') as Job;
let sent: Promise<void> = Promise.resolve();
const say = (message: Message): void => {
  sent = new Promise((resolve) => {
    process.send?.(message, undefined, undefined, () => {
      resolve();
    });
  });
};

// When the parent has ended, the results are not read.
process.once('disconnect', () => process.exit());

Object.assign(process.env, environment);
// Injected faults make thousands of errors, whose stacks are not read. `--seed N --trace` shows them.
if (job.kind === 'seeds') Error.stackTraceLimit = 0;
if ('mutant' in job) {
  const mutant = mutants.find(({ name }) => name === job.mutant);
  if (!mutant) throw new Error(`there is no mutant ${job.mutant}`);
  plant(mutant);
}
// The product's modules read the environment while they load, and a mutant changes their text as they load.
// So this import must come after both.
const { runJob } = await import('./runs/jobs.ts');
await runJob(job, say);
// A long trace takes several writes to the channel. Closing the channel earlier would cut it off.
await sent;
process.disconnect();
