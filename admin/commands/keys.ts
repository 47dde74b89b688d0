import type { Row } from '../../client/command/terminal/output.ts';
import type { Account, ApiKey } from '../../service/accounts/account.ts';
import { spentIn, spentInAll, spentOn } from '../../service/accounts/caps.ts';
import {
  isPlayground,
  type KeyChange,
  newKey,
  type NewKey as IssuedKey,
  tooManyKeysMessage,
} from '../../service/accounts/key-changes.ts';
import { type KeyId, parseKeyId } from '../../service/values/ids.ts';
import { type Micros, toUsd } from '../../service/values/money.ts';
import { dayOf, monthOf } from '../../service/values/time.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { knownModels, type MergedCatalog, readMerged } from '../catalog/merged-catalog.ts';
import { OperatorError } from '../operator-error.ts';
import { persist } from '../persistence.ts';
import type { OperatorServices } from '../services.ts';
import * as values from '../terminal/values.ts';

/** The options that set limits. `none`, or an empty value, removes a limit. */
export type KeyLimitOptions = Readonly<
  Partial<Record<'dailyCap' | 'monthlyCap' | 'totalCap' | 'perUserMonthlyCap' | 'models' | 'expires', string>>
>;

export interface NewKey extends KeyLimitOptions {
  readonly name: string;
}

export function addKeyCommands(program: OperatorCommand): void {
  const keys = program.task('keys', 'create, list, change and revoke API keys');
  limitOptions(
    keys
      .task('create <account>', 'create a key; it is shown this once')
      .requiredOption('--name <name>', 'what it is for'),
  ).run(async ({ services, output }, id: string, options: NewKey) => {
    const { record, key } = await issueKey(services, await values.account(services, id), options);
    output.show(
      { id: record.id, key, ...keyView(record, services) },
      'The key is shown this once: only its hash is kept.',
    );
  });
  keys.task('list <account>', 'the keys of an account').run(async ({ services, output }, id: string) => {
    const account = await values.account(services, id);
    const found = await services.accounts.listKeys(account.id);
    output.list(
      found.filter((key) => !isPlayground(key)).map((key) => keyView(key, services)),
      `No key yet: keys create ${account.id} --name NAME`,
    );
  });
  keys
    .task(
      'revoke <account> <key-id>',
      'revoke a key: it is dead at its next request; tried until it succeeds',
    )
    .run(async ({ services, output, tell }, id: string, keyId: string) => {
      const revoked = await persist('revoke the key', () => revokeKey(services, id, keyId), {
        services,
        tell,
      });
      tell(`The key ${keyId} is revoked from its next request on.`);
      output.show(revoked);
    });
  keys
    .task('show <account> <key-id>', 'one key with its limits and what is spent of them')
    .run(async ({ services, output }, id: string, keyId: string) => {
      const account = await values.account(services, id);
      const key = parseKeyId(keyId);
      if (!key) throw noSuchKey(account, keyId);
      output.show(keyView(await readKey(services, account, key), services));
    });
  limitOptions(
    keys.task('set <account> <key-id>', 'change the limits of a key; takes effect at its next request'),
    '; or none',
  ).run(async ({ services, output }, id: string, keyId: string, options: KeyLimitOptions) => {
    const account = await values.account(services, id);
    const change = await limitsOf(options, services);
    if (Object.keys(change).length === 0)
      throw new OperatorError('Nothing to change: name at least one option (see --help).');
    const key = parseKeyId(keyId);
    if (!key || !(await services.accounts.changeKey(account.id, key, change)))
      throw noSuchKey(account, keyId);
    output.show(keyView(await readKey(services, account, key), services));
  });
}

function limitOptions(command: OperatorCommand, none = ''): OperatorCommand {
  return command
    .option('--daily-cap <usd>', `the most it may spend on a UTC day, in USD${none}`)
    .option('--monthly-cap <usd>', `the most it may spend in a UTC month, in USD${none}`)
    .option('--total-cap <usd>', `the most it may spend in all, in USD${none}`)
    .option(
      '--per-user-monthly-cap <usd>',
      `the most it may spend in a UTC month for each user that requests name, in USD${none}`,
    )
    .option('--models <list>', `the only models it may use, with commas between them${none}`)
    .option('--expires <time>', `when it stops working, such as 2027-01-31T18:00:00Z${none}`);
}

