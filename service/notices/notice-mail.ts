/** The e-mail of a notice: what happened, what to do, and where. It holds nothing secret, and no text of a request. */
import type { Mail } from '../aws/topics.ts';
import { asMicros, formatUsd, fromUsd } from '../values/money.ts';
import type { NoticeType } from './notice.ts';
import type { failedReasons, reversedReasons } from './payment-parts.ts';

type FailedReason = (typeof failedReasons)[number];
type ReversedReason = (typeof reversedReasons)[number];

interface NoticeBody {
  readonly notice: NoticeType;
  readonly account: {
    readonly available: number;
    readonly low_balance: number | null;
    readonly required?: number;
  };
  readonly key?: {
    readonly name: string;
    readonly cap: string;
    readonly level: number;
    readonly limit: number;
    readonly spent: number;
    readonly user?: string;
  };
  readonly budget?: {
    readonly month: string;
    readonly level: number;
    readonly limit: number;
    readonly spent: number;
  };
  readonly webhooks?: { readonly failed_attempts: number };
  readonly payment?: {
    readonly amount: number | null;
    readonly kind?: 'checkout' | 'auto';
    readonly reason?: FailedReason | ReversedReason;
  };
  readonly endpoint?: { readonly url: string; readonly failing_since: string };
}

/** What happened, in the subject and in a sentence, what to do, and the page of the portal. */
interface Words {
  readonly subject: string;
  readonly happened: string;
  readonly fix: string;
  readonly page: string;
}

/** @param body of the notice, as its webhook has it */
export function mailOf(
  body: string,
  { account, portalUrl }: { readonly account: string; readonly portalUrl: string },
): Mail {
  const { subject, happened, fix, page } = wordsOf(JSON.parse(body) as NoticeBody, account);
  const address = new URL(page, portalUrl).href;
  const why = `You get this e-mail because you chose it in the portal: ${new URL('wallet#emails', portalUrl).href}`;
  return { subject: `Darkroom: ${subject}`, text: [happened, fix, address, why].join('\n\n') };
}

const usd = (amount: number): string => formatUsd(asMicros(fromUsd(amount)));

function wordsOf(body: NoticeBody, name: string): Words {
  const { available, low_balance: low, required } = body.account;
  switch (body.notice) {
    case 'wallet.low':
      return {
        subject: `the balance of ${name} is below ${usd(low ?? 0)}`,
        happened: `The account ${name} has ${usd(available)} left. It is to have at least ${usd(low ?? 0)}.`,
        fix: 'Top up the account, or choose another limit:',
        page: 'wallet',
      };
    case 'wallet.empty':
      return {
        subject: `the balance of ${name} is used up`,
        happened: `The account ${name} has ${usd(available)} left. A request needed ${usd(required ?? 0)}. Such requests are refused.`,
        fix: 'Top up the account:',
        page: 'wallet',
      };
    case 'key.cap_reached': {
      const { name: key = '', cap = '', level = 0, limit = 0, spent = 0, user } = body.key ?? {};
      const ofUser = user === undefined ? '' : ' for one user';
      return {
        subject: `the key ${key} of ${name} has reached ${level} % of its ${cap} cap`,
        happened: `The key ${key} of the account ${name} has spent ${usd(spent)} of its ${cap} cap of ${usd(limit)}${ofUser}.`,
        fix: 'At 100 % its requests are refused. Raise the cap, or wait for the next period:',
        page: 'keys',
      };
    }
    case 'budget.reached': {
      const { month = '', level = 0, limit = 0, spent = 0 } = body.budget ?? {};
      return {
        subject: `${name} has spent ${level} % of its budget of ${month}`,
        happened: `The account ${name} has spent ${usd(spent)} of its budget of ${usd(limit)} for ${month}.`,
        fix: 'No request is refused. See what was spent, or change the budget:',
        page: 'usage',
      };
    }
    case 'webhook.failing':
      return {
        subject: `the webhooks of ${name} fail`,
        happened: `${body.webhooks?.failed_attempts ?? 0} attempts to deliver webhooks of the account ${name} have failed in a row.`,
        fix: 'See why they failed, and send them again:',
        page: 'deliveries',
      };
    case 'payment.received':
    case 'payment.failed':
    case 'payment.reversed':
      return { ...paymentWords(body.notice, body.payment, name, usd(available)), page: 'wallet' };
    case 'endpoint.failing':
    case 'endpoint.disabled': {
      const isOff = body.notice === 'endpoint.disabled';
      const host = new URL(body.endpoint?.url ?? 'https://unknown.invalid').host;
      const since = body.endpoint?.failing_since ?? '';
      return {
        subject: `an endpoint of ${name} ${isOff ? 'is switched off' : 'fails'}`,
        happened: `Every attempt to reach the endpoint at ${host} of the account ${name} has failed since ${since}.`,
        fix: isOff
          ? 'It gets nothing more. Repair it, and switch it on again:'
          : 'It is switched off after five days. See why the attempts failed:',
        page: isOff ? 'webhooks' : 'deliveries',
      };
    }
  }
}

