/** Starts the processes that do the work of `npm run simulate`, and listens to them. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Job, KillMessage, Message } from './messages.ts';

const worker = fileURLToPath(new URL('worker.ts', import.meta.url));
const killer = fileURLToPath(new URL('kill/main.ts', import.meta.url));
// An outage of full size needs some 3 GB, and a crowd of 1,000 creations a second some 6 GB.
const execArgv = [
  '--disable-warning=ExperimentalWarning',
  '--max-old-space-size=9000',
  '--max-semi-space-size=64',
];
// Node keeps the modules without their types and compiled, as bin/setup.mjs tells it for every npm script.
const cache = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));
const env = { NODE_COMPILE_CACHE: cache, ...process.env };

/** Runs one job in a process of its own. Rejects when the process ends before the job is done. */
export function runWorker(job: Job, hear: (message: Message) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let done = false;
    const child = fork(worker, [JSON.stringify(job)], { execArgv, env });
    child.on('message', (message: Message) => {
      if (message.kind === 'done') done = true;
      hear(message);
    });
    child.on('exit', (code) =>
      done ? resolve() : reject(new Error(`a worker ended with ${code ?? 'a signal'}`)),
    );
  });
}

/** Runs all rounds of `--kill` and prints one line for each. Resolves with whether every promise was kept. */
export async function killRepeatedly(rounds: string, seed: string): Promise<boolean> {
  const child = fork(killer, [rounds, seed], { execArgv, env });
  let isGood = false;
  child.on('message', (message: KillMessage) => {
    if (message.kind === 'line') console.log(message.line);
    else {
      const { requests, retried, accepted, creations, webhooks, wrong } = message.report;
      for (const line of wrong) console.log(`VIOLATION ${line}`);
      console.log(
        `${rounds} kills: ${requests} requests, ${retried} of them again, ${accepted} accepted, ` +
          `${creations} creations, ${webhooks} webhooks · ${wrong.length} violations`,
      );
      isGood = wrong.length === 0;
    }
  });
  await once(child, 'exit');
  return isGood;
}
