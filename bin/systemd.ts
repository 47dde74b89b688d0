/** `darkroom systemd OPTIONS`: prints a unit of systemd for `darkroom serve OPTIONS`. */
import { fileURLToPath } from 'node:url';
import { nodeOptions, serveWords } from '../start/serve/node-options.ts';
import { serveOptions } from '../start/serve/options.ts';
import { unitOf } from '../start/serve/unit.ts';

const [node = '', program = '', ...given] = process.argv;
// A wrong option ends this program, and not the service at its first start.
const { memoryMegabytes, tls } = serveOptions(process.argv);
const words = serveWords(program, fileURLToPath(new URL('serve.ts', import.meta.url)));
process.stdout.write(unitOf([node, ...nodeOptions(memoryMegabytes), ...words], given, tls !== undefined));