/** The limits that the command line names. null: the limit is removed. */
async function limitsOf(options: KeyLimitOptions, services: OperatorServices): Promise<KeyChange> {
  const merged = options.models === undefined ? undefined : await readMerged(services);
  const cap = (option: string) => (text: string) => values.positiveUsd(option, text, 'zero');
  const limit = <Value>(text: string | undefined, read: (text: string) => Value): Value | null | undefined =>
    text === undefined ? undefined : text === 'none' || text === '' ? null : read(text);
  const limits = {
    dailyCapMicros: limit(options.dailyCap, cap('--daily-cap')),
    monthlyCapMicros: limit(options.monthlyCap, cap('--monthly-cap')),
    totalCapMicros: limit(options.totalCap, cap('--total-cap')),
    perUserMonthlyCapMicros: limit(options.perUserMonthlyCap, cap('--per-user-monthly-cap')),
    models: limit(options.models, (text) => modelList(text, merged)),
    expiresAt: limit(options.expires, (text) => values.momentAhead('--expires', text, services.clock.now())),
  };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

function modelList(list: string, merged: MergedCatalog | undefined): readonly string[] {
  const names = list.split(',').map((name) => name.trim());
  if (names.includes('')) throw new OperatorError('--models: a name is missing; write none for all models.');
  return merged ? knownModels(merged.catalog, [...new Set(names)]) : [];
}

/** Makes a new key of the account. The key itself is not stored, so it can be shown only now. */
export async function issueKey(
  services: OperatorServices,
  account: Account,
  options: NewKey,
): Promise<IssuedKey> {
  const name = values.shownText('--name', options.name);
  const { record, key } = newKey(account.id, { name, ...(await limitsOf(options, services)) }, services);
  switch (await services.accounts.createKey(record)) {
    case 'created':
      return { record, key };
    case 'id_taken':
      throw new OperatorError('The id drawn for the key is taken: try again.');
    case 'too_many':
      throw new OperatorError(`${tooManyKeysMessage} \`keys list ${account.id}\` shows them.`);
  }
}

async function revokeKey(services: OperatorServices, accountText: string, keyText: string): Promise<Row> {
  const account = await values.account(services, accountText);
  const id = parseKeyId(keyText);
  const at = new Date(services.clock.now()).toISOString();
  if (!id || !(await services.accounts.revokeKey(account.id, id, at))) throw noSuchKey(account, keyText);
  return { id, account: account.id, revoked_at: (await readKey(services, account, id)).revokedAt ?? at };
}

async function readKey(services: OperatorServices, account: Account, id: KeyId): Promise<ApiKey> {
  const key = (await services.accounts.listKeys(account.id)).find((one) => one.id === id);
  if (!key) throw noSuchKey(account, id);
  return key;
}

function noSuchKey(account: Account, text: string): OperatorError {
  return new OperatorError(`The account has no key ${text}: \`keys list ${account.id}\` shows them.`);
}

function keyView(key: ApiKey, { clock }: OperatorServices): Row {
  const orNull = (cap: Micros | undefined): number | null => (cap === undefined ? null : toUsd(cap));
  return {
    id: key.id,
    account: key.accountId,
    name: key.name,
    monthly_cap: orNull(key.monthlyCapMicros),
    spent_this_month: toUsd(spentIn(key, monthOf(clock.now()))),
    daily_cap: orNull(key.dailyCapMicros),
    spent_today: toUsd(spentOn(key, dayOf(clock.now()))),
    total_cap: orNull(key.totalCapMicros),
    spent_total: toUsd(spentInAll(key)),
    per_user_monthly_cap: orNull(key.perUserMonthlyCapMicros),
    models: key.models ?? null,
    expires_at: key.expiresAt ?? null,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt ?? null,
    revoked_at: key.revokedAt ?? null,
  };
}
