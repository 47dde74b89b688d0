/**
 * The steps of the operator. Each runs the code behind a command, and a command may die as a function may.
 */
import { eraseAccount, type ErasedAccount } from '../../../admin/erase/account.ts';
import { persist } from '../../../admin/persistence.ts';
import { AwsError } from '../../../local/aws/aws-error.ts';
import { nextRevision, type OperatorCatalog } from '../../../service/catalog/operator-catalog.ts';
import { cancelCreation, type CancelOutcome } from '../../../service/creations/cancel.ts';
import { eraseCreation } from '../../../service/creations/erase.ts';
import { setNotices } from '../../../service/notices/alert-settings.ts';
import { checkAfterCommand } from '../../../service/notices/check-thresholds.ts';
import { createOperatorKeyStore } from '../../../service/operated/operator-key-store.ts';
import { parseCreationId } from '../../../service/values/ids.ts';
import { asMicros, fromUsd, toUsd } from '../../../service/values/money.ts';
import { redeliver, sendTestDelivery } from '../../../service/webhooks/redeliver.ts';
import { rotated } from '../../../service/webhooks/secrets.ts';
import { webhookSecret } from '../../../service/webhooks/webhook.ts';
import { catalog, type Operator } from '../aws/deployed-service.ts';
import { tableName } from '../aws/simulated-table.ts';
import type { ApiSteps } from './api-steps.ts';
import { addressMark, keyAt, noticeAddress } from './open-accounts.ts';
import type { Step } from './scenario.ts';
import type { Stage } from './stage.ts';

