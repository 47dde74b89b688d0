/**
 * `npm run openapi` writes the types of both APIs, too, from their documents. Only the types of a plugin are
 * taken: the client itself is written by hand, since its retries and waits are the product.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The generated files, and the documents that they follow from. */
export const typesOfDocuments = {
  'client/src/types/generated.ts': 'docs/openapi.json',
  'client/src/types/operator.ts': 'docs/operator-openapi.json',
} as const;

type DocumentPath = (typeof typesOfDocuments)[keyof typeof typesOfDocuments];
type Schema = Readonly<Record<string, unknown>>;

interface Operation {
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<
    Record<string, { readonly content?: { readonly 'application/json': { readonly schema: Schema } } }>
  >;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * The schemas of a document. `darkroom-client/operator` has a table of operations: `Operations` says what each of them
 * takes and gives.
 */
export async function schemasOf(path: DocumentPath): Promise<object> {
  const { paths, components } = JSON.parse(await readFile(join(root, path), 'utf8')) as Document;
  if (path !== typesOfDocuments['client/src/types/operator.ts']) return components.schemas;
  const operations = Object.entries(paths).flatMap(([place, item]) =>
    Object.entries(item).map(
      ([method, operation]) => [`${method.toUpperCase()} ${place}`, takenAndGiven(operation)] as const,
    ),
  );
  return { ...components.schemas, Operations: objectOf(Object.fromEntries(operations)) };
}

function takenAndGiven({ parameters = [], requestBody, responses }: Operation): Schema {
  const query = parameters.filter((one) => one.in === 'query').map(({ name, schema }) => [name, schema]);
  const filter = { ...objectOf(Object.fromEntries(query) as Record<string, Schema>), required: [] };
  const taken = requestBody?.content['application/json'].schema ?? (query.length > 0 ? filter : undefined);
  const given = (responses['201'] ?? responses['200'])?.content?.['application/json'].schema ?? {};
  return objectOf({ ...(taken && { takes: taken }), gives: given });
}

function objectOf(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** Names the schemas and the types by their hashes, so that a test need not generate the types again. */
export function headOf(path: DocumentPath, schemas: object, types: string): string {
  return [
    `// Written by \`npm run openapi\` from ${path}. Do not change it by hand.`,
    `// schemas ${hashOf(JSON.stringify(schemas))}`,
    `// types   ${hashOf(types)}`,
    '',
  ].join('\n');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

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
    return text
      .slice(text.indexOf('};') + 3)
      .trimStart()
      .replaceAll('null | null', 'null');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes the files, from the documents as they are stored. */
export async function writeClientTypes(): Promise<void> {
  for (const [path, document] of Object.entries(typesOfDocuments)) {
    const schemas = await schemasOf(document);
    const text = await typesOf(schemas);
    await writeFile(join(root, path), `${headOf(document, schemas, text)}\n${text}`);
  }
}
