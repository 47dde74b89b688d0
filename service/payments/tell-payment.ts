/** Tells an account of its payments, by notices that the transactions of the money store. */
import type { AccountId } from '../values/ids.ts';
import { type LookServices, lookQuietly } from '../notices/check-thresholds.ts';
import type { Account } from '../accounts/account.ts';
import { getsNotices } from '../accounts/account.ts';
import { webhookGraceMillis } from '../contract/limits.ts';
import { asMicros } from '../values/money.ts';
import type { Log } from '../values/runtime.ts';
import type { Teller } from './payment-news.ts';
import { paymentNotice } from './payment-notice.ts';

export interface TellServices extends LookServices {
  readonly log: Log;
  readonly readAccount: (id: AccountId) => Promise<Account | undefined>;
  /** The wallet page of the portal, on which a person pays. */
  readonly walletUrl: string;
}

export function createTeller(services: TellServices): Teller {
  const { clock, randomBytes, readAccount, noticeExecutions, walletUrl, log } = services;
  return {
    prepare: async (id, news, movedMicros) => {
      const account = await readAccount(id);
      if (!account || !getsNotices(account)) return undefined;
      const nowMillis = clock.now();
      const dueAt = noticeExecutions ? nowMillis + webhookGraceMillis : nowMillis;
      const after = { ...account, availableMicros: asMicros(account.availableMicros + movedMicros) };
      const made = { nowMillis, dueAt, randomBytes: randomBytes(16) };
      return paymentNotice(after, news, walletUrl, made);
    },
    stored: async (accountId, notice) => {
      if (notice) {
        log.info('notice_told', { noticeId: notice.id, accountId, type: notice.type });
        // A start that is refused or unclear is left to the reconciler.
        await noticeExecutions?.start(notice.id, notice.executions);
      }
      await lookQuietly({ accountId, periods: {} }, services);
    },
  };
}
