import type { Row } from '../../client/command/terminal/output.ts';
import type { Account } from '../../service/accounts/account.ts';
import { type CanaryAccount, canaryModel } from '../../service/canary/canary-account.ts';
import { topUp } from '../../service/operated/accounts.ts';
import { parseKeyId } from '../../service/values/ids.ts';
import { asMicros, formatUsd, type Micros, toUsd } from '../../service/values/money.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';
import * as values from '../terminal/values.ts';
import { createAccount } from './accounts.ts';
import { issueKey } from './keys.ts';

export function addCanaryCommands(program: OperatorCommand): void {
  const canary = program.task('canary', 'the account with which the service tests itself');
  canary
    .task('setup', 'make the account of the canary and its key, or replace the key and fill the balance up')
    .option('--balance <usd>', 'what the account has afterwards, in USD of play money', '1000')
    .run(async ({ services, output, tell }, { balance }: { balance: string }) => {
      const wanted = values.positiveUsd('--balance', balance, 'above zero');
      output.show(await setUp(wanted, services, tell));
    });
  canary
    .task('show', 'the account of the canary, and what it can still buy')
    .run(async ({ services, output }) => {
      const known = await services.canary.read();
      if (!known) throw new OperatorError('The canary has no account yet: run `canary setup`.');
      output.show(viewOf(known, await values.account(services, known.account)));
    });
}

/** The secret is read first: a stack without a canary gets no account. */
async function setUp(wanted: Micros, services: OperatorServices, tell: (line: string) => void): Promise<Row> {
  const before = await services.canary.read();
  const account = before
    ? await filledUp(await values.account(services, before.account), wanted, services)
    : await createAccount(services, { name: 'Canary', balance: String(toUsd(wanted)), maxConcurrent: '5' });
  await services.accounts.change(account.id, { providers: ['sandbox'], sandbox: true });
  const { record, key } = await issueKey(services, account, { name: 'canary', models: canaryModel });
  const made: CanaryAccount = { account: account.id, keyId: record.id, key };
  await services.canary.write(made);
  if (before) await revoke(before, account, services);
  tell('The canary uses this account from its next run on.');
  return viewOf(made, await values.account(services, account.id));
}

async function filledUp(account: Account, wanted: Micros, services: OperatorServices): Promise<Account> {
  const missing = asMicros(wanted - account.availableMicros);
  if (missing <= 0) return account;
  const reference = `canary setup ${new Date(services.clock.now()).toISOString()}`;
  const { kind } = await topUp(account.id, missing, reference, services);
  if (kind !== 'applied')
    throw new OperatorError(`The balance cannot be raised to ${formatUsd(wanted)}: ${kind}.`);
  return account;
}

/** The key before was replaced in the secret. A key that is revoked already stays revoked. */
async function revoke({ keyId }: CanaryAccount, account: Account, services: OperatorServices): Promise<void> {
  const id = parseKeyId(keyId);
  const at = new Date(services.clock.now()).toISOString();
  if (id) await services.accounts.revokeKey(account.id, id, at);
}

function viewOf({ keyId }: CanaryAccount, account: Account): Row {
  return {
    account: account.id,
    condition: account.condition,
    available: toUsd(account.availableMicros),
    key_id: keyId,
    model: canaryModel,
  };
}
