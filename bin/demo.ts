/** `npm run demo`: one prompt through the whole service, in a temporary folder, and a picture to keep. */
import { runDemo } from '../start/demo.ts';

process.exitCode = await runDemo(
  (line) => console.log(line),
  (line) => console.error(line),
);
