/** Notifies an account about its payments. The transactions that move the money store the notices. */
import type { AccountId } from '../values/ids.ts';
import { type ThresholdServices, checkQuietly } from '../notices/check-thresholds.ts';
import type { Account } from '../accounts/account.ts';
import { getsNotices } from '../accounts/account.ts';
import { webhookGraceMillis } from '../contract/limits.ts';
import { noticeOf, type NoticeRecord } from '../notices/notice.ts';
import { paymentParts, type PaymentNews } from '../notices/payment-parts.ts';
import { asMicros, type Micros } from '../values/money.ts';
import type { Log } from '../values/runtime.ts';

export interface PaymentNoticeServices extends ThresholdServices {
  readonly log: Log;
  readonly readAccount: (id: AccountId) => Promise<Account | undefined>;
  /** The wallet page of the portal, on which a person pays. */
  readonly walletUrl: string;
}

/** A notice needs two steps, because the transaction that moves the money also stores the notice. */
export interface PaymentNotices {
  /** Undefined: the account wants no notices. @param movedMicros what the same transaction adds to the wallet */
  readonly prepare: (
    account: AccountId,
    told: PaymentNews,
    movedMicros: Micros,
  ) => Promise<NoticeRecord | undefined>;
  /** Sends a stored notice, and checks the wallet's thresholds. Never throws. */
  readonly stored: (account: AccountId, notice: NoticeRecord | undefined) => Promise<void>;
}

export function createPaymentNotices(services: PaymentNoticeServices): PaymentNotices {
  const { clock, randomBytes, readAccount, noticeExecutions, walletUrl, log } = services;
  return {
    prepare: async (id, told, movedMicros) => {
      const account = await readAccount(id);
      if (!account || !getsNotices(account)) return undefined;
      const nowMillis = clock.now();
      const dueAt = noticeExecutions ? nowMillis + webhookGraceMillis : nowMillis;
      const after = { ...account, availableMicros: asMicros(account.availableMicros + movedMicros) };
      const made = { nowMillis, dueAt, randomBytes: randomBytes(16) };
      return noticeOf(after, told.type, paymentParts(after, told, walletUrl), made);
    },
    stored: async (accountId, notice) => {
      if (notice) {
        log.info('notice_told', { noticeId: notice.id, accountId, type: notice.type });
        // A start that is refused or unclear is left to the reconciler.
        await noticeExecutions?.start(notice.id, notice.executions);
      }
      await checkQuietly({ accountId, periods: {} }, services);
    },
  };
}
