/** The notices of payments: each credit, each reversal and each failure once (P10). */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Service } from '../aws/deployed-service.ts';
import type { Change } from '../aws/simulated-table.ts';
import { asBody, bodyOf, memberOf } from '../clients/requests.ts';
import { type Accuse, textOf } from './money-books.ts';
import { isOfStripe, numberIn, paymentIdOf } from './payment-book.ts';

export function createPaymentNoticeInvariants(service: () => Service | undefined, accuse: Accuse) {
  const told = new Map<string, number>();

  /** Type, payment and amount of the notice in a commit. */
  function noticeIn(changes: readonly Change[]): { type: string; name: string; amount: number } | undefined {
    const item = changes.find(({ sk, before }) => sk === 'NOTICE' && !before)?.after;
    const type = textOf(item, 'type');
    if (!type.startsWith('payment.')) return undefined;
    const payment = asBody(bodyOf(item?.['webhook']?.M?.['body']?.S)['payment']) ?? {};
    const id = memberOf(payment, 'id');
    const account = textOf(item, 'accountId');
    return {
      type,
      name: `${type} ${id === '' ? `${account} ${capMonthIn(changes)}` : id}`,
      amount: Math.round(Number(payment['amount'] ?? 0) * 1_000_000),
    };
  }

  const capMonthIn = (changes: readonly Change[]): string =>
    textOf(changes.find(({ sk }) => sk === 'AUTO_TOP_UP')?.after, 'capTold');

  /** The notice that must be part of a commit. */
  function dueIn(changes: readonly Change[]): { type: string; amount: number; pk: string } | undefined {
    for (const change of changes) {
      const { pk, sk, before, after } = change;
      const amount = numberIn(after, 'amountMicros');
      const kind = textOf(after, 'kind');
      if (
        sk.startsWith('LEDGER#') &&
        !before &&
        /^payment(_reversed)?$/.test(kind) &&
        ofStripe(change, changes)
      )
        return { type: kind === 'payment' ? 'payment.received' : 'payment.reversed', amount, pk };
      const [was, is] = [textOf(before, 'state'), textOf(after, 'state')];
      if (sk.startsWith('PAYMENT#') && kind === 'auto' && was === 'open' && /^(failed|unknown)$/.test(is))
        return { type: 'payment.failed', amount, pk };
    }
    return undefined;
  }

  function ofStripe({ after }: Change, changes: readonly Change[]): boolean {
    const id = textOf(after, 'payment');
    return changes.some(
      (one) => one.sk.startsWith('PAYMENT#') && isOfStripe(one.after) && paymentIdOf(one) === id,
    );
  }

  const getsNotices = (account: Item | undefined): boolean => account?.['noticeUrl'] !== undefined;

  return {
    restart: (): void => told.clear(),
    onCommit: (changes: readonly Change[]) => {
      const notice = noticeIn(changes);
      const due = dueIn(changes);
      if (due && getsNotices(service()?.table.get(due.pk, 'ACCOUNT'))) {
        if (notice?.type !== due.type || notice.amount !== due.amount)
          accuse('an account is told of its payments', `${due.type}: ${JSON.stringify(notice)}`);
      }
      if (!notice) return;
      const times = (told.get(notice.name) ?? 0) + 1;
      told.set(notice.name, times);
      if (times > 1 && notice.type !== 'payment.reversed') accuse('an account is told once', notice.name);
      if (!due && !/ \d{4}_\d\d$/.test(notice.name))
        accuse('no notice of a payment without its reason', notice.name);
    },
  };
}