export function createOperatorSteps(
  { world, service, invariants, accountOf, operatorKeys }: Stage,
  tryKey: ApiSteps['tryKey'],
) {
  const { dice } = world;

  /** Runs a command. When it fails, the operator may run it again, as a person would. */
  async function operate(step: Step, work: (operator: Operator) => Promise<unknown>): Promise<boolean> {
    const result = await service.operate(step.kind, work);
    if (result.ok || !dice.chance(`operator again ${step.at}`, 0.5)) return result.ok;
    return (await service.operate(step.kind, work)).ok;
  }

  /** Runs a command that tries until it succeeds, however busy the table is. */
  async function urgently(step: Step, work: (operator: Operator) => Promise<unknown>): Promise<boolean> {
    return operate(step, (services) =>
      persist(step.kind, () => work(services), { services, tell: world.note }),
    );
  }

  async function setCondition(step: Step): Promise<void> {
    const account = accountOf(step);
    account.suspended = true;
    if (step.kind === 'activate') account.mayBeActivated = true;
    if (account.mayBeActivated) account.suspensionHolds = false;
    const isDone = await urgently(step, ({ accounts: store }) =>
      store.change(account.id, { condition: step.kind === 'suspend' ? 'suspended' : 'active' }),
    );
    account.suspensionHolds = isDone && !account.mayBeActivated;
    await tryKey(account, keyAt(account, 0));
  }

  /** Of two operators at once, the second is refused and may read and try again. */
  async function setCatalog(step: Extract<Step, { kind: 'catalog' }>): Promise<void> {
    await operate(step, async ({ operatorCatalog, randomBytes }) => {
      const stored = await operatorCatalog.read();
      const revision = nextRevision(stored?.revision, Buffer.from(randomBytes(6)).toString('hex'));
      const dearer = dearerModels(step.addedMicros);
      const next = { revision, providers: [], costs: [], models: dearer };
      if (!(await operatorCatalog.store(next, stored?.revision)))
        throw new Error('somebody else has changed the catalog');
    });
  }

  async function turnSwitch(step: Step): Promise<void> {
    await urgently(step, ({ serviceSwitch, clock }) =>
      step.kind === 'close_service'
        ? serviceSwitch.close({ message: 'We move.', since: new Date(clock.now()).toISOString() })
        : serviceSwitch.open(),
    );
  }

  async function revoke(step: Extract<Step, { kind: 'revoke' }>): Promise<void> {
    const account = accountOf(step);
    const key = account.keys[step.key];
    if (!key) return;
    key.revoked = true;
    const isDone = await urgently(step, ({ accounts: store, clock }) =>
      store.revokeKey(account.id, key.id, new Date(clock.now()).toISOString()),
    );
    if (isDone) key.revocationHolds = true;
    await tryKey(account, key);
  }

  async function revokeOperatorKey(step: Extract<Step, { kind: 'revoke_operator_key' }>): Promise<void> {
    const key = operatorKeys[step.operatorKey];
    if (!key) return;
    key.revoked = true;
    const isDone = await urgently(step, ({ table, clock }) =>
      createOperatorKeyStore(table).revoke(key.id, new Date(clock.now()).toISOString()),
    );
    if (isDone) key.revocationHolds = true;
  }

  async function capOperatorKey(step: Extract<Step, { kind: 'cap_operator_key' }>): Promise<void> {
    const dailyCreditCapMicros = asMicros(step.capMicros);
    await operate(step, ({ table }) =>
      createOperatorKeyStore(table).change(operatorKeys[step.operatorKey]?.id ?? '', {
        dailyCreditCapMicros,
      }),
    );
  }

  async function moveMoney(step: Extract<Step, { readonly amountMicros: number }>): Promise<void> {
    const { id } = accountOf(step);
    await operate(step, async (operator) => {
      const { wallet, accounts: store } = operator;
      if (step.kind === 'top_up') await wallet.topUp(id, asMicros(step.amountMicros), step.reference);
      else if (step.kind === 'adjust') await wallet.adjust(id, asMicros(step.amountMicros), 'simulated');
      else {
        const account = await store.read(id);
        if (account) await wallet.setCreditLine(id, account.creditLineMicros, asMicros(step.amountMicros));
      }
      await checkAfterCommand({ accountId: id, periods: {} }, operator);
    });
  }

  async function setNoticesOf(step: Extract<Step, { kind: 'notices' }>): Promise<void> {
    const { id } = accountOf(step);
    const noticeUrl = step.receiver === undefined ? null : noticeAddress(step.receiver);
    await operate(step, async (operator) =>
      setNotices(id, { noticeUrl, lowBalanceMicros: asMicros(step.lowMicros) }, operator),
    );
  }

  async function rotateSecret(step: Step): Promise<void> {
    await operate(step, async (operator) => {
      const account = await operator.accounts.read(accountOf(step).id);
      if (!account) return;
      const now = operator.clock.now();
      const signFrom = dice.chance(`sign later ${step.at}`, 0.3) ? '1h' : 'now';
      const plain = webhookSecret(operator.randomBytes(32));
      const sealed = await operator.secretBox.seal(account.id, plain);
      await operator.accounts.replaceSecrets(
        account.id,
        account.webhookSecrets[0],
        rotated(account.webhookSecrets, sealed, signFrom, now),
      );
    });
  }

  async function redeliverLatest(step: Step): Promise<void> {
    await operate(step, async (operator) => {
      const account = await operator.accounts.read(accountOf(step).id);
      const delivery = account && (await operator.deliveries.log(account.id, 3)).at(-1);
      if (account && delivery) await redeliver(account, delivery.id, operator);
    });
  }

  /** Cancels an open creation of the account if there is one, and otherwise any creation. */
  async function cancel(step: Step): Promise<void> {
    const { id: account } = accountOf(step);
    const all = [...invariants.books.creations.values()].filter((book) => book.account === account);
    const open = all.filter(({ terminalAt }) => terminalAt === undefined);
    const some = open.length > 0 ? open : all;
    const id = parseCreationId(some[dice.between(`which ${step.at}`, 0, some.length - 1)]?.id ?? '');
    if (!id) return;
    invariants.cancels.onAsked(id);
    const result = await service.operate(step.kind, async ({ creations, cancellation }) => {
      const creation = await creations.read(id);
      return creation && cancelCreation(creation, { creationId: id }, cancellation);
    });
    if (result.ok && result.payload !== null)
      invariants.cancels.onAnswered(id, (result.payload as CancelOutcome).kind);
  }

  async function eraseOne(step: Step): Promise<void> {
    const { id: account } = accountOf(step);
    const all = [...invariants.books.creations.values()].filter((book) => book.account === account);
    const id = parseCreationId(all[dice.between(`which ${step.at}`, 0, all.length - 1)]?.id ?? '');
    if (!id) return;
    await operate(step, async ({ creations, erasure }) => {
      const creation = await creations.read(id);
      return creation && eraseCreation(creation, 'operator', erasure);
    });
  }

  /** Runs the command until it says that nothing is left, as the documentation asks of the operator. */
  async function eraseWhole(step: Step): Promise<void> {
    const account = accountOf(step);
    account.suspended = true;
    for (let run = 1; run <= 12; run += 1) {
      const result = await service.operate(step.kind, async (operator) =>
        eraseAccount(
          { id: account.id },
          {
            ...operator,
            removeUser: () => Promise.resolve('none'),
            removeTopic: () => Promise.resolve(),
          },
          world.note,
        ),
      );
      const isLast = result.ok && (result.payload as ErasedAccount).againAfter === null;
      world.note(`operator erases ${account.id}, run ${run}: ${isLast ? 'nothing is left' : 'again'}`);
      if (isLast && !account.mayBeActivated) {
        invariants.erasures.onAccountErased(account.id);
        return;
      }
      await world.sleep(dice.between(`erase ${step.at} again ${run}`, 1_000, 17 * 60_000));
    }
  }

  async function testDelivery(step: Extract<Step, { kind: 'test_delivery' }>): Promise<void> {
    await operate(step, async (operator) => {
      const account = await operator.accounts.read(accountOf(step).id);
      if (account)
        await sendTestDelivery(
          account,
          { url: `https://receiver.test/${step.webhook}?account=${account.id}&${addressMark}` },
          operator,
        );
    });
  }

  async function setCap(step: Extract<Step, { kind: 'cap' }>): Promise<void> {
    const account = accountOf(step);
    const key = account.keys[step.key];
    // Written past every command, and again while a transaction holds the item.
    for (;;) {
      try {
        service.table.perform('UpdateItem', {
          TableName: tableName,
          Key: { pk: { S: `ACCOUNT#${account.id}` }, sk: { S: `KEY#${key?.id ?? ''}` } },
          UpdateExpression: `SET ${step.cap} = :cap`,
          ExpressionAttributeValues: { ':cap': { N: String(step.capMicros) } },
        });
        return;
      } catch (error) {
        if (!(error instanceof AwsError) || error.code !== 'TransactionConflictException') throw error;
        await world.sleep(1);
      }
    }
  }

  return {
    setNotices: setNoticesOf,
    setCondition,
    setCatalog,
    turnSwitch,
    revoke,
    revokeOperatorKey,
    capOperatorKey,
    moveMoney,
    setCap,
    rotateSecret,
    redeliverLatest,
    cancel,
    eraseCreation: eraseOne,
    eraseAccount: eraseWhole,
    testDelivery,
  };
}

/** The change of every model that adds an amount to each price. */
function dearerModels(addedMicros: number): OperatorCatalog['models'] {
  return Object.fromEntries(
    catalog.models.map(({ id, pricing }) => [
      id,
      {
        pricing: pricing.map((row) => ({ ...row, usd: toUsd(asMicros(fromUsd(row.usd) + addedMicros)) })),
      },
    ]),
  );
}
