/**
 * Builds the reference page of the API: the OpenAPI document, and Scalar to show it. The page loads nothing from
 * elsewhere. The published script of @scalar/api-reference comes from the package of Scalar's plugin for fastify,
 * which has the script without the 270 packages from which it is built (docs/decisions/0018).
 */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { operatorRoot } from '../../contract/operator-operations.ts';
import plugin from '@scalar/fastify-api-reference';

const own = fileURLToPath(new URL('.', import.meta.url));
const documents = fileURLToPath(new URL('../../../docs/', import.meta.url));
/** Each page with its document, and the address of its API. */
const pages = [
  { page: 'reference.html', document: 'openapi.json', server: '{api_url}' },
  {
    page: 'reference-operator.html',
    document: 'operator-openapi.json',
    server: `{api_origin}${operatorRoot}`,
  },
] as const;

interface Reply {
  header(): Reply;
  send(text: string): void;
}

interface Route {
  readonly url: string;
  handler(request: object, reply: Reply): void;
}

type Plugin = (
  server: { readonly initialConfig: object; hasPlugin(): boolean; route(route: Route): void },
  options: object,
  done: () => void,
) => void;

/** The script of Scalar, as the plugin answers it to a browser. Throws when the plugin has no such route. */
function scalarScript(): string {
  const routes: Route[] = [];
  (plugin as unknown as Plugin)(
    { initialConfig: {}, hasPlugin: () => false, route: (route) => routes.push(route) },
    { routePrefix: '/reference', configuration: { url: '/openapi.json' } },
    () => undefined,
  );
  let script: string | undefined;
  const reply: Reply = {
    header: () => reply,
    send: (text) => {
      script = text;
    },
  };
  routes.find(({ url }) => url.endsWith('.js'))?.handler({}, reply);
  if (script === undefined) throw new Error('the plugin of Scalar serves no script');
  return script;
}

/** Writes pages, scripts and documents. The publication fills in the words in braces. */
export async function buildReference(folder: string): Promise<void> {
  const scalar = await written(folder, 'scalar', scalarScript());
  const start = await written(folder, 'reference', await readFile(join(own, 'start.js'), 'utf8'));
  const frame = (await readFile(join(own, 'reference.html'), 'utf8'))
    .replace('{scalar}', scalar)
    .replace('{start}', start);
  for (const { page, document, server } of pages) {
    await writeFile(join(folder, page), frame.replaceAll('{document}', document));
    const text = JSON.parse(await readFile(join(documents, document), 'utf8')) as object;
    const servers = [{ url: server, description: 'This service' }];
    await writeFile(join(folder, document), JSON.stringify({ ...text, servers }));
  }
}

/** Writes a script under a name with a hash of its content. Returns the name. */
async function written(folder: string, name: string, script: string): Promise<string> {
  const hash = createHash('sha256').update(script).digest('hex').slice(0, 10);
  const file = `${name}-${hash}.js`;
  await writeFile(join(folder, file), script);
  return file;
}
