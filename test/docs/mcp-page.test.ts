/** docs/mcp.md says what the tools say about themselves. */
import { describe, expect, it } from 'vitest';
import { repeatedCallSeconds, toolWaitSeconds } from '../../service/contract/limits.ts';
import { tools } from '../../service/mcp/tools/tools.ts';
import { readPage, sectionOf, tableRows } from './pages.ts';

const page = readPage('docs/mcp.md');

describe('docs/mcp.md', () => {
  it('lists the tools with their arguments', () => {
    const rows = tableRows(sectionOf(page, '## Tools')).map(([name = '', args = '']) => [
      name.replaceAll('`', ''),
      [...args.matchAll(/`(\w+)`/g)].map(([, argument]) => argument).toSorted(),
    ]);
    const stated = tools.map(({ name, input }) => {
      const names = Object.keys(input.properties).toSorted();
      return [name, name === 'quote_image' ? ['generate_image', 'wait_seconds'] : names];
    });
    expect(rows).toEqual(stated);
  });

  it('tells how long a call waits, and how long a repeated call attaches', () => {
    const waits = sectionOf(page, '## Waits');
    expect(waits).toContain(`waits ${toolWaitSeconds.usual} seconds`);
    expect(waits).toContain(`from 0 to ${toolWaitSeconds.most}`);
    expect(sectionOf(page, '## Repeated calls')).toContain(`Within ${repeatedCallSeconds} seconds`);
  });

  it.each([...page.text.matchAll(/^```json\n([^]*?)^```/gm)].map(([, text = '']) => text))(
    'has settings that a host can read, with the key and the address: %s',
    (text) => {
      const settings = JSON.parse(text) as Record<string, Record<string, Record<string, unknown>>>;
      const { darkroom } = settings['mcpServers'] ?? settings['servers'] ?? {};
      const isCommand = darkroom?.['command'] === 'npx';
      expect(darkroom).toMatchObject(
        isCommand
          ? { args: ['-y', 'darkroom-client', 'mcp'], env: { DARKROOM_BASE_URL: 'https://darkroom.example' } }
          : { url: 'https://darkroom.example/mcp' },
      );
      expect(JSON.stringify(darkroom)).toMatch(/"Bearer \$\{|"dk_live_…"/);
    },
  );
});
