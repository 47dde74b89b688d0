/**
 * A process for the tests of the lock. It takes a folder, prints the outcome as one line of JSON, and runs
 * until it is killed.
 */
import { lockFolder } from '../../local/folder-lock.ts';

const [folder = ''] = process.argv.slice(2);
const outcome = await lockFolder(folder).then(
  () => ({ pid: process.pid, held: true, message: '' }),
  (error: unknown) => ({
    pid: process.pid,
    held: false,
    message: error instanceof Error ? error.message : String(error),
  }),
);
process.stdout.write(`${JSON.stringify(outcome)}\n`);
if (outcome.held) setInterval(() => undefined, 60_000);
