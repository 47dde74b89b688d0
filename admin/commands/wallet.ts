import type { Row } from '../../client/command/terminal/output.ts';
import type { Account, LedgerRow } from '../../service/accounts/account.ts';
import type { MovementOutcome } from '../../service/accounts/wallet-store.ts';
import { adjust, movementWords, topUp } from '../../service/operated/accounts.ts';
import {
  asMicros,
  formatUsd,
  largestAvailableMicros,
  type Micros,
  toUsd,
} from '../../service/values/money.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';
import { confirm } from '../terminal/dialogue.ts';
import * as values from '../terminal/values.ts';

interface TopUp {
  readonly amount: string;
  readonly reference: string;
}

interface Adjustment {
  readonly amount: string;
  readonly reason: string;
  readonly reference?: string;
  readonly yes?: boolean;
}

export function addWalletCommands(program: OperatorCommand): void {
  const wallet = program.task('wallet', 'move money: top up, adjust, list the ledger');
  wallet
    .task('top-up <account>', 'add to the balance; the same reference twice is one top-up')
    .requiredOption('--amount <usd>', 'in USD')
    .requiredOption('--reference <text>', 'what it was paid with, unique for the account')
    .run(async ({ services, output }, id: string, options: TopUp) => {
      const account = await values.account(services, id);
      const amount = values.positiveUsd('--amount', options.amount, 'above zero');
      const reference = values.shownText('--reference', options.reference);
      const isNew = isApplied(await topUp(account.id, amount, reference, services), reference);
      output.show(
        {
          ...(await balanceOf(services, id)),
          ...movementView(amount, isNew),
          reference,
          already_applied: !isNew,
        },
        noteOf(isNew),
      );
    });
  wallet
    .task('adjust <account>', 'add to the balance, or take from it with a negative amount')
    .requiredOption('--amount <usd>', 'in USD; negative to take')
    .requiredOption('--reason <text>', 'why, for the ledger')
    .option('--reference <text>', 'unique for the account: the same reference twice is one adjustment')
    .option('--yes', 'take the balance below zero without a question')
    .run(async ({ services, output }, id: string, options: Adjustment) => {
      const account = await values.account(services, id);
      const amount = values.usd('--amount', options.amount);
      if (amount === 0) throw new OperatorError('--amount: must not be 0.');
      const reason = values.shownText('--reason', options.reason);
      const reference =
        options.reference === undefined ? undefined : values.shownText('--reference', options.reference);
      await confirmBelowZero(account, amount, options.yes === true);
      const outcome = await adjust(account.id, { amountMicros: amount, reason, reference }, services);
      const isNew = isApplied(outcome, reference);
      const view = { ...(await balanceOf(services, id)), ...movementView(amount, isNew), reason };
      output.show(
        reference === undefined ? view : { ...view, reference, already_applied: !isNew },
        noteOf(isNew),
      );
    });
  wallet
    .task('ledger <account>', 'every movement, the oldest first, with the running balance')
    .run(async ({ services, output }, id: string) => {
      const account = await values.account(services, id);
      output.list(ledgerRows(await services.wallet.ledger(account.id)), 'Nothing has moved yet.');
    });
}

/** False when an earlier command made the same movement. Throws OperatorError when the movement was refused. */
function isApplied(outcome: MovementOutcome, reference: string | undefined): boolean {
  switch (outcome.kind) {
    case 'applied':
      return true;
    case 'already_applied':
      return false;
    case 'reference_taken': {
      const { kind, amountMicros } = outcome.by;
      const message = `The reference ${JSON.stringify(reference)} stands for ${movementWords[kind]} of ${formatUsd(amountMicros)}: nothing was changed. Use another reference.`;
      throw new OperatorError(message, { reference, kind, amount: toUsd(amountMicros) });
    }
    case 'below_zero':
    case 'refused_beside':
    case 'out_of_range':
      throw new OperatorError(
        `--amount: what an account can spend must stay between -${formatUsd(largestAvailableMicros)} and ${formatUsd(largestAvailableMicros)}: nothing was changed.`,
      );
  }
}

/** A few wrong digits would put the customer into debt and stop their requests at once, so the operator confirms. */
async function confirmBelowZero(account: Account, amount: Micros, isYes: boolean): Promise<void> {
  const after = asMicros(account.availableMicros - account.creditLineMicros + amount);
  if (amount > 0 || after >= 0) return;
  await confirm(
    `This takes the balance of ${account.name} (${account.id}) to ${formatUsd(after)}, below zero.`,
    isYes,
  );
}

function movementView(amount: Micros, isNew: boolean): Row {
  return { amount: isNew ? toUsd(amount) : 0 };
}

function noteOf(isNew: boolean): string | undefined {
  return isNew
    ? undefined
    : 'This movement was made before with this reference and amount: nothing was changed.';
}

function ledgerRows(ledger: readonly LedgerRow[]): Row[] {
  let available = 0;
  return ledger.map((row) => {
    available += row.amountMicros;
    const noted = [row.reference, row.reason].filter((text) => text !== undefined);
    return {
      at: row.at,
      kind: row.kind,
      amount: toUsd(row.amountMicros),
      available: toUsd(asMicros(available)),
      about: row.creationId ?? (noted.length > 0 ? noted.join(': ') : null),
    };
  });
}

async function balanceOf(services: OperatorServices, id: string): Promise<Row> {
  const account = await values.account(services, id);
  return {
    account: account.id,
    available: toUsd(account.availableMicros),
    balance: toUsd(asMicros(account.availableMicros - account.creditLineMicros)),
  };
}
