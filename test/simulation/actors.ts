/** Those who use the service: clients that ask and ask again, and the operator. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { createKey, hashKey } from '../../core/api-key.ts';
import type { AccountId, KeyId } from '../../core/ids.ts';
import { defaultLimits } from '../../core/limits.ts';
import { asMicros } from '../../core/money.ts';
import { redeliver } from '../../core/webhook-operations.ts';
import { replacedSecretSeconds, webhookSecret } from '../../core/webhook.ts';
import type { SealedSecret } from '../../core/account.ts';
import { randomBase62 } from '../../core/base62.ts';
import { accountToItem, apiKeyToItem } from '../../adapters/dynamodb/mapping.ts';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { AccountPlan, Scenario, Step, Submit } from './scenario.ts';
import type { Operator, Service } from './service.ts';
import { addressMark, promptMark, type Watch } from './watch.ts';
import type { World } from './world.ts';

interface KeyHeld {
  readonly id: KeyId;
  readonly text: string;
  revoked: boolean;
}

export interface AccountHeld {
  readonly id: AccountId;
  readonly keys: readonly KeyHeld[];
  suspended: boolean;
}

export interface Actors {
  readonly perform: (step: Step) => Promise<void>;
}

/** Opens the scenario's accounts in the table, and gives those who act. */
export function createActors(scenario: Scenario, world: World, service: Service, watch: Watch): Actors {
  const accounts = scenario.accounts.map((plan, index) => openAccount(plan, index, world, service));
  const accountOf = (step: Step): AccountHeld => accounts[step.account] ?? (accounts[0] as AccountHeld);
  const seen: { id: string; account: string }[] = [];
  const { dice } = world;

  async function send(operation: 'generate' | 'get', account: AccountHeld, key: KeyHeld, event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2 | undefined> {
    const refusable = (): boolean => key.revoked || account.suspended;
    const before = refusable();
    try {
      const answer = await service.request(operation, event);
      watch.onAnswer({ account: account.id, operation, mayBeRefused: before || refusable() }, answer);
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
  async function operate(step: Step, work: (operator: Operator) => Promise<unknown>): Promise<void> {
    const result = await service.operate(step.kind, work);
    if (!result.ok && dice.chance(`operator again ${step.at}`, 0.5)) await service.operate(step.kind, work);
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
      const plain = webhookSecret(operator.randomBytes(32));
      const sealed = await operator.secretBox.seal(account.id, plain);
      watch.webhooks.learn(sealed, plain);
      const kept = account.webhookSecrets
        .map((secret): SealedSecret => (secret.replacedAt === undefined ? { ...secret, replacedAt: now } : secret))
        .filter((secret) => (secret.replacedAt ?? now) > now - replacedSecretSeconds * 1000);
      await operator.accounts.replaceSecrets(account.id, account.webhookSecrets[0], [{ sealed, issuedAt: now }, ...kept]);
    });
  }

  async function redeliverLatest(step: Step): Promise<void> {
    await operate(step, async (operator) => {
      const account = await operator.accounts.read(accountOf(step).id);
      const delivery = account && (await operator.deliveries.log(account.id, 3)).at(-1);
      if (account && delivery) await redeliver(account, delivery.id, operator);
    });
  }

  function meddle(step: Step): void {
    const executions = [...service.stepFunctions.executions.values()];
    const one = executions[dice.between(`which ${step.at}`, 0, Math.max(0, executions.length - 1))];
    if (!one) return;
    if (step.kind === 'abort' && one.status === 'RUNNING') service.stepFunctions.abort(one);
    // Only what did not succeed can be redriven; a restart is a new execution of the same creation.
    else if (step.kind === 'redrive' && one.status !== 'RUNNING' && one.status !== 'SUCCEEDED') service.stepFunctions.redrive(one);
    else if (step.kind === 'restart') {
      service.stepFunctions.perform('StartExecution', { name: `${one.name}-again-${step.at}`, input: one.input });
    }
  }

  async function setClock(byMillis: number): Promise<void> {
    world.skew += byMillis;
    world.largestSkew = Math.max(world.largestSkew, Math.abs(world.skew), Math.abs(byMillis));
    world.largestSkew *= 2;
    await Promise.resolve();
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
          const account = accountOf(step);
          account.suspended = true;
          await operate(step, ({ accounts: store }) => store.change(account.id, { condition: step.kind === 'suspend' ? 'suspended' : 'active' }));
          return;
        }
        case 'revoke': {
          const key = accountOf(step).keys[step.key];
          if (!key) return;
          key.revoked = true;
          await operate(step, ({ accounts: store, clock }) => store.revokeKey(accountOf(step).id, key.id, new Date(clock.now()).toISOString()));
          return;
        }
        case 'cap': {
          const key = accountOf(step).keys[step.key];
          const place = { pk: { S: `ACCOUNT#${accountOf(step).id}` }, sk: { S: `KEY#${key?.id ?? ''}` } };
          const values = { ':cap': { N: String(step.capMicros) } };
          service.table.perform('UpdateItem', { Key: place, UpdateExpression: 'SET monthlyCapMicros = :cap', ExpressionAttributeValues: values });
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
          const answer = await service.request('get', poll_(foreign.id, key)).catch(() => undefined);
          if (answer?.statusCode === 200) watch.onAnswer({ account: account.id, operation: 'get', mayBeRefused: true }, answer);
          return;
        }
        case 'stranger': {
          const text = createKey(accountOf(step).id, 'Abcdef' as KeyId, world.randomBytes);
          await service.request('get', poll_('019aa5a0-1000-7000-8000-00000000000a', { id: 'Abcdef' as KeyId, text, revoked: true })).catch(() => undefined);
          return;
        }
        case 'abort':
        case 'restart':
        case 'redrive':
          meddle(step);
          return;
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
          return setClock(step.byMillis);
      }
    },
  };

  function poll_(id: string, key: KeyHeld): APIGatewayProxyEventV2 {
    return eventOf('GET', `/api/public/v1/creations/${id}`, key, {}, undefined, id);
  }
}

