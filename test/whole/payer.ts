/** An owner who pays into the wallet of an account by the portal, at the fake of Stripe of one machine. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PaymentView } from '../../service/contract/portal-views.ts';
import type { PaymentAction } from '../../local/stripe/control.ts';
import { createPeopleStore } from '../../service/portal/people-store.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { type Browser, invite, openBrowser } from '../fixtures/portal.ts';
import type { TestService } from '../fixtures/service.ts';

/** Half a minute at least. */
const mostPolls = 1_500;

/** A payment that was begun, and the address of Stripe's page for it. */
export interface Begun {
  readonly id: string;
  readonly url: string;
}

export type Payer = Awaited<ReturnType<typeof openPayer>>;

export async function openPayer(service: TestService, account: AccountId, email: string) {
  const { machine, operator } = service;
  const expiresAt = machine.clock.now() + 86_400_000;
  await invite(createPeopleStore(operator.table), account, email, 'owner', { expiresAt });
  const browser: Browser = openBrowser(machine.portalUrl);
  await browser.signIn(email);
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await browser.send(method, path, body);
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const balance = async (): Promise<number> => (await service.account(account)).availableMicros / 1e6;
  return {
    browser,
    ask,
    begin: async (amount: number, savesCard = false): Promise<Begun> =>
      (await ask('POST', '/payments', { amount, save_card: savesCard })) as Begun,
    /** Fills in the page of Stripe. Gives the address to which the page leads back. */
    pay: async ({ url }: Begun, card = 'pays'): Promise<string> => {
      const answer = await browser.visit(url, { method: 'POST', body: new URLSearchParams({ card }) });
      return answer.headers.get('location') ?? `${answer.status}: ${await answer.text()}`;
    },
    shown: async ({ id }: Pick<Begun, 'id'>): Promise<PaymentView> =>
      (await ask('GET', `/payments/${id}`)) as PaymentView,
    /** USD. */
    balance,
    /** The sums of the rows of payments in the ledger, in USD. */
    rows: async (): Promise<number[]> => {
      const { data } = (await ask('GET', '/ledger')) as {
        data: { readonly kind: string; readonly amount: number }[];
      };
      return data.flatMap(({ kind, amount }) => (kind.startsWith('payment') ? [amount] : []));
    },
    /** Waits until the wallet has so many USD. Throws when it does not come to that. */
    credited: async (dollars: number): Promise<void> => {
      for (let polls = 0; (await balance()) !== dollars; polls += 1) {
        if (polls > mostPolls) throw new Error(`the wallet has ${await balance()} USD, not ${dollars}`);
        await sleep(20);
      }
    },
  };
}

/** Lets something happen at the fake of Stripe without a call. */
export async function atStripe({ machine }: TestService, action: PaymentAction): Promise<unknown> {
  const address = `${machine.localUrl}/payments`;
  const answer = await fetch(address, { method: 'POST', body: JSON.stringify(action) });
  if (!answer.ok) throw new Error(`${action.action}: ${await answer.text()}`);
  return answer.json();
}

/** The events of Stripe of this kind, the newest first. */
export async function eventsAtStripe({ machine }: TestService, type: string): Promise<string[]> {
  const { events } = (await (await fetch(`${machine.localUrl}/payments`)).json()) as {
    events: { readonly id: string; readonly type: string }[];
  };
  return events.flatMap((event) => (event.type === type ? [event.id] : []));
}
