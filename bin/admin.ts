/** `npm run admin`: the operator's command. */
import { runAdmin } from '../admin/program.ts';

process.exitCode = await runAdmin(process.argv.slice(2), {
  print: (line) => console.log(line),
  complain: (line) => console.error(line),
});
