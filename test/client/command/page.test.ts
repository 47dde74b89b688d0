/** docs/command.md says what the command says about itself. */
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../../client/command/complaint.ts';
import { readPage, sectionOf, tableRows } from '../../docs/pages.ts';
import { newPerson } from './command-run.ts';

const page = readPage('docs/command.md');
const person = await newPerson();
await person.remove();

/** What `--help` prints of a command: the flags as they are written there, without --help itself. */
async function helpOf(...path: readonly string[]): Promise<{ flags: string[]; commands: string[] }> {
  const { code, out, err } = await person.run([...path, '--help']);
  expect([code, err]).toEqual([0, '']);
  const part = (title: string): string => new RegExp(`^${title}:\\n((?: .*\\n)+)`, 'm').exec(out)?.[1] ?? '';
  return {
    flags: [...part('Options').matchAll(/^ {2}(-.*?)(?: {2}|\n|$)/gm)]
      .map(([, flag = '']) => flag.trim())
      .filter((flag) => !flag.endsWith('--help')),
    commands: [...part('Commands').matchAll(/^ {2}([a-z]+)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'help'),
  };
}

const documented = (text: string): string[] =>
  tableRows(text)
    .map(([cell = '']) => cell.replaceAll('`', '').replaceAll('\\|', '|'))
    .filter((cell) => cell.startsWith('-'));

const top = await helpOf();
const help = (await person.run(['--help'])).out;

describe('docs/command.md', () => {
  it('has a section for each command, and one for no other', () => {
    const sections = [...page.text.matchAll(/^## ([a-z]+)$/gm)].map(([, name]) => name);
    const ofOthers = ['logout'];
    expect([...sections, ...ofOthers].toSorted()).toEqual(top.commands.toSorted());
  });

  it('lists the options that every command has', () => {
    const before = page.text.slice(0, page.text.indexOf('## '));
    expect(documented(before).toSorted()).toEqual(top.flags.toSorted());
  });

  it.each(top.commands.filter((name) => name !== 'logout'))('lists the options of %s', async (name) => {
    const own = await helpOf(name);
    const below = await Promise.all(own.commands.map(async (one) => helpOf(name, one)));
    const flags = [own, ...below].flatMap((one) => one.flags);
    expect(documented(sectionOf(page, `## ${name}`)).toSorted()).toEqual(flags.toSorted());
    for (const one of own.commands) expect(sectionOf(page, `## ${name}`)).toContain(one);
  });

  it('lists the exit codes', () => {
    const rows = tableRows(sectionOf(page, '## Exit codes')).map(([code, name]) => [name, Number(code)]);
    expect(Object.fromEntries(rows)).toEqual(exitCodes);
    for (const [name, code] of Object.entries(exitCodes)) expect(help).toContain(`${code} ${name}`);
  });
});
