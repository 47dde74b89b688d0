/** The command `accounts set-many`, which changes many accounts without a read of each. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import type { AccountChange } from '../../service/accounts/account-store.ts';
import { type Account, conditions } from '../../service/accounts/account.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { type AccountId, parseAccountId } from '../../service/values/ids.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';
import { createProgress } from '../terminal/dialogue.ts';
import * as values from '../terminal/values.ts';

interface SetManyOptions extends values.LimitOptions {
  readonly where?: string[];
  readonly file?: string;
  readonly condition?: string;
  readonly dryRun?: boolean;
}

/** Maximum number of accounts changed concurrently. */
const changesAtOnce = 16;

/** What `--where` can ask for: the value of a column of `accounts show`. */
const columns: Readonly<Record<string, (account: Account) => string>> = {
  name: ({ name }) => name,
  condition: ({ condition }) => condition,
  post_rate: ({ limits }) => String(limits.postRate),
  get_rate: ({ limits }) => String(limits.getRate),
  user_post_rate: ({ limits }) => String(limits.userPostRate),
  user_get_rate: ({ limits }) => String(limits.userGetRate),
  max_concurrent: ({ limits }) => String(limits.maxConcurrent),
  deadline: ({ limits }) => String(limits.deadlineSeconds),
  max_unused_uploads: ({ limits }) => String(limits.maxUnusedUploads),
};

export function addSetMany(command: OperatorCommand): void {
  command
    .description('change many accounts; takes effect at their next requests. A repetition does no harm')
    .option('--where <column=value...>', `accounts with these values: ${Object.keys(columns).join(', ')}`)
    .option('--file <path>', 'accounts of a file with one id on each line')
    .option('--condition <condition>', conditions.join(', '))
    .option('--dry-run', 'only count the accounts')
    .run(async ({ services, output, fail, tell }, options: SetManyOptions) => {
      const change = changeOf(options);
      const progress = createProgress(services.clock, tell);
      const tally = { chosen: 0, changed: 0, missing: [] as string[], failed: [] as string[] };
      const ids = chosen(services, options);
      const lane = async (): Promise<void> => {
        for (let next = await ids.next(); next.done !== true; next = await ids.next()) {
          tally.chosen += 1;
          if (options.dryRun !== true) await changeOne(services, next.value, change, tally);
          progress(() => `${tally.changed} of ${tally.chosen} accounts changed`);
        }
      };
      await Promise.all(Array.from({ length: changesAtOnce }, lane));
      output.show(
        tally,
        tally.failed.length > 0 ? 'Repeat the command for the accounts that failed.' : undefined,
      );
      if (tally.missing.length + tally.failed.length > 0) fail();
    });
}

function changeOf(options: SetManyOptions): AccountChange {
  const change: AccountChange = {
    ...values.limits(options),
    ...(options.condition !== undefined && {
      condition: values.oneOf('--condition', options.condition, conditions),
    }),
  };
  if (Object.keys(change).length === 0)
    throw new OperatorError('Nothing to change: name at least one option (see --help).');
  if ((options.where === undefined) === (options.file === undefined))
    throw new OperatorError('--where, --file: give one of them.');
  return change;
}

async function changeOne(
  { accounts }: OperatorServices,
  id: AccountId,
  change: AccountChange,
  tally: { changed: number; missing: string[]; failed: string[] },
): Promise<void> {
  try {
    if (await accounts.changeIfThere(id, change)) tally.changed += 1;
    else tally.missing.push(id);
  } catch (error) {
    if (!(error instanceof Overloaded)) throw error;
    tally.failed.push(id);
  }
}

function chosen(services: OperatorServices, { where = [], file }: SetManyOptions): AsyncGenerator<AccountId> {
  return file === undefined ? matching(services, where.map(conditionOf)) : ofFile(file);
}

function conditionOf(text: string): (account: Account) => boolean {
  const [column = '', value] = text.split(/=(.*)/su);
  const read = columns[column];
  if (!read || value === undefined)
    throw new OperatorError(
      `--where: ${JSON.stringify(text)} is no column and value, such as condition=active; columns are ${Object.keys(columns).join(', ')}.`,
    );
  return (account) => read(account) === value;
}

async function* matching(
  { accounts }: OperatorServices,
  fits: readonly ((account: Account) => boolean)[],
): AsyncGenerator<AccountId> {
  for await (const page of accounts.pages())
    for (const account of page) if (fits.every((fit) => fit(account))) yield account.id;
}

async function* ofFile(path: string): AsyncGenerator<AccountId> {
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity })) {
    number += 1;
    const text = line.trim();
    if (text === '') continue;
    const id = parseAccountId(text);
    if (!id) throw new OperatorError(`--file: line ${number} is no account id: ${JSON.stringify(text)}.`);
    yield id;
  }
}
