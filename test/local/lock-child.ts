/**
 * A process for the tests of the lock. It takes a folder, prints the outcome as one line of JSON, and runs
 * until it is killed.
 */
import { lockFolder } from '../../local/folder-lock.ts';

const [folder = ''] = process.argv.slice(2);
function take(): { readonly held: boolean; readonly message: string } {
  try {
    lockFolder(folder);
    return { held: true, message: '' };
  } catch (error) {
    return { held: false, message: error instanceof Error ? error.message : String(error) };
  }
}

const outcome = { pid: process.pid, ...take() };
// With --expose-gc: a lock that nobody refers to must not be collected.
globalThis.gc?.();
process.stdout.write(`${JSON.stringify(outcome)}\n`);
if (outcome.held) setInterval(() => undefined, 60_000);
