/** docs/openapi.json is what the code says today, and well-formed by the rules of Redocly. */
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { operations } from '../../service/contract/operations.ts';
import { documentPath } from '../../service/document/document-path.ts';
import { documentText } from '../../service/document/document.ts';

const text = readFileSync(new URL(`../../${documentPath}`, import.meta.url), 'utf8');

/** The findings that stand, each with its reason. */
const exceptions: Readonly<Record<string, string>> = {
  '#/components/schemas/Problem':
    'Every response names its own refusals. The union of all of them is a type for clients.',
  '#/components/responses/UnknownRoute': 'No path can have the answer to unknown paths.',
};

async function findings(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source, absoluteRef: documentPath, config });
  return problems
    .filter(({ location }) => !location.some(({ pointer = '' }) => pointer in exceptions))
    .map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer ?? ''}: ${message}`);
}

describe('docs/openapi.json', () => {
  it('The file is current; npm run openapi writes it', () => {
    expect(text === documentText(), 'run npm run openapi').toBe(true);
  });

  it('The recommended rules of Redocly find nothing but the named exceptions', async () => {
    expect(await findings(text)).toEqual([]);
    expect(
      await findings(text.replace('"operationId": "listModels"', '"operationId": "list models"')),
    ).toEqual([expect.stringContaining('operation-operationId-url-safe')]);
  });

  it('The file has every operation of the contract, with its method and its path', () => {
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { operationId: string }>> };
    const stated = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId }]) => [
        operationId,
        `${method.toUpperCase()} ${path}`,
      ]),
    );
    const contract = Object.entries(operations).map(([name, { method, path }]) => [
      name,
      `${method} ${path}`,
    ]);
    expect(Object.fromEntries(stated)).toEqual(Object.fromEntries(contract));
  });
});
