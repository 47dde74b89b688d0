/** The steps about payments: people in the portal and on Stripe's page, the operator, and what happens at Stripe. */
import { marshall } from '@aws-sdk/util-dynamodb';
import { AwsError } from '../../../local/aws/aws-error.ts';
import { cards } from '../../../local/stripe/cards.ts';
import type { Charge, PaymentIntent } from '../../../local/stripe/objects.ts';
import { dispute, refund } from '../../../local/stripe/reversals.ts';
import type { Service } from '../aws/deployed-service.ts';
import { tableName } from '../aws/simulated-table.ts';
import { stripePages } from '../network/stripe-in-world.ts';
import type { AccountHeld, PersonHeld } from './open-accounts.ts';
import { functionOf, portalEvent, type PortalRequest } from './portal-steps.ts';
import { bodyOf, memberOf } from './requests.ts';
import type { PaymentAct, PaymentStep, TopUpPlan } from './scenario.ts';
import type { Stage } from './stage.ts';

const microsOfCent = 10_000;
const usdOf = (cents: number): number => cents / 100;

type Begin = Extract<PaymentAct, { does: 'begin' }>;
type Choose = Extract<PaymentAct, { does: 'choose' }>;

interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Writes the saved card of an account and its choice straight into the table and to Stripe. */
export function openTopUp(account: string, plan: TopUpPlan, { table, payments }: Service): void {
  const { brand, last4 } = cards[plan.card];
  const { customer, paymentMethod } = payments.stripe.savedCard(plan.card);
  const item = {
    pk: `ACCOUNT#${account}`,
    sk: 'AUTO_TOP_UP',
    ...{ version: 1, isOn: true, openShard: 'AUTO_TOP_UP', dueAt: 0 },
    choice: {
      thresholdMicros: plan.thresholdCents * microsOfCent,
      amountMicros: plan.amountCents * microsOfCent,
      monthlyCapMicros: plan.capCents * microsOfCent,
    },
    customer,
    card: { paymentMethod, brand, last4, expiryMonth: 12, expiryYear: 2034 },
  };
  table.perform('PutItem', { TableName: tableName, Item: marshall(item) });
  table.perform('UpdateItem', {
    TableName: tableName,
    Key: { pk: { S: `ACCOUNT#${account}` }, sk: { S: 'ACCOUNT' } },
    UpdateExpression: 'SET hasAutoTopUp = :true',
    ExpressionAttributeValues: { ':true': { BOOL: true } },
  });
}

