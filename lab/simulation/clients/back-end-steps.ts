/** Back ends of the operator, with keys of the operator API. A good one repeats a request until it is answered. */
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import {
  type OperatorOperation,
  type OperatorOperationName,
  operatorOperations,
  operatorRoot,
} from '../../../service/contract/operator-operations.ts';
import type { KeyId } from '../../../service/values/ids.ts';
import { asMicros, toUsd } from '../../../service/values/money.ts';
import type { ApiSteps } from './api-steps.ts';
import { freshKey, type OperatorKeyHeld } from './open-accounts.ts';
import { asBody, type Body, bodyOf, memberOf } from './requests.ts';
import type { BackEndAct, BackEndStep } from './scenario.ts';
import type { Stage } from './stage.ts';

interface OperatorRequest {
  readonly operation: OperatorOperationName;
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: Body;
}

interface Answered {
  readonly status: number;
  readonly body: Body;
}

/** What a back end credits to the account of a customer whom it has just opened. */
const welcome: BackEndAct & { does: 'credit' } = {
  does: 'credit',
  amountMicros: 50_000,
  reference: 'welcome',
};
const mostTries = 4;
const usd = (micros: number): number => toUsd(asMicros(micros));

export function createBackEndSteps(
  { world, service, invariants, accountOf, operatorKeys }: Stage,
  tryKey: ApiSteps['tryKey'],
): (step: BackEndStep) => Promise<void> {
  const { dice } = world;

  /** Undefined when no try was answered for good. */
  async function ask(
    { name, operatorKey, idempotencyKey }: BackEndStep,
    request: OperatorRequest,
  ): Promise<Answered | undefined> {
    const key = operatorKeys[operatorKey];
    if (!key) return undefined;
    // The requests of one step differ, so each has an Idempotency-Key of its own.
    const own = idempotencyKey && `${request.operation} ${idempotencyKey}`;
    for (let attempt = 1; attempt <= mostTries; attempt += 1) {
      const before = { mayBeRefused: key.revoked, mustBeRefused: key.revocationHolds };
      const event = operatorEvent(request, key, own);
      const answer = await service.request('operator-api', event).catch(() => undefined);
      const status = answer?.statusCode ?? 0;
      world.note(`back end ${name} ${request.operation}, try ${attempt}: ${status}`);
      if (answer)
        invariants.backEnds.onAnswer(
          { ...before, mayBeRefused: before.mayBeRefused || key.revoked, operation: request.operation },
          answer,
        );
      if (answer && status < 500 && status !== 429) return { status, body: bodyOf(answer.body) };
      const seconds = Math.min(5, Number(answer?.headers?.['retry-after'] ?? 1));
      await world.sleep(seconds * 1_000 + dice.between(`${name} again ${attempt}`, 0, 400));
    }
    return undefined;
  }

  async function credit(step: BackEndStep, account: string, act: typeof welcome): Promise<void> {
    await ask(step, {
      operation: 'createPayment',
      params: { account },
      body: { amount: usd(act.amountMicros), reference: act.reference, source: 'adyen' },
    });
  }

  /** The payment with this reference, or another one of the account. */
  async function found(step: BackEndStep, account: string, reference: string): Promise<string | undefined> {
    const answer = await ask(step, { operation: 'listPayments', params: { account } });
    const rows = answer?.status === 200 ? answer.body['data'] : [];
    const payments = Array.isArray(rows) ? rows.map((row) => asBody(row) ?? {}) : [];
    const one = payments.find((payment) => payment['reference'] === reference) ?? payments[0];
    return one && memberOf(one, 'id');
  }

  /** An account without a payment gets one first. */
  async function reverse(step: BackEndStep, act: BackEndAct & { does: 'reverse' }): Promise<void> {
    const { id } = accountOf(step);
    const known = await found(step, id, act.payment);
    if (known === undefined)
      await credit(step, id, { does: 'credit', amountMicros: 100_000, reference: act.payment });
    const payment = known ?? (await found(step, id, act.payment));
    if (payment === undefined) return;
    await ask(step, {
      operation: 'reversePayment',
      params: { payment },
      body: {
        reference: act.reference,
        reason: 'refunded',
        ...(act.amountMicros !== undefined && { amount: usd(act.amountMicros) }),
      },
    });
  }

  async function open(step: BackEndStep, act: BackEndAct & { does: 'open' }): Promise<void> {
    const answer = await ask(step, {
      operation: 'openAccount',
      body: {
        name: act.externalId,
        external_id: act.externalId,
        ...(act.balanceMicros > 0 && { opening_balance: usd(act.balanceMicros) }),
      },
    });
    const taken = asBody(asBody(answer?.body['error'])?.['details']) ?? {};
    const account = memberOf(
      answer?.status === 201 ? answer.body : taken,
      answer?.status === 201 ? 'id' : 'account',
    );
    if (account !== '') await credit(step, account, welcome);
  }

  async function setCondition(
    step: BackEndStep,
    { does, externalId }: BackEndAct & { does: 'suspend' | 'activate' },
  ): Promise<void> {
    const account = accountOf(step);
    account.suspended = true;
    if (does === 'activate') account.mayBeActivated = true;
    if (account.mayBeActivated) account.suspensionHolds = false;
    const answer = await ask(step, {
      operation: 'changeAccount',
      params: { account: account.id },
      body: {
        condition: does === 'suspend' ? 'suspended' : 'active',
        name: step.name,
        ...(externalId !== undefined && { external_id: externalId }),
      },
    });
    if (answer?.status === 200 && !account.mayBeActivated) account.suspensionHolds = true;
    const [key] = account.keys;
    if (key) await tryKey(account, key);
  }

  async function issueKey(step: BackEndStep, isRevoked: boolean): Promise<void> {
    const account = accountOf(step);
    const params = { account: account.id };
    const made = await ask(step, { operation: 'createKey', params, body: { name: step.name } });
    const text = memberOf(made?.body ?? {}, 'key');
    // A replay shows no text.
    if (made?.status !== 201 || text === '') return;
    const id = memberOf(made.body, 'id') as KeyId;
    const key = freshKey(id, text);
    await tryKey(account, key);
    if (!isRevoked) return;
    key.revoked = true;
    const revoked = await ask(step, { operation: 'revokeKey', params: { ...params, key: id }, body: {} });
    if (revoked?.status === 200) key.revocationHolds = true;
    await tryKey(account, key);
  }

  return async (step) => {
    const { act } = step;
    const params = { account: accountOf(step).id };
    switch (act.does) {
      case 'credit':
        return credit(step, params.account, act);
      case 'reverse':
        return reverse(step, act);
      case 'adjust': {
        const body = {
          amount: usd(act.amountMicros),
          reference: act.reference,
          reason: 'simulated',
          allow_negative: act.mayGoBelow,
        };
        return void (await ask(step, { operation: 'adjustWallet', params, body }));
      }
      case 'credit_line': {
        const body = { credit_line: usd(act.amountMicros) };
        return void (await ask(step, { operation: 'changeAccount', params, body }));
      }
      case 'open':
        return open(step, act);
      case 'suspend':
      case 'activate':
        return setCondition(step, act);
      case 'issue_key':
        return issueKey(step, act.isRevoked);
      case 'read':
        return void (await ask(step, {
          operation: act.what,
          ...(act.what !== 'listActions' && { params }),
        }));
    }
  };
}

/** Everybody's back end. A revoked key must not block the address of the clients. */
const sourceIp = '198.51.100.252';

function operatorEvent(
  { operation, params = {}, body }: OperatorRequest,
  key: OperatorKeyHeld,
  idempotencyKey: string | undefined,
): APIGatewayProxyEventV2 {
  const { method, path }: OperatorOperation = operatorOperations[operation];
  return {
    routeKey: operation,
    rawPath: `${operatorRoot}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '')}`,
    headers: {
      authorization: `Bearer ${key.text}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && method === 'POST' && { 'idempotency-key': idempotencyKey }),
    },
    ...(body && { body: JSON.stringify(body) }),
    isBase64Encoded: false,
    requestContext: { http: { method, sourceIp }, requestId: '', domainName: 'api.test' },
  } as unknown as APIGatewayProxyEventV2;
}
