import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { headOf, schemasOf, typesPath } from '../../client/types.ts';
import { root } from '../docs/pages.ts';

it('The types of the client are those of docs/openapi.json; npm run openapi writes them', () => {
  const schemas = schemasOf(readFileSync(join(root, 'docs/openapi.json'), 'utf8'));
  const file = readFileSync(join(root, typesPath), 'utf8');
  const types = file.slice(file.indexOf('/**'));
  expect(file.slice(0, file.indexOf('/**')), 'run npm run openapi').toBe(`${headOf(schemas, types)}\n`);
});
