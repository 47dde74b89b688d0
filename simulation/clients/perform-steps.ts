/** Those who use the service: clients that ask and ask again, and the operator. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { persist } from '../../admin/persistence.ts';
import { createKey } from '../../core/api-key.ts';
import type { KeyId } from '../../core/ids.ts';
import { asMicros } from '../../core/money.ts';
import { redeliver, sendTestDelivery } from '../../core/webhook-operations.ts';
import { rotated } from '../../core/webhook-secrets.ts';
import { webhookSecret } from '../../core/webhook.ts';
import type { Input } from '../table/table-request.ts';
import { keyAt, openAccount, type AccountHeld, type KeyHeld } from './open-account.ts';
import { Refused } from '../table/aws-refusal.ts';
import { eventOf, submission } from './request-event.ts';
import { monthsEnd, type Scenario, type Step, type Submit } from './scenario.ts';
import type { Operation, Operator, Service } from '../aws/deployed-service.ts';
import type { Execution } from '../aws/step-functions.ts';
import { addressMark, promptMark, type Watch } from '../watches/all-watches.ts';
import type { World } from '../world/simulated-world.ts';

export interface Actors {
  readonly perform: (step: Step) => Promise<void>;
}

/** Opens the scenario's accounts in the table, and gives those who act. */
export function createActors(scenario: Scenario, world: World, service: Service, watch: Watch): Actors {
  const accounts = scenario.accounts.map((plan, index) => openAccount(plan, index, world, service));
  const accountOf = (step: Step): AccountHeld => accounts[step.account] ?? (accounts[0] as AccountHeld);
  const seen: { id: string; account: string }[] = [];
  const { dice } = world;

  async function send(
    operation: Operation,
    account: AccountHeld,
    key: KeyHeld,
    event: APIGatewayProxyEventV2,
  ): Promise<APIGatewayProxyStructuredResultV2 | undefined> {
    const refusable = (): boolean => key.revoked || account.suspended;
    const before = refusable();
    const mustBeRefused = key.revocationHolds || account.suspensionHolds;
    const asked = watch.ask(account.id);
    try {
      const answer = await service.request(operation, event);
      watch.onAnswer(
        {
          ...asked,
          account: account.id,
          operation,
          mayBeRefused: before || refusable(),
          mustBeRefused: mustBeRefused && (key.revocationHolds || account.suspensionHolds),
        },
        answer,
      );
      return answer;
    } catch {
      // The answer did not reach the client.
      return undefined;
    }
  }

  async function submit(step: Submit): Promise<void> {
    const account = accountOf(step);
    const key = keyAt(account, step.key);
    const event = submission(step, key);
    const tries = step.idempotencyKey === undefined ? 1 : 3;
    for (let attempt = 1; attempt <= tries; attempt += 1) {
      const answer = await send('generate', account, key, event);
      const status = answer?.statusCode ?? 0;
      world.note(`client ${step.name} try ${attempt}: ${status}`);
      if (answer && status < 300) {
        const { id } = JSON.parse(answer.body ?? '{}') as { id: string };
        seen.push({ id, account: account.id });
        for (let poll = 0; poll < step.polls; poll += 1) {
          await world.sleep(dice.between(`${step.name} poll ${poll}`, 300, 8_000));
          await send('get', account, key, poll_(id, key));
        }
        return;
      }
      if (status >= 400 && status < 500 && status !== 429) return;
      await world.sleep(Math.min(5_000, 1000 * Number(answer?.headers?.['retry-after'] ?? 1)));
    }
  }

  /** A step of the operator, tried again when it broke off, as a person would. */
  async function operate(step: Step, work: (operator: Operator) => Promise<unknown>): Promise<boolean> {
    const result = await service.operate(step.kind, work);
    if (result.ok || !dice.chance(`operator again ${step.at}`, 0.5)) return result.ok;
    return (await service.operate(step.kind, work)).ok;
  }

  /** What a command tries until it succeeds, however busy the table is. */
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
    await isRefused(account, keyAt(account, 0));
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
    await isRefused(account, key);
  }

  /** The watch looks at the answer. */
  async function isRefused(account: AccountHeld, key: KeyHeld): Promise<void> {
    await send('balance', account, key, eventOf('GET', '/api/public/v1/balance', key, {}));
  }

  async function moveMoney(step: Extract<Step, { readonly amountMicros: number }>): Promise<void> {
    const { id } = accountOf(step);
    await operate(step, async ({ wallet, accounts: store }) => {
      if (step.kind === 'top_up') return wallet.topUp(id, asMicros(step.amountMicros), step.reference);
      if (step.kind === 'adjust') return wallet.adjust(id, asMicros(step.amountMicros), 'simulated');
      const account = await store.read(id);
      return account && wallet.setCreditLine(id, account.creditLineMicros, asMicros(step.amountMicros));
    });
  }

  async function rotateSecret(step: Step): Promise<void> {
    await operate(step, async (operator) => {
      const account = await operator.accounts.read(accountOf(step).id);
      if (!account) return;
      const now = operator.clock.now();
      const signFrom = dice.chance(`sign later ${step.at}`, 0.3) ? '1h' : 'now';
      const plain = webhookSecret(operator.randomBytes(32));
      const sealed = await operator.secretBox.seal(account.id, plain);
      watch.webhooks.learn(sealed, plain);
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

  async function testDelivery(step: Extract<Step, { kind: 'test_delivery' }>): Promise<void> {
    await operate(step, async (operator) => {
      const account = await operator.accounts.read(accountOf(step).id);
      if (account)
        await sendTestDelivery(
          account,
          `https://receiver.test/${step.webhook}?account=${account.id}&${addressMark}`,
          operator,
        );
    });
  }

  /** A request that only looks. */
  async function look(step: Extract<Step, { kind: 'list' | 'balance' | 'quote' | 'models' }>): Promise<void> {
    const account = accountOf(step);
    const key = keyAt(account, step.key);
    const paths = {
      list: '/creations',
      balance: '/balance',
      quote: '/images/quote',
      models: '/models',
    } as const;
    const body =
      step.kind === 'quote' ? JSON.stringify({ model: 'sandbox-standard', prompt: promptMark }) : undefined;
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    await send(
      step.kind,
      account,
      key,
      eventOf(body === undefined ? 'GET' : 'POST', `/api/public/v1${paths[step.kind]}`, key, headers, body),
    );
  }

  /** A write past every command, tried again while a transaction holds the item. */
  async function untilWritten(input: Input): Promise<void> {
    for (;;) {
      try {
        service.table.perform('UpdateItem', input);
        return;
      } catch (error) {
        if (!(error instanceof Refused) || error.code !== 'TransactionConflictException') throw error;
        await world.sleep(1);
      }
    }
  }

  async function meddle(step: Step): Promise<void> {
    const executions = [...service.stepFunctions.executions.values()];
    const one = executions[dice.between(`which ${step.at}`, 0, Math.max(0, executions.length - 1))];
    if (!one) return;
    if (step.kind === 'abort' && one.status === 'RUNNING') {
      world.mishap('execution aborted');
      service.stepFunctions.abort(one);
      if (!dice.chance(`redriven ${step.at}`, 0.4)) return;
      // By then the reconciler has mostly taken its creation up, and often to its end.
      await world.sleep(dice.between(`redriven after ${step.at}`, 100, 90_000));
      redrive(one);
    } else if (step.kind === 'redrive') redrive(one);
    else if (step.kind === 'restart') {
      world.mishap('execution started again');
      service.stepFunctions.perform('StartExecution', {
        name: `${one.name}-again-${step.at}`,
        input: one.input,
      });
    }
  }

  /** Only what did not succeed can be redriven. */
  function redrive(execution: Execution): void {
    if (execution.status === 'RUNNING' || execution.status === 'SUCCEEDED') return;
    world.mishap('redrive after the end');
    service.stepFunctions.redrive(execution);
  }

  /** Behind the turn of the month, or before it: which month is charged is where clocks matter most. */
  function noteClock(name: string): void {
    const toTurn = Math.abs(world.time.now() - monthsEnd);
    world.mishap(toTurn < 60_000 ? `${name} within a minute of the month’s turn` : name);
  }

  return {
    perform: async (step) => {
      world.note(`step ${step.kind} of account ${step.account}`);
      switch (step.kind) {
        case 'submit':
          return submit(step);
        case 'top_up':
        case 'adjust':
        case 'credit_line':
          return moveMoney(step);
        case 'suspend':
        case 'activate': {
          return setCondition(step);
        }
        case 'revoke': {
          return revoke(step);
        }
        case 'cap': {
          const key = accountOf(step).keys[step.key];
          const place = { pk: { S: `ACCOUNT#${accountOf(step).id}` }, sk: { S: `KEY#${key?.id ?? ''}` } };
          const values = { ':cap': { N: String(step.capMicros) } };
          await untilWritten({
            Key: place,
            UpdateExpression: 'SET monthlyCapMicros = :cap',
            ExpressionAttributeValues: values,
          });
          return;
        }
        case 'rotate_secret':
          return rotateSecret(step);
        case 'redeliver':
          return redeliverLatest(step);
        case 'foreign_poll': {
          const account = accountOf(step);
          const foreign = seen.find((one) => one.account !== account.id);
          const [key] = account.keys;
          if (!foreign || !key) return;
          const asked = watch.ask(account.id);
          const answer = await service.request('get', poll_(foreign.id, key)).catch(() => undefined);
          if (answer?.statusCode === 200)
            watch.onAnswer(
              { ...asked, account: account.id, operation: 'get', mayBeRefused: true, mustBeRefused: false },
              answer,
            );
          return;
        }
        case 'stranger': {
          const text = createKey(accountOf(step).id, 'Abcdef' as KeyId, world.randomBytes);
          const event = poll_('019aa5a0-1000-7000-8000-00000000000a', {
            id: 'Abcdef' as KeyId,
            text,
            revoked: true,
            revocationHolds: false,
          });
          // From an address of its own: the block of one stranger must not stop the clients.
          event.requestContext.http.sourceIp = `198.51.100.${dice.between(`stranger ${step.at}`, 1, 250)}`;
          await service.request('get', event).catch(() => undefined);
          return;
        }
        case 'abort':
        case 'restart':
        case 'redrive':
          return meddle(step);
        case 'reconcile_again':
          await service.reconcile({});
          return;
        case 'rotate_encryption':
          service.rotateEncryption();
          return;
        case 'expire':
          service.table.expire();
          return;
        case 'clock':
          noteClock('clock step of all');
          world.clocks.set(step.byMillis);
          return;
        case 'clock_of':
          noteClock('clock step of one function');
          world.clocks.setOf(step.name, step.byMillis);
          return;
        case 'list':
        case 'balance':
        case 'quote':
        case 'models':
          return look(step);
        case 'test_delivery':
          return testDelivery(step);
      }
    },
  };

  function poll_(id: string, key: KeyHeld): APIGatewayProxyEventV2 {
    return eventOf('GET', `/api/public/v1/creations/${id}`, key, {}, undefined, id);
  }
}
