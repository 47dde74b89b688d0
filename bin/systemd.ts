/** `darkroom systemd OPTIONS`: prints a unit of systemd for `darkroom serve OPTIONS`. */
import { fileURLToPath } from 'node:url';
import { serveOptions } from '../start/serve/options.ts';
import { unitOf } from '../start/serve/unit.ts';

const [node = '', program = '', ...options] = process.argv;
// A wrong option ends this program, and not the service at its first start.
serveOptions(process.argv);
const serve = program.endsWith('.ts')
  ? [fileURLToPath(new URL('serve.ts', import.meta.url))]
  : [program, 'serve'];
// The young generation of `npm start` (package.json).
process.stdout.write(unitOf([node, '--max-semi-space-size=8', ...serve], options));
