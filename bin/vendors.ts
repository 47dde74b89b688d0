/**
 * `npm run vendors`: the same prompt through every vendor's fake, from the request to the
 * picture, as a table of what came back and what remains of the price.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createOutput, type Row } from '../admin/terminal/output.ts';

/** What test/vendors/table-run.ts says; kept apart, since nothing that runs depends on a test. */
type Message =
  { readonly kind: 'began'; readonly what: string } | { readonly kind: 'ran'; readonly rows: readonly Row[] };

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
const output = createOutput(values.json, (line) => {
  console.log(line);
});
const child = fork(fileURLToPath(new URL('../test/vendors/table-run.ts', import.meta.url)), {
  execArgv: ['--disable-warning=ExperimentalWarning'],
});
child.on('message', (message: Message) => {
  if (message.kind === 'ran') output.list(message.rows, 'The catalog has no vendors.');
  else if (process.stderr.isTTY) console.error(message.what);
});
const [code] = (await once(child, 'exit')) as [number | null];
process.exitCode = code ?? 1;
