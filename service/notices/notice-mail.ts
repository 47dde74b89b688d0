/** The e-mail of a notice: what happened, what to do, and where. It holds nothing secret, and no text of a request. */
import type { Mail } from '../aws/topics.ts';
import { asMicros, formatUsd, fromUsd } from '../values/money.ts';
import type { NoticeType } from './notice.ts';

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
  readonly endpoint?: { readonly url: string; readonly failing_since: string };
}

/** What happened, in the subject and in a sentence, what to do, and the page of the portal. */
interface Words {
  readonly subject: string;
  readonly happened: string;
  readonly remedy: string;
  readonly page: string;
}

/** @param body of the notice, as its webhook has it */
export function mailOf(
  body: string,
  { account, portalUrl }: { readonly account: string; readonly portalUrl: string },
): Mail {
  const { subject, happened, remedy, page } = wordsOf(JSON.parse(body) as NoticeBody, account);
  const address = new URL(page, portalUrl).href;
  const why = `You get this e-mail because you chose it in the portal: ${new URL('wallet#emails', portalUrl).href}`;
  return { subject: `Darkroom: ${subject}`, text: [happened, remedy, address, why].join('\n\n') };
}

const usd = (amount: number): string => formatUsd(asMicros(fromUsd(amount)));

function wordsOf(body: NoticeBody, name: string): Words {
  const { available, low_balance: low, required } = body.account;
  switch (body.notice) {
    case 'wallet.low':
      return {
        subject: `the balance of ${name} is below ${usd(low ?? 0)}`,
        happened: `The account ${name} has ${usd(available)} left. It is to have at least ${usd(low ?? 0)}.`,
        remedy: 'Top up the account, or choose another limit:',
        page: 'wallet',
      };
    case 'wallet.empty':
      return {
        subject: `the balance of ${name} is used up`,
        happened: `The account ${name} has ${usd(available)} left. A request needed ${usd(required ?? 0)}. Such requests are refused.`,
        remedy: 'Top up the account:',
        page: 'wallet',
      };
    case 'key.cap_reached': {
      const { name: key = '', cap = '', level = 0, limit = 0, spent = 0, user } = body.key ?? {};
      const ofUser = user === undefined ? '' : ' for one user';
      return {
        subject: `the key ${key} of ${name} has reached ${level} % of its ${cap} cap`,
        happened: `The key ${key} of the account ${name} has spent ${usd(spent)} of its ${cap} cap of ${usd(limit)}${ofUser}.`,
        remedy: 'At 100 % its requests are refused. Raise the cap, or wait for the next period:',
        page: 'keys',
      };
    }
    case 'budget.reached': {
      const { month = '', level = 0, limit = 0, spent = 0 } = body.budget ?? {};
      return {
        subject: `${name} has spent ${level} % of its budget of ${month}`,
        happened: `The account ${name} has spent ${usd(spent)} of its budget of ${usd(limit)} for ${month}.`,
        remedy: 'No request is refused. See what was spent, or change the budget:',
        page: 'usage',
      };
    }
    case 'webhook.failing':
      return {
        subject: `the webhooks of ${name} fail`,
        happened: `${body.webhooks?.failed_attempts ?? 0} attempts to deliver webhooks of the account ${name} have failed in a row.`,
        remedy: 'See why they failed, and send them again:',
        page: 'deliveries',
      };
    case 'endpoint.failing':
    case 'endpoint.disabled': {
      const isOff = body.notice === 'endpoint.disabled';
      const host = new URL(body.endpoint?.url ?? 'https://unknown.invalid').host;
      const since = body.endpoint?.failing_since ?? '';
      return {
        subject: `an endpoint of ${name} ${isOff ? 'is switched off' : 'fails'}`,
        happened: `Every attempt to reach the endpoint at ${host} of the account ${name} has failed since ${since}.`,
        remedy: isOff
          ? 'It gets nothing more. Repair it, and switch it on again:'
          : 'It is switched off after five days. See why the attempts failed:',
        page: isOff ? 'webhooks' : 'deliveries',
      };
    }
  }
}
