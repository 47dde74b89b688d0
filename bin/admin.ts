/** `npm run admin`: runs one command of the operator. */
import { runAdmin } from '../admin/program.ts';

process.exitCode = await runAdmin(process.argv.slice(2), {
  print: (line) => console.log(line),
  complain: (line) => console.error(line),
  columns: process.stdout.columns,
});