function paymentWords(
  notice: Extract<NoticeType, `payment.${string}`>,
  { amount, reason }: NonNullable<NoticeBody['payment']> = { amount: null },
  name: string,
  left: string,
): Omit<Words, 'page'> {
  const sum = usd(Math.abs(amount ?? 0));
  switch (notice) {
    case 'payment.received':
      return {
        subject: `${sum} came in for ${name}`,
        happened: `The account ${name} was credited with ${sum}. It has ${left}.`,
        fix: 'See your payments:',
      };
    case 'payment.failed': {
      const { why, fix } = failures[(reason ?? 'unknown') as FailedReason];
      return {
        subject: `the automatic top-up of ${name} took no money`,
        happened: `${why} The account ${name} has ${left} left.`,
        fix,
      };
    }
    case 'payment.reversed': {
      const isFailedRefund = reason === 'refund' && (amount ?? 0) > 0;
      const reversed = isFailedRefund ? 'refund_failed' : ((reason ?? 'refund') as ReversedReason);
      const { subject, why, fix } = reversals[reversed];
      return {
        subject: `a payment of ${name} ${subject}`,
        happened: `${why(sum)} The account ${name} has ${left} left.`,
        fix,
      };
    }
  }
}

/** What happened to an automatic top-up. Without the last two reasons it is paused. */
const failures: Readonly<Record<FailedReason, { readonly why: string; readonly fix: string }>> = {
  authentication_required: {
    why: 'The bank wants the owner of the card to confirm the payment. The automatic top-up is paused.',
    fix: 'Pay once yourself, and let the card be saved:',
  },
  declined: {
    why: 'The bank has declined the payment. The automatic top-up is paused.',
    fix: 'Pay with another card, and let it be saved, or resume:',
  },
  card_expired: {
    why: 'The saved card has expired. The automatic top-up is paused.',
    fix: 'Pay with another card, and let it be saved:',
  },
  monthly_cap: {
    why: 'Another payment would take more than the cap of this month. The automatic top-up goes on next month.',
    fix: 'Raise the cap, or pay yourself:',
  },
  unknown: {
    why: 'The payment system did not say whether it took the money. The automatic top-up is paused. If the money was taken, the account is credited.',
    fix: 'Ask the operator before you pay again:',
  },
};

const reversals: Readonly<
  Record<
    ReversedReason | 'refund_failed',
    { readonly subject: string; readonly why: (sum: string) => string; readonly fix: string }
  >
> = {
  refund: {
    subject: 'was refunded',
    why: (sum) => `${sum} went back to the payer.`,
    fix: 'See your payments:',
  },
  refund_failed: {
    subject: 'is given back',
    why: (sum) => `A refund did not reach the payer, and ${sum} came back.`,
    fix: 'See your payments:',
  },
  dispute: {
    subject: 'is disputed',
    why: (sum) => `The owner of the card disputes a payment: ${sum} was taken back, and payments are closed.`,
    fix: 'Ask the operator to open payments again:',
  },
  dispute_won: {
    subject: 'is given back',
    why: (sum) => `A dispute has ended in your favour, and ${sum} came back.`,
    fix: 'See your payments:',
  },
};
