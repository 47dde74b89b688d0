/** The first lines of the generated types: they tell whether the file is that of the document. */
import { createHash } from 'node:crypto';

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
