/** `darkroom serve`: the whole service on this machine, for others. */
import { fileURLToPath } from 'node:url';
import { beginWith, nodeOptions, serveWords } from '../start/serve/node-options.ts';
import { serveOptions } from '../start/serve/options.ts';

const options = serveOptions(process.argv);
const [, program = '', ...given] = process.argv;
const words = serveWords(program, fileURLToPath(import.meta.url));
beginWith(nodeOptions(options.memoryMegabytes), [...words, ...given]);
const { serve } = await import('../start/serve/serve.ts');
await serve(options);