export function createPaymentSteps(stage: Stage): (step: PaymentStep) => Promise<void> {
  const { world, service, accountOf } = stage;
  const { stripe } = service.payments;
  const { dice } = world;

  /** Writes past every command, and again while a transaction holds the item. */
  async function write(sets: string, [pk, sk]: readonly [string, string], values: object): Promise<void> {
    for (;;) {
      try {
        service.table.perform('UpdateItem', {
          TableName: tableName,
          Key: { pk: { S: pk }, sk: { S: sk } },
          UpdateExpression: `SET ${sets}`,
          ExpressionAttributeValues: marshall(values),
        });
        return;
      } catch (error) {
        if (!(error instanceof AwsError) || error.code !== 'TransactionConflictException') throw error;
        await world.sleep(1);
      }
    }
  }

  /** The person has signed in again, so that the sign-in is fresh. */
  function signInAgain({ sessionHash }: PersonHeld): Promise<void> {
    const key = [`SESSION#${sessionHash}`, 'SESSION'] as const;
    const now = world.time.now() - 5_000;
    return service.table.get(...key)
      ? write('authenticatedAt = :now, lastSeenAt = :now', key, { ':now': now })
      : Promise.resolve();
  }

  async function press(person: PersonHeld, request: PortalRequest): Promise<Answered | undefined> {
    try {
      const answer = await service.request(functionOf(request), portalEvent(request, person));
      return { status: answer.statusCode ?? 0, body: bodyOf(answer.body) };
    } catch {
      return undefined;
    }
  }

  /** Presses until an answer came that a person would not repeat. */
  async function pressAgain(
    name: string,
    person: PersonHeld,
    request: () => Promise<PortalRequest | undefined>,
  ): Promise<Answered | undefined> {
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const next = await request();
      const answer = next && (await press(person, next));
      world.note(`person ${name}, try ${attempt}: ${answer?.status ?? 0}`);
      if (answer && answer.status < 500) return answer;
      await world.sleep(dice.between(`${name} again ${attempt}`, 500, 4_000));
    }
    return undefined;
  }

  async function begin(name: string, person: PersonHeld, act: Begin): Promise<void> {
    const body = { amount: usdOf(act.cents), save_card: act.savesCard };
    const answer = await pressAgain(name, person, () =>
      Promise.resolve({ operation: 'beginPayment', body } as const),
    );
    const url = memberOf(answer?.body ?? {}, 'url');
    if (answer?.status !== 201 || !url.startsWith(stripePages)) return;
    const session = url.split('/').at(-1) ?? '';
    const id = memberOf(answer.body, 'id');
    if (act.card !== undefined) {
      await world.sleep(act.paysAfter);
      payAndSpoil(session, act);
      if (act.again !== undefined) {
        await world.sleep(dice.pick(`${name} pays again after`, [0, 40, 5_000]));
        stripe.pay(session, act.again);
      }
    }
    if (!act.returns) return;
    for (let look = 1; look <= 2; look += 1) {
      await world.sleep(dice.pick(`${name} looks after ${look}`, [0, 30, 2_000, 400_000]));
      await press(person, { operation: 'getPayment', id });
    }
  }

  function payAndSpoil(session: string, { card, spoilt }: Begin): void {
    const intent = card && stripe.pay(session, card);
    if (!intent) return;
    if (spoilt !== undefined) world.noteIncident(`payment with another ${spoilt}`);
    if (spoilt === 'metadata') Object.assign(intent, { metadata: {} });
    if (spoilt === 'currency') Object.assign(intent, { currency: 'eur' });
    if (spoilt === 'amount') intent.amount_received -= 1;
  }

  function choose(name: string, person: PersonHeld, act: Choose): Promise<Answered | undefined> {
    return pressAgain(name, person, async () => {
      await signInAgain(person);
      const page = await press(person, { operation: 'getAutoTopUp' });
      if (page?.status !== 200) return undefined;
      await world.sleep(dice.pick(`${name} thinks`, [0, 50, 3_000]));
      return {
        operation: 'setAutoTopUp',
        body: {
          is_on: act.isOn,
          threshold: usdOf(act.thresholdCents),
          amount: usdOf(act.amountCents),
          monthly_cap: usdOf(act.capCents),
          version: page.body['version'],
        },
      };
    });
  }

  /** The payment with this index among those of the account that succeeded at Stripe. */
  function paidOf({ id }: AccountHeld, place: number): { intent: PaymentIntent; charge: Charge } | undefined {
    const all = stripe
      .intents()
      .filter(({ status, metadata }) => status === 'succeeded' && metadata['account'] === id);
    const intent = all[place % Math.max(1, all.length)];
    const charge = intent && stripe.account.find('charge', intent.latest_charge ?? '');
    return charge && { intent, charge };
  }

  function atStripe(
    account: AccountHeld,
    act: Extract<PaymentAct, { does: 'refund' | 'dispute' | 'lose_metadata' }>,
  ): void {
    const paid = paidOf(account, act.place);
    if (!paid) return;
    const { intent, charge } = paid;
    // The setting may suspend the account of a disputed payment.
    if (act.does === 'dispute') account.suspended = true;
    const part = (share = 1): number => Math.max(1, Math.round(charge.amount * share));
    const done = stripe.act(() => {
      switch (act.does) {
        case 'refund':
          return refund(stripe.account, charge, {
            ...(act.share !== undefined && { amount: part(act.share) }),
            as: act.as,
          });
        case 'dispute':
          return dispute(stripe.account, charge, act.step, part(act.share));
        case 'lose_metadata':
          return Object.assign(intent, { metadata: {} });
      }
    });
    world.note(`stripe ${act.does} of ${intent.id}: ${done ? 'done' : 'refused'}`);
    if (done) world.noteIncident(act.does === 'dispute' ? `dispute ${act.step}` : `payment ${act.does}`);
  }

  /** At first both secrets are good, then the new one alone. */
  async function rollSecret({
    keepsMillis,
    stripeFirst,
  }: Extract<PaymentAct, { does: 'roll_secret' }>): Promise<void> {
    const { webhooks } = stripe;
    const [old = ''] = webhooks.secrets();
    const next = `${old}_rolled`;
    world.noteIncident('webhook secret rolled');
    if (stripeFirst) webhooks.signWith([next, old]);
    else service.payments.acceptSecrets([next, old]);
    await world.sleep(20_000);
    webhooks.signWith([next, old]);
    service.payments.acceptSecrets([next, old]);
    await world.sleep(keepsMillis);
    webhooks.signWith([next]);
    service.payments.acceptSecrets([next]);
  }

  async function ofOperator(
    act: Exclude<
      PaymentAct,
      Begin | Choose | { does: 'resume' | 'remove_card' | 'look' | 'refund' | 'dispute' | 'lose_metadata' }
    >,
  ): Promise<void> {
    switch (act.does) {
      case 'roll_secret':
        return rollSecret(act);
      case 'refuse_key':
        world.noteIncident('key revoked at Stripe');
        stripe.refuseKey(act.forMillis);
        return;
      case 'restore':
        world.noteIncident('table restored');
        stage.invariants.onRestored(service.table.restore(stage.startAt + act.toMillis));
    }
  }

  return async (step) => {
    const { act, name } = step;
    const account = accountOf(step);
    const person = account.people[step.person];
    if (!person) return;
    switch (act.does) {
      case 'begin':
        return begin(name, person, act);
      case 'choose':
        await choose(name, person, act);
        return;
      case 'look':
        await signInAgain(person);
        await press(person, { operation: 'listPayments' });
        return;
      case 'resume':
      case 'remove_card':
        await pressAgain(`${name} ${act.does}`, person, async () => {
          await signInAgain(person);
          return { operation: act.does === 'resume' ? 'resumeAutoTopUp' : 'removeCard' };
        });
        return;
      case 'refund':
      case 'dispute':
      case 'lose_metadata':
        atStripe(account, act);
        return;
      default:
        await ofOperator(act);
    }
  };
}
