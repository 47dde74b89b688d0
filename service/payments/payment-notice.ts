/** The notices of payments (docs/api.md, "Notices"). */
import type { Account } from '../accounts/account.ts';
import { noticeOf, type NoticeRecord, walletView } from '../notices/notice.ts';
import { toUsd } from '../values/money.ts';
import type { PaymentNews } from './payment-news.ts';

/** @param payUrl the page on which a person pays */
export function paymentNotice(
  account: Account,
  news: PaymentNews,
  payUrl: string,
  made: Parameters<typeof noticeOf>[3],
): NoticeRecord {
  const parts = { account: walletView(account), payment: paymentView(news, payUrl) };
  return noticeOf(account, news.type, parts, made);
}

/** The member `payment` of the body. */
export function paymentView(news: PaymentNews, payUrl: string): Readonly<Record<string, unknown>> {
  switch (news.type) {
    case 'payment.received': {
      const { id, kind, amountMicros } = news.payment;
      return { id, kind, amount: toUsd(amountMicros) };
    }
    case 'payment.failed': {
      const { payment, reason, isPaused } = news;
      return {
        id: payment?.id ?? null,
        kind: 'auto',
        amount: payment ? toUsd(payment.amountMicros) : null,
        reason,
        auto_top_up: isPaused ? 'paused' : 'on',
        pay_url: payUrl,
      };
    }
    case 'payment.reversed': {
      const { payment, reason, amountMicros } = news;
      return { id: payment.id, reason, amount: toUsd(amountMicros) };
    }
  }
}
