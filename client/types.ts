/**
 * `npm run openapi` writes the types of the API, too, from docs/openapi.json. Only the types of a plugin are
 * taken: the client itself is written by hand, since its retries and waits are the product.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The first lines of the generated types: they tell whether the file is that of the document. */
export const typesPath = 'client/src/types/generated.ts';

/** The schemas of an OpenAPI document. */
export function schemasOf(document: string): object {
  return (JSON.parse(document) as { components: { schemas: object } }).components.schemas;
}

/** Names the schemas and the types by their hashes, so that a test need not generate the types again. */
export function headOf(schemas: object, types: string): string {
  return [
    '// Written by `npm run openapi` from docs/openapi.json. Do not change it by hand.',
    `// schemas ${hashOf(JSON.stringify(schemas))}`,
    `// types   ${hashOf(types)}`,
    '',
  ].join('\n');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const root = fileURLToPath(new URL('..', import.meta.url));

/** The types of all schemas, as @hey-api/openapi-ts writes them. */
async function typesOf(schemas: object): Promise<string> {
  // The generator costs half a second: only this command loads it.
  const { createClient } = await import('@hey-api/openapi-ts');
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-types-'));
  try {
    await createClient({
      input: {
        openapi: '3.1.1',
        info: { title: 'Darkroom', version: '1' },
        paths: {},
        components: { schemas },
      },
      output: { path: folder, indexFile: false },
      plugins: ['@hey-api/typescript'],
      logs: { level: 'silent' },
    });
    const text = await readFile(join(folder, 'types.gen.ts'), 'utf8');
    // The first block names a server. The client knows its address by its options.
    return text.slice(text.indexOf('/**')).replaceAll('null | null', 'null');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param document the text of docs/openapi.json */
export async function writeClientTypes(document: string): Promise<void> {
  const schemas = schemasOf(document);
  const text = await typesOf(schemas);
  await writeFile(join(root, typesPath), `${headOf(schemas, text)}\n${text}`);
}
