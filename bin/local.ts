/** `npm start`: the whole service on this machine, until Ctrl-C. */
import { startOptions } from '../start/options.ts';
import { runUntilStopped } from '../start/until-stopped.ts';

await runUntilStopped(startOptions(process.argv));
