/** A process of `npm run simulate`: node simulation/worker.ts '<job>', started with a channel to its parent. */
import { environment } from './environment.ts';
import type { Job, Message } from './runs/jobs.ts';
import { mutants, plant } from './runs/mutants.ts';

const job = JSON.parse(process.argv[2] ?? '') as Job;
let sent: Promise<void> = Promise.resolve();
const say = (message: Message): void => {
  sent = new Promise((resolve) => {
    process.send?.(message, undefined, undefined, () => {
      resolve();
    });
  });
};

// Nobody listens any more: the work of an orphan is only heat.
process.once('disconnect', () => process.exit());

Object.assign(process.env, environment);
if (job.kind !== 'exhaustive' && job.mutant !== undefined) {
  const mutant = mutants.find(({ name }) => name === job.mutant);
  if (!mutant) throw new Error(`there is no mutant ${job.mutant}`);
  plant(mutant);
}
// Only now: the product's modules read the environment, and a mutant changes them, as they are loaded.
const { runJob } = await import('./runs/jobs.ts');
await runJob(job, say);
// A long trace takes more than one write: the channel is closed behind the last of them.
await sent;
process.disconnect();
