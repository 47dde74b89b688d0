/** The table of docs/providers.md, which `npm run openapi` writes. A test compares it with the page. */
import { vendorAccess } from '../service/catalog/providers.ts';

const table = /^\| Provider \| What it needs \|.*\n(?:\|.*\n)+/m;

/** Replaces the table in the text of the page. Throws when the page has none. */
export function withProvidersTable(page: string): string {
  if (!table.test(page)) throw new Error('docs/providers.md has no table of providers');
  const rows = Object.entries(vendorAccess).map(
    ([name, { needs, page: address, checkAsksFor }]) =>
      `| \`${name}\` | ${needs} | [${shortOf(address)}](${address}) | ${checkAsksFor} |\n`,
  );
  const head =
    '| Provider | What it needs | Where to get it | What `check` asks for |\n| --- | --- | --- | --- |\n';
  return page.replace(table, () => head + rows.join(''));
}

function shortOf(address: string): string {
  const { host, pathname } = new URL(address);
  return host + pathname.replace(/\/$/, '');
}
