import type { Command } from 'commander';
import type { Account, ApiKey } from '../../core/account.ts';
import { createKey, hashKey } from '../../core/api-key.ts';
import { randomBase62 } from '../../core/base62.ts';
import { monthOf } from '../../core/creation.ts';
import { parseKeyId, type KeyId } from '../../core/ids.ts';
import { asMicros, toUsd } from '../../core/money.ts';
import type { Admin } from '../admin.ts';
import { OperatorError } from '../operator-error.ts';
import { persist } from '../persistence.ts';
import type { Row } from '../../terminal/output.ts';
import type { OperatorServices } from '../services.ts';
import * as values from '../terminal/values.ts';

interface NewKey {
  readonly name: string;
  readonly monthlyCap?: string;
}

export function addKeyCommands(program: Command, admin: Admin): void {
  const keys = program.command('keys').description('create, list, change and revoke API keys');
  keys
    .command('create <account>')
    .description('create a key; it is shown this once')
    .requiredOption('--name <name>', 'what it is for')
    .option('--monthly-cap <usd>', 'the most it may spend in a UTC month, in USD')
    .action(
      admin.run(async ({ services, output }, id: string, options: NewKey) => {
        const { record, key } = await issueKey(services, await values.account(services, id), options);
        output.show(
          { id: record.id, key, ...keyView(record, services) },
          'The key is shown this once: only its hash is kept.',
        );
      }),
    );
  keys
    .command('list <account>')
    .description('the keys of an account')
    .action(
      admin.run(async ({ services, output }, id: string) => {
        const account = await values.account(services, id);
        const found = await services.accounts.listKeys(account.id);
        output.list(
          found.map((key) => keyView(key, services)),
          `No key yet: keys create ${account.id} --name NAME`,
        );
      }),
    );
  keys
    .command('revoke <account> <key-id>')
    .description('revoke a key: it is dead at its next request; tried until it succeeds')
    .action(
      admin.run(async ({ services, output, tell }, id: string, keyId: string) => {
        const revoked = await persist('revoke the key', () => revokeKey(services, id, keyId), {
          services,
          tell,
        });
        tell(`The key ${keyId} is revoked from its next request on.`);
        output.show(revoked);
      }),
    );
  keys
    .command('set <account> <key-id>')
    .description('change the cap of a key; takes effect at its next request')
    .requiredOption('--monthly-cap <usd>', 'the most it may spend in a UTC month, in USD; or none')
    .action(
      admin.run(
        async ({ services, output }, id: string, keyId: string, { monthlyCap }: { monthlyCap: string }) => {
          const account = await values.account(services, id);
          const cap =
            monthlyCap === 'none' ? undefined : values.positiveUsd('--monthly-cap', monthlyCap, 'zero');
          const key = parseKeyId(keyId);
          if (!key || !(await services.accounts.setKeyCap(account.id, key, cap)))
            throw noSuchKey(account, keyId);
          output.show(keyView(await readKey(services, account, key), services));
        },
      ),
    );
}

/** Makes a new key of the account. The key itself is not stored, so it can be shown only now. */
export async function issueKey(
  services: OperatorServices,
  account: Account,
  options: NewKey,
): Promise<{ record: ApiKey; key: string }> {
  const cap =
    options.monthlyCap === undefined
      ? undefined
      : values.positiveUsd('--monthly-cap', options.monthlyCap, 'zero');
  const id = newKeyId(services);
  const key = createKey(account.id, id, services.randomBytes);
  const record: ApiKey = {
    id,
    accountId: account.id,
    name: values.shownText('--name', options.name),
    hash: hashKey(key),
    createdAt: new Date(services.clock.now()).toISOString(),
    ...(cap !== undefined && { monthlyCapMicros: cap }),
    spent: {},
  };
  if (!(await services.accounts.createKey(record)))
    throw new OperatorError('The id drawn for the key is taken: try again.');
  return { record, key };
}

function newKeyId({ randomBytes }: OperatorServices): KeyId {
  const id = parseKeyId(randomBase62(6, randomBytes));
  if (!id) throw new Error('a new key id has a wrong form');
  return id;
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

function keyView(key: ApiKey, services: OperatorServices): Row {
  return {
    id: key.id,
    account: key.accountId,
    name: key.name,
    monthly_cap: key.monthlyCapMicros === undefined ? null : toUsd(key.monthlyCapMicros),
    spent_this_month: toUsd(key.spent[monthOf(services.clock.now())] ?? asMicros(0)),
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt ?? null,
    revoked_at: key.revokedAt ?? null,
  };
}
