/** The commands that read or change many accounts, against the whole service. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newFolder } from '../local/machine-fixture.ts';
import { useOperatedService } from './admin-run.ts';

const operated = useOperatedService();

const opened = async (name: string): Promise<string> =>
  String((await operated.run('accounts', 'create', '--name', name, '--balance', '12.5'))['id']);
const shown = async (id: string): Promise<unknown> => operated.run('accounts', 'show', id);

describe('accounts set-many', () => {
  it('The command changes the accounts that have the values of --where, and no other', async () => {
    const [one, two, other] = [await opened('Many'), await opened('Many'), await opened('Other')];
    const where = ['--where', 'name=Many', 'condition=active'];
    const setMany = (...values: string[]): Promise<unknown> =>
      operated.run('accounts', 'set-many', ...where, ...values);
    const changed = await setMany('--post-rate', '7', '--condition', 'suspended');
    expect(changed).toEqual({ chosen: 2, changed: 2, missing: [], failed: [] });
    for (const id of [one, two])
      expect(await shown(id)).toMatchObject({ post_rate: 7, condition: 'suspended' });
    expect(await shown(other)).toMatchObject({ condition: 'active' });
    expect(await setMany('--post-rate', '8')).toMatchObject({ chosen: 0 });
  });

  it('The command changes the accounts of a file, names those that are missing, and ends with exit code 1', async () => {
    const file = join(newFolder(), 'ids');
    const id = await opened('Of a file');
    await writeFile(file, `${id}\n\n  ZZZZZZZZZZ\r\n`);
    const options = ['--file', file, '--deadline', '90'];
    const { code, out } = await operated.admin('--json', 'accounts', 'set-many', ...options);
    expect([code, JSON.parse(out)]).toEqual([
      1,
      { chosen: 2, changed: 1, missing: ['ZZZZZZZZZZ'], failed: [] },
    ]);
    expect(await shown(id)).toMatchObject({ deadline: 90 });
  });

  it('The command only counts the accounts with --dry-run', async () => {
    const id = await opened('Dry');
    const options = ['--where', 'name=Dry', '--post-rate', '7', '--dry-run'];
    expect(await operated.run('accounts', 'set-many', ...options)).toMatchObject({ chosen: 1, changed: 0 });
    expect(await shown(id)).not.toMatchObject({ post_rate: 7 });
  });

  it.each([
    [['--where', 'name=Many'], 'Nothing to change: name at least one option (see --help).'],
    [['--post-rate', '7'], '--where, --file: give one of them.'],
    [['--where', 'name=Many', '--file', 'ids', '--post-rate', '7'], '--where, --file: give one of them.'],
    [
      ['--where', 'colour=red', '--post-rate', '7'],
      '--where: "colour=red" is no column and value, such as condition=active',
    ],
  ])('The command refuses the options %j', async (options, sentence) => {
    expect(await operated.refused('accounts', 'set-many', ...options)).toContain(sentence);
  });
});

describe('export ledger', () => {
  it('The command prints every row of an account as CSV', async () => {
    const id = await opened('Exported');
    await operated.run('wallet', 'top-up', id, '--amount', '5', '--reference', '=invoice, 7');
    const { out } = await operated.admin('export', 'ledger', '--account', id);
    const [header, ...lines] = out.split('\n').map((line) => line.trim());
    expect(header).toBe('account,at,kind,amount,creation,key,model,user,reference,reason,request_id');
    expect(lines.map((line) => line.replace(/\d{4}-[^,]+Z/, 'AT'))).toEqual([
      `${id},AT,top_up,12.500000,,,,,opening balance,,`,
      `${id},AT,top_up,5.000000,,,,,"'=invoice, 7",,`,
    ]);
  });

  it('The command prints the rows of all accounts as lines of JSON, and only those of the days', async () => {
    const id = await opened('As lines');
    const { out } = await operated.admin('export', 'ledger', '--format', 'jsonl');
    const rows = out.split('\n').map((line) => JSON.parse(line) as { account: string; amount: number });
    expect(rows.filter(({ account }) => account === id)).toMatchObject([
      { kind: 'top_up', amount: 12.5, key: null },
    ]);
    const past = ['--format', 'jsonl', '--from', '2001-01-01', '--to', '2001-12-31'];
    expect((await operated.admin('export', 'ledger', ...past)).out).toBe('');
  });
});
