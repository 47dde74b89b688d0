/** The notices of payments (docs/api.md, "Notices"). */
import type { Account } from '../accounts/account.ts';
import { noticeOf, type NoticeRecord } from '../notices/notice.ts';
import { paymentParts } from '../notices/payment-parts.ts';
import type { PaymentNews } from './payment-news.ts';

/** @param payUrl the page on which a person pays */
export function paymentNotice(
  account: Account,
  news: PaymentNews,
  payUrl: string,
  made: Parameters<typeof noticeOf>[3],
): NoticeRecord {
  return noticeOf(account, news.type, paymentParts(account, news, payUrl), made);
}
