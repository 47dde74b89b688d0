/** The invariants of automatic top-ups (P4, P5, P10): when one begins, what a month takes, and who ends a pause. */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Service } from '../aws/deployed-service.ts';
import type { Change } from '../aws/simulated-table.ts';
import type { World } from '../world/simulated-world.ts';
import { type Accuse, textOf } from './money-books.ts';
import { isOfStripe, madeAt, numberIn, type PaymentBook, paymentIdOf } from './payment-book.ts';

const hourMillis = 3_600_000;
const ofOperator = ['dispute', 'operator'];
/** What may still be taken, or was taken, counts in its month. */
const counted = ['open', 'succeeded', 'unknown', 'held'];

export function createTopUpInvariants(
  world: World,
  service: () => Service | undefined,
  books: ReadonlyMap<string, PaymentBook>,
  accuse: Accuse,
) {
  const items = new Map<string, Item>();
  const pausedSince = new Map<string, number>();
  /** The largest cap in force when a payment of the month began, by `account month`. */
  const caps = new Map<string, number>();

  const autosOf = (account: string): PaymentBook[] =>
    [...books.values()].filter((book) => book.account === account && book.kind === 'auto');

  /** How late the commit of a running invocation may be, and how wrong its clock. */
  function allowance(): number {
    const invocation = world.current();
    const age = invocation ? world.time.now() - invocation.startedAt : 0;
    return age + 2 * world.clocks.largestSkew() + 1_000;
  }

  function beginIsAllowed(change: Change, changes: readonly Change[]): void {
    const id = paymentIdOf(change);
    const { pk, after } = change;
    const account = pk.slice('ACCOUNT#'.length);
    const top = changes.find(({ sk }) => sk === 'AUTO_TOP_UP')?.before;
    const choice = top?.['choice']?.M;
    const available = numberIn(service()?.table.get(pk, 'ACCOUNT'), 'availableMicros');
    if (available >= numberIn(choice, 'thresholdMicros'))
      accuse('a payment begins below the threshold', `${id}: ${available}`);
    if (top?.['isOn']?.BOOL !== true || top['paused'])
      accuse('a payment begins only where it is switched on', id);
    if (top?.['open']) accuse('one automatic payment at a time', id);
    if (numberIn(after, 'amountMicros') !== numberIn(choice, 'amountMicros'))
      accuse('a payment takes what the owner chose', id);
    const now = world.time.now();
    const cursor = numberIn(service()?.table.get('PAYMENTS', 'CURSOR'), 'untilMillis');
    if (cursor < now - hourMillis - allowance())
      accuse('no payment begins before the events are read', `${id}: ${now - cursor} ms`);
    for (const { metadata, status } of service()?.payments.stripe.intents() ?? [])
      if (
        metadata['account'] === account &&
        metadata['kind'] === 'auto' &&
        /^(succeeded|processing)$/.test(status)
      )
        if (!books.has(metadata['payment'] ?? ''))
          accuse(
            'no payment begins before the table knows what the card paid',
            `${id}: ${metadata['payment']}`,
          );
    const age = now - madeAt(id);
    if (Math.abs(age) > allowance()) accuse('the id of a payment says when it began', `${id}: ${age} ms`);
    const month = `${account} ${books.get(id)?.month ?? ''}`;
    caps.set(month, Math.max(caps.get(month) ?? 0, numberIn(choice, 'monthlyCapMicros')));
  }

  function checkoutIsOpen(change: Change): void {
    const since = pausedSince.get(change.pk);
    const invocation = world.current();
    if (since !== undefined && invocation && since < invocation.startedAt)
      accuse('nobody pays after a dispute', paymentIdOf(change));
  }

  function endsPaused(change: Change, changes: readonly Change[]): void {
    const top = changes.find(({ sk }) => sk === 'AUTO_TOP_UP')?.after;
    if (!top?.['paused']) accuse('a failure pauses the top-up', paymentIdOf(change));
  }

  /** What a dispute takes stops the automatic payments in the same commit. */
  function disputePauses({ pk, after }: Change, changes: readonly Change[]): void {
    const top = changes.find((change) => change.pk === pk && change.sk === 'AUTO_TOP_UP')?.after;
    if (textOf(after, 'reason') === 'dispute' && textOf(top, 'paused') !== 'dispute')
      accuse('a dispute pauses the top-up', textOf(after, 'payment'));
  }

  function followPause({ pk, before, after }: Change, changes: readonly Change[]): void {
    const [was, is] = [textOf(before, 'paused'), textOf(after, 'paused')];
    if (is === 'dispute' && was !== 'dispute') pausedSince.set(pk, world.time.now());
    if (was === is || was === '') return;
    if (ofOperator.includes(was) && is !== 'dispute')
      accuse('only the operator ends the pause of a dispute', `${pk}: ${is}`);
    const invocation = world.current();
    const isSavedCard = changes.some(
      (change) =>
        change.sk.startsWith('PAYMENT#') &&
        change.after?.['savesCard']?.BOOL === true &&
        change.after['creditedMicros'] &&
        !change.before?.['creditedMicros'],
    );
    if (is === '' && invocation?.name !== 'portal-pay' && !isSavedCard)
      accuse('only a person ends a pause', `${pk} by ${invocation?.id ?? 'nobody'}`);
  }

  function monthsAreTheirPayments(account: string): void {
    const item = items.get(account);
    const autos = autosOf(account);
    const months = Object.keys(item ?? {}).flatMap((name) =>
      name.startsWith('reserved_') ? [name.slice('reserved_'.length)] : [],
    );
    for (const month of new Set([...months, ...autos.map((book) => book.month)])) {
      const due = autos
        .filter((book) => book.month === month && counted.includes(book.state))
        .reduce((sum, { amountMicros }) => sum + amountMicros, 0);
      if (numberIn(item, `reserved_${month}`) !== due)
        accuse(
          'a month reserves what its payments take',
          `${account} ${month}: ${numberIn(item, `reserved_${month}`)}, by the payments ${due}`,
        );
    }
  }

  function atMostOneIsOpen(account: string): void {
    const open = autosOf(account).filter(({ state }) => state === 'open');
    if (open.length > 1) accuse('one automatic payment at a time', `${account}: ${open.length}`);
  }

  /** What the automatic payments took at Stripe, by the month in which they began. */
  function takenIsBelowTheCap(paymentOf: ReadonlyMap<string, string>): void {
    const taken = new Map<string, number>();
    for (const intent of service()?.payments.stripe.intents() ?? []) {
      const book = books.get(paymentOf.get(intent.id) ?? '');
      if (book?.kind !== 'auto' || intent.status !== 'succeeded') continue;
      const month = `${book.account} ${book.month}`;
      taken.set(month, (taken.get(month) ?? 0) + book.amountMicros);
    }
    for (const [name, micros] of taken) {
      const [account = '', month = ''] = name.split(' ');
      if (micros > (caps.get(name) ?? 0))
        accuse('a month takes at most its cap', `${name}: ${micros} of ${caps.get(name) ?? 0}`);
      if (numberIn(items.get(account), `reserved_${month}`) < micros)
        accuse('a month reserves what its payments take', `${name}: ${micros} were taken`);
    }
  }

  return {
    onChanged: takenIsBelowTheCap,
    /** The caps stay: what Stripe took below a cap was allowed. */
    restart: (): void => {
      items.clear();
      pausedSince.clear();
    },
    onCommit: (changes: readonly Change[]) => {
      const touched = new Set<string>();
      for (const change of changes) {
        const { pk, sk, before, after } = change;
        const account = pk.slice('ACCOUNT#'.length);
        if (sk === 'AUTO_TOP_UP') {
          if (after) items.set(account, after);
          followPause(change, changes);
          touched.add(account);
        }
        if (sk.startsWith('LEDGER#') && textOf(after, 'kind') === 'payment_reversed')
          disputePauses(change, changes);
        if (!sk.startsWith('PAYMENT#') || !isOfStripe(after)) continue;
        touched.add(account);
        const isAuto = textOf(after, 'kind') === 'auto';
        const [was, is] = [textOf(before, 'state'), textOf(after, 'state')];
        if (!before && is === 'open' && isAuto) beginIsAllowed(change, changes);
        if (!before && is === 'open' && !isAuto) checkoutIsOpen(change);
        if (isAuto && was === 'open' && (is === 'failed' || is === 'unknown')) endsPaused(change, changes);
      }
      for (const account of touched) {
        monthsAreTheirPayments(account);
        atMostOneIsOpen(account);
      }
    },
    /** What is open is still in doubt, or its money is on its way: the top-up names it, and nothing else. */
    atRest: () => {
      for (const [account, item] of items) {
        const open = autosOf(account).find(({ state }) => state === 'open')?.id ?? '';
        const named = textOf(item, 'open');
        const isHeld = autosOf(account).some(({ id, state }) => id === named && state === 'held');
        if (named !== open && !isHeld)
          accuse('the top-up names its open payment', `${account}: ${named} of ${open}`);
      }
    },
  };
}
