/** A service in a process of its own, for tests that kill it. It prints its addresses as one line of JSON. */
import { startOneMachine } from '../../local/one-machine.ts';

const [templatePath = '', folder = ''] = process.argv.slice(2);
const { apiUrl, localUrl } = await startOneMachine({
  templatePath,
  folder,
  verifyWebhook: () => Promise.resolve({ verified: false, detail: 'not checked' }),
});
process.stdout.write(`${JSON.stringify({ apiUrl, localUrl })}\n`);
