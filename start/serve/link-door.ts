/** Lets people in by links: the first owner, and everybody when the service has no issuer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { createAccount } from '../../admin/commands/accounts.ts';
import { issueSecret } from '../../admin/commands/webhooks.ts';
import { createLinkStore, linkIssuer } from '../../admin/link-store.ts';
import type { OperatorServices } from '../../admin/services.ts';
import { type Door, readBody, sendJson, sendText, targetOf } from '../../local/http.ts';
import { parseJson } from '../../local/json.ts';
import { addressOf } from '../../local/viewer.ts';
import { signInPaths } from '../../service/contract/operations.ts';
import { clientAddress } from '../../service/outbound/client-address.ts';
import { isBlocked } from '../../service/portal/http/caller.ts';
import { isAddress, newInvitation, normalEmail, type PeopleScope } from '../../service/portal/people.ts';
import { createPortalAccess } from '../../service/portal/session-store.ts';
import { enter, openSession } from '../../service/portal/sign-in/enter.ts';
import { linkPage, linkPageHeaders } from './link-page.ts';

/** Below the path of the portal. The token follows after a #. */
const linkPaths = { first: '/portal/first', link: '/portal/link' } as const;

const bodySchema = z.object({ token: z.string().max(100), email: z.string().optional() });
const maxBodyBytes = 4_096;
/** Enough to try the sandbox. The first owner is the operator, too, and can give more. */
const openingBalanceUsd = '25';

export interface LinkDoorOptions {
  readonly origin: string;
  readonly hasIssuer: boolean;
  readonly log: (event: string, fields?: Readonly<Record<string, unknown>>) => void;
  /** Undefined until the service is ready. */
  readonly operator: () => OperatorServices | undefined;
}

type Refused = readonly [status: number, message: string];

const refused = {
  blocked: [429, 'Too many wrong links came from your address. Try again later.'],
  dead: [403, 'This link was used already, or is older than 30 minutes. Ask for another one.'],
  notInvited: [403, 'Nobody has invited this address yet: ask the operator.'],
  noAddress: [400, 'This is no address, such as owner@example.com.'],
  malformed: [400, 'The page sent something that is no link.'],
} as const satisfies Record<string, Refused>;

export function createLinkDoor({ origin, hasIssuer, log, operator }: LinkDoorOptions): Door {
  const portalUrl = new URL('/portal/', origin);

  async function redeem(
    { token, email: text }: z.output<typeof bodySchema>,
    address: string,
    services: OperatorServices,
  ): Promise<string | Refused> {
    const { table, clock, people } = services;
    const nowMillis = clock.now();
    const access = createPortalAccess(table);
    const { block } = await access.read({ clientAddress: address, nowMillis });
    if (block && isBlocked(block, true)) return refused.blocked;
    const isFirst = text !== undefined;
    if (isFirst && !isAddress(normalEmail(text))) return refused.noAddress;
    const links = createLinkStore(table);
    const isRight = isFirst && (await people.listOperators()).length === 0;
    const taken = isFirst
      ? isRight && (await links.takeFirst(token, nowMillis)) && normalEmail(text)
      : await links.take(token, nowMillis);
    if (taken === undefined || taken === false) {
      // Counted like a wrong API key, so that nobody can guess tokens.
      await access.countRejection(address, nowMillis);
      return refused.dead;
    }
    if (isFirst) await inviteFirst(taken, services, nowMillis);
    const claims = { issuer: linkIssuer, subject: taken, email: taken, emailVerified: true };
    const entered = await enter(claims, undefined, nowMillis, {
      people,
      access,
      log: { info: log, alarm: log },
      settings: { emailsAreVerified: true },
    });
    if (typeof entered === 'string') return refused.notInvited;
    const proved = { nowMillis, authenticatedAt: nowMillis };
    return openSession(entered, proved, { access, randomBytes: table.randomBytes }, portalUrl);
  }

  async function post(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const services = operator();
    const bytes = await readBody(incoming, maxBodyBytes);
    const body = bodySchema.safeParse(parseJson(bytes?.toString() ?? ''));
    // A page of another site must not sign anybody in.
    const isOwnPage = incoming.headers.origin === origin;
    const outcome =
      services && body.success && isOwnPage
        ? await redeem(body.data, clientAddress(addressOf(incoming)), services)
        : refused.malformed;
    if (typeof outcome === 'string') sendJson(outgoing, 200, {}, { 'set-cookie': outcome });
    else sendJson(outgoing, outcome[0], { error: { message: outcome[1] } });
  }

  const handlers: Readonly<Record<string, Door['handle']>> = {
    [`GET ${linkPaths.first}`]: showPage,
    [`GET ${linkPaths.link}`]: showPage,
    [`POST ${linkPaths.link}`]: post,
    ...(!hasIssuer && {
      [`GET ${signInPaths.login}`]: (incoming: IncomingMessage, outgoing: ServerResponse): void => {
        incoming.resume();
        outgoing.writeHead(303, { location: linkPaths.link }).end();
      },
    }),
  };
  const handlerOf = (incoming: IncomingMessage): Door['handle'] | undefined =>
    handlers[`${incoming.method ?? ''} ${targetOf(incoming).path}`];
  return {
    serves: (incoming) => handlerOf(incoming) !== undefined,
    handle: (incoming, outgoing) => handlerOf(incoming)?.(incoming, outgoing),
  };
}

function showPage(incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.resume();
  sendText(outgoing, 200, 'text/html; charset=utf-8', linkPage, linkPageHeaders);
}

/** The owner of a new account, and the first person of the operator. */
async function inviteFirst(email: string, services: OperatorServices, nowMillis: number): Promise<void> {
  const account = await createAccount(services, {
    name: 'First account',
    balance: openingBalanceUsd,
    sandbox: 'yes',
  });
  // Without a secret no webhook is sent.
  await issueSecret(services, account);
  const places: [PeopleScope, 'owner' | 'operator'][] = [
    [account.id, 'owner'],
    ['SERVICE', 'operator'],
  ];
  for (const [accountId, role] of places)
    await services.people.invite(
      newInvitation({ accountId, email, role, invitedBy: 'operator' }, nowMillis),
      Infinity,
    );
}

/** Returns the link of the first owner. Undefined when somebody is operator already. */
export async function firstLink(services: OperatorServices, origin: string): Promise<string | undefined> {
  if ((await services.people.listOperators()).length > 0) return undefined;
  const token = await createLinkStore(services.table).makeFirst(services.clock.now());
  return `${origin}${linkPaths.first}#${token}`;
}
