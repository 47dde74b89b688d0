/** docs/deploying.md says what the preflight does, and docs/capacity.md has the quotas of the data. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formattedPage } from '../../lab/formatted-page.ts';
import { quotasTable } from '../../admin/preflight/quotas/page.ts';
import { readPage, root } from './pages.ts';

const page = readPage('docs/deploying.md');

describe('The page about the preflight', () => {
  it('has the table of quotas as the data has it', async () => {
    expect(readPage('docs/capacity.md').text).toContain((await formattedPage(quotasTable())).trim());
  });

  it('lists every permission that the command asks by', () => {
    const folder = join(root, 'admin/preflight');
    const code = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n');
    const named = [...code.matchAll(/ask(?:Aws|ForOne)\(\s*'([\w-]+:\w+)/g)].map(([, name]) => name);
    const policy = page.blocks.find(({ example }) => example === 'preflight-policy');
    const { Statement } = JSON.parse(policy?.text ?? '{}') as { Statement: { Action: string[] }[] };
    expect(named.length).toBeGreaterThan(10);
    expect(Statement.flatMap(({ Action }) => Action)).toEqual([...new Set(named)].sort());
  });
});
