/** `darkroom serve`: the whole service on this machine, for others. */
import { serveOptions } from '../start/serve/options.ts';
import { serve } from '../start/serve/serve.ts';

await serve(serveOptions(process.argv));
