import type { Command } from 'commander';
import { asMicros, toUsd } from '../../core/money.ts';
import type { Admin } from './admin.ts';
import { OperatorError } from './operator-error.ts';
import type { Row } from './output.ts';
import type { OperatorServices } from './services.ts';
import * as values from './values.ts';

export function addWalletCommands(program: Command, admin: Admin): void {
  const wallet = program.command('wallet').description('move money: top up, adjust, list the ledger');
  wallet
    .command('top-up <account>')
    .description('add to the balance; the same reference twice is one top-up')
    .requiredOption('--amount <usd>', 'in USD')
    .requiredOption('--reference <text>', 'what it was paid with, unique for the account')
    .action(admin.run(async ({ services, output }, id: string, options: { amount: string; reference: string }) => {
      const account = await values.account(services, id);
      const amount = values.positiveUsd('--amount', options.amount, 'above zero');
      const isNew = await services.wallet.topUp(account.id, amount, options.reference);
      const note = isNew ? undefined : 'A top-up with this reference was made before: nothing was added.';
      output.show({ ...(await balanceOf(services, id)), amount: isNew ? toUsd(amount) : 0, reference: options.reference, already_applied: !isNew }, note);
    }));
  wallet
    .command('adjust <account>')
    .description('add to the balance, or take from it with a negative amount')
    .requiredOption('--amount <usd>', 'in USD; negative to take')
    .requiredOption('--reason <text>', 'why, for the ledger')
    .action(admin.run(async ({ services, output }, id: string, options: { amount: string; reason: string }) => {
      const account = await values.account(services, id);
      const amount = values.usd('--amount', options.amount);
      if (amount === 0) throw new OperatorError('--amount: must not be 0.');
      await services.wallet.adjust(account.id, amount, options.reason);
      output.show({ ...(await balanceOf(services, id)), amount: toUsd(amount), reason: options.reason });
    }));
  wallet
    .command('ledger <account>')
    .description('every movement, the oldest first, with the running balance')
    .action(admin.run(async ({ services, output }, id: string) => {
      const account = await values.account(services, id);
      let available = 0;
      const rows = (await services.wallet.ledger(account.id)).map((row) => {
        available += row.amountMicros;
        return {
          at: row.at,
          kind: row.kind,
          amount: toUsd(row.amountMicros),
          available: toUsd(asMicros(available)),
          about: row.creationId ?? row.reference ?? row.reason ?? null,
        };
      });
      output.list(rows, 'Nothing has moved yet.');
    }));
}

async function balanceOf(services: OperatorServices, id: string): Promise<Row> {
  const account = await values.account(services, id);
  return {
    account: account.id,
    available: toUsd(account.availableMicros),
    balance: toUsd(asMicros(account.availableMicros - account.creditLineMicros)),
  };
}