function keyAt(account: AccountHeld, index: number): KeyHeld {
  const key = account.keys[index] ?? account.keys[0];
  if (!key) throw new Error('an account of a scenario has a key');
  return key;
}

function submission(step: Submit, key: KeyHeld): APIGatewayProxyEventV2 {
  const { idempotencyKey, wait, images } = step;
  // Those who share a key send the same request, as a retry does.
  const own = idempotencyKey === undefined ? step.name : 'shared';
  const body = {
    model: step.model,
    prompt: `${promptMark} ${own} ${step.directives}`,
    resolution: step.resolution,
    ...(images.length > 0 && { image_urls: images }),
    ...(step.webhook && { webhook_url: `https://receiver.test/${step.webhook}?${addressMark}` }),
    ...(idempotencyKey !== undefined && { metadata: { idempotency: idempotencyKey } }),
  };
  const headers = {
    'content-type': 'application/json',
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    ...(wait !== undefined && { prefer: `wait=${wait}` }),
  };
  return eventOf('POST', '/api/public/v1/images/generate', key, headers, JSON.stringify(body));
}

function eventOf(method: string, path: string, key: KeyHeld, headers: Readonly<Record<string, string>>, body?: string, id?: string): APIGatewayProxyEventV2 {
  return {
    rawPath: path,
    headers: { authorization: `Bearer ${key.text}`, ...headers },
    ...(id !== undefined && { pathParameters: { id } }),
    ...(body !== undefined && { body }),
    isBase64Encoded: false,
    requestContext: { http: { method, sourceIp: '203.0.113.7' }, requestId: '', domainName: 'api.test' },
  } as unknown as APIGatewayProxyEventV2;
}

/** Written straight into the table, with its first secret: what a scenario begins with is not what it tests. */
function openAccount(plan: AccountPlan, index: number, world: World, service: Service): AccountHeld {
  const id = randomBase62(10, world.randomBytes) as AccountId;
  const createdAt = new Date(world.now()).toISOString();
  const put = (item: object): void => void service.table.perform('PutItem', { Item: marshall(item, { removeUndefinedValues: true }) });
  const rows = [
    { kind: 'top_up', amountMicros: plan.balanceMicros },
    { kind: 'credit_line', amountMicros: plan.creditMicros },
  ].map((row) => ({ pk: `ACCOUNT#${id}`, sk: `LEDGER#${createdAt}#${row.kind}#opening`, at: createdAt, ...row }));
  for (const row of rows) put(row);
  put(
    accountToItem({
      id,
      name: `account ${index}`,
      condition: 'active',
      availableMicros: asMicros(plan.balanceMicros + plan.creditMicros),
      creditLineMicros: asMicros(plan.creditMicros),
      inFlight: 0,
      limits: { ...defaultLimits, postRate: plan.postRate, maxConcurrent: plan.maxConcurrent, deadlineSeconds: plan.deadlineSeconds },
      policy: { providers: 'all', hiddenModels: [] },
      webhookSecrets: [],
      createdAt,
    }),
  );
  const keys = plan.keys.map(({ capMicros }) => {
    const keyId = randomBase62(6, world.randomBytes) as KeyId;
    const text = createKey(id, keyId, world.randomBytes);
    put(apiKeyToItem({ id: keyId, accountId: id, name: 'server', hash: hashKey(text), createdAt, spent: {}, ...(capMicros !== undefined && { monthlyCapMicros: asMicros(capMicros) }) }));
    return { id: keyId, text, revoked: false };
  });
  return { id, keys, suspended: false };
}
