/** When FollowPayments runs in a world, and when nothing of payments moves any more. */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Service } from '../aws/deployed-service.ts';
import type { World } from '../world/simulated-world.ts';

const minuteMillis = 60_000;
const listEveryMillis = 10 * minuteMillis;
/** After Stripe answers again, everything must be right an hour later. */
const quietMillis = 65 * minuteMillis;

const isOfPayments = (row: Item): boolean => /^(PAYMENT#|AUTO_TOP_UP$)/.test(row['sk']?.S ?? '');
const numberIn = (item: Item | undefined, name: string): number => Number(item?.[name]?.N ?? 0);

/** The rows of open work that must come to an end. Payments stay in the index for days, and top-ups for ever. */
export function workOf({ table }: Service): Item[] {
  return table.indexed('open_work', '').filter((row) => !isOfPayments(row));
}

/** Whether all was quiet at Stripe for an hour, and in the scenario. */
export function arePaymentsQuiet(world: World, service: Service, quietFrom: number): boolean {
  const { stripe } = service.payments;
  const since = Math.max(quietFrom, stripe.lastChangeAt());
  return (
    world.time.now() > since + quietMillis &&
    stripe.nextAt() === undefined &&
    !stripe.webhooks.isSending() &&
    service.table
      .indexed('open_work', 'PAYMENT')
      .every((row) => numberIn(row, 'dueAt') > world.time.now() || !row['sk']?.S?.startsWith('PAYMENT#'))
  );
}

/** Starts FollowPayments each minute, as the schedule does. Runs in which nothing can happen are mostly left out. */
export function schedulePayments(world: World, service: Service, calmFrom: number): void {
  const tick = (minute: number): void => {
    setTimeout(() => {
      const isIdle = !isDue(world, service, calmFrom);
      if (!isIdle || world.dice.chance(`idle worker of payments ${minute}`, 0.02)) {
        void service.payments.followPayments();
        if (world.dice.chance(`worker of payments twice ${minute}`, 0.05)) {
          world.noteIncident('FollowPayments twice at once');
          void service.payments.followPayments();
        }
      }
      tick(minute + 1);
    }, minuteMillis);
  };
  tick(0);
}

function isDue(world: World, service: Service, calmFrom: number): boolean {
  const { table } = service;
  const now = world.time.now();
  const { stripe } = service.payments;
  const cursor = numberIn(table.get('PAYMENTS', 'CURSOR'), 'untilMillis');
  // Long after the last change the list of events is as it was.
  const isChanging = now < Math.max(calmFrom, stripe.lastChangeAt()) + quietMillis;
  const isBehind = cursor < stripe.lastChangeAt() + 2 * minuteMillis;
  if (now - cursor >= listEveryMillis && (isChanging || isBehind)) return true;
  return table.indexed('open_work', '').some((row) => {
    const [pk, sk] = [row['pk']?.S ?? '', row['sk']?.S ?? ''];
    if (sk.startsWith('PAYMENT#')) return row['openShard']?.S === 'PAYMENT' && numberIn(row, 'dueAt') <= now;
    return sk === 'AUTO_TOP_UP' && mayBegin(table.get(pk, sk), table.get(pk, 'ACCOUNT'), now);
  });
}

/** Whether a payment can begin, or the notice of the account's cap is still to be sent. */
function mayBegin(top: Item | undefined, account: Item | undefined, now: number): boolean {
  const choice = top?.['choice']?.M;
  if (!choice || top['open'] || !top['card']) return false;
  if (numberIn(account, 'availableMicros') >= numberIn(choice, 'thresholdMicros')) return false;
  const month = new Date(now).toISOString().slice(0, 7).replace('-', '_');
  const wanted = numberIn(top, `reserved_${month}`) + numberIn(choice, 'amountMicros');
  return wanted <= numberIn(choice, 'monthlyCapMicros') || top['capTold']?.S !== month;
}
