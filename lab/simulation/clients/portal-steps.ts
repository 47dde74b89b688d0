/**
 * The steps of people in the portal. A person reads a page, thinks, and presses a button. Without an answer, the
 * person presses the button again, mostly on the same page.
 */
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { accountFromItem, apiKeyFromItem } from '../../../service/accounts/account-items.ts';
import type { KeyCaps } from '../../../service/accounts/account.ts';
import { rollMillis } from '../../../service/accounts/key-changes.ts';
import { alertsVersion, keyVersion } from '../../../service/accounts/version.ts';
import type { Item } from '../../../service/aws/dynamodb/table.ts';
import {
  type PortalOperationName,
  portalOperations,
  portalRoot,
} from '../../../service/contract/operations.ts';
import { topicOf } from '../../../service/notices/mail-readers.ts';
import { memberFromItem } from '../../../service/portal/people-store.ts';
import { invitationIdOf, memberVersion } from '../../../service/portal/people.ts';
import type { KeyId } from '../../../service/values/ids.ts';
import { asMicros, toUsd } from '../../../service/values/money.ts';
import { originSecret, type PortalFunctionName } from '../aws/portal-and-openai.ts';
import type { ApiSteps } from './api-steps.ts';
import {
  type AccountHeld,
  addressAt,
  addressMark,
  freshKey,
  keyAt,
  type KeyHeld,
  noticeAddress,
  type PersonHeld,
} from './open-accounts.ts';
import { asBody, bodyOf, memberOf, submissionParts } from './requests.ts';
import type { PortalAct, PortalStep } from './scenario.ts';
import type { Stage } from './stage.ts';

/** What the pages call the caps of a key. */
const capFields = {
  dailyCapMicros: 'daily_cap',
  monthlyCapMicros: 'monthly_cap',
  totalCapMicros: 'total_cap',
  perUserMonthlyCapMicros: 'per_user_monthly_cap',
} as const satisfies Readonly<Record<keyof KeyCaps, string>>;

const usd = (micros: number | null): number | null => (micros === null ? null : toUsd(asMicros(micros)));

interface Page {
  readonly operation: PortalOperationName;
  /** The member that holds the rows; '' when the page shows one thing. */
  readonly rows: string;
}

/** The pages from which the changes with a version begin. */
const pages = {
  changeKey: { operation: 'listKeys', rows: 'data' },
  changePerson: { operation: 'listPeople', rows: 'people' },
  setAlerts: { operation: 'getAlerts', rows: '' },
} as const satisfies Partial<Record<PortalOperationName, Page>>;

/** Maximum number of keys with which an account begins. Later indexes belong to keys that people made. */
const plannedKeys = 2;

interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export function createPortalSteps(
  { world, service, invariants, accountOf }: Stage,
  tryKey: ApiSteps['tryKey'],
): (step: PortalStep) => Promise<void> {
  const { dice } = world;
  const itemOf = (pk: string, sk: string): Item | undefined => {
    const item = service.table.get(pk, sk);
    return item && unmarshall(item as Parameters<typeof unmarshall>[0]);
  };
  const keyOf = (account: AccountHeld, place: number): KeyHeld =>
    (place < plannedKeys ? undefined : account.made[place - plannedKeys]) ?? keyAt(account, place);

  /** The request of the button as the page shows it now. Undefined: the page has no such button. */
  function pressed(act: PortalAct, account: AccountHeld, name: string): PortalRequest | undefined {
    const pk = `ACCOUNT#${account.id}`;
    switch (act.does) {
      case 'create_key':
        return {
          operation: 'createKey',
          body: { name, ...(act.capMicros !== undefined && { monthly_cap: usd(act.capMicros) }) },
        };
      case 'change_key': {
        const { id } = keyOf(account, act.key);
        const item = itemOf(pk, `KEY#${id}`);
        const version = item ? keyVersion(apiKeyFromItem(item)) : '';
        return {
          operation: 'changeKey',
          id,
          body: { name, [capFields[act.cap]]: usd(act.capMicros), version },
        };
      }
      case 'revoke_key':
        return { operation: 'revokeKey', id: keyOf(account, act.key).id };
      case 'roll_key':
        return {
          operation: 'rollKey',
          id: keyOf(account, act.key).id,
          body: { old_key_ends_in: act.endsIn },
        };
      case 'reveal_secret':
        return { operation: 'revealSecret' };
      case 'rotate_secret':
        return { operation: 'rotateSecret', body: { sign_from: act.signFrom } };
      case 'set_alerts': {
        const item = itemOf(pk, 'ACCOUNT');
        return {
          operation: 'setAlerts',
          body: {
            notice_url: act.receiver === undefined ? null : noticeAddress(act.receiver),
            low_balance: usd(act.lowMicros),
            version: item ? alertsVersion(accountFromItem(item)) : '',
          },
        };
      }
      case 'create': {
        const { body, headers } = submissionParts({
          ...act,
          name,
          model: 'sandbox-sketch',
          resolution: '1K',
          images: [],
        });
        return { operation: 'createCreation', body, headers };
      }
      case 'cancel': {
        const all = [...invariants.books.creations.values()].filter((book) => book.account === account.id);
        const one = all.find(({ terminalAt }) => terminalAt === undefined) ?? all[0];
        return one && { operation: 'cancelPortalCreation', id: one.id };
      }
      case 'redeliver_one': {
        const all = [...invariants.books.creations.values()].filter((book) => book.account === account.id);
        const one = all[dice.between(`${name} which`, 0, Math.max(0, all.length - 1))];
        return one && { operation: 'redeliverCreation', id: one.id };
      }
      case 'redeliver_failed': {
        const since = new Date(world.time.now() - 3_600_000).toISOString();
        return { operation: 'redeliverFailed', body: { since } };
      }
      case 'test_webhook':
        return {
          operation: 'testWebhook',
          body: { url: `https://receiver.test/${act.webhook}?account=${account.id}&${addressMark}` },
        };
      case 'choose_emails':
        return { operation: 'setEmails', body: { notices: act.kinds } };
      case 'invite':
        return { operation: 'invitePerson', body: { email: addressAt(act.address), role: act.role } };
      case 'withdraw':
        return { operation: 'withdrawInvitation', id: invitationIdOf(addressAt(act.address)) };
      case 'change_person': {
        const id = account.people[act.target]?.id ?? '';
        const item = itemOf(pk, `MEMBER#${id}`);
        const version = item ? memberVersion(memberFromItem(item)) : '';
        return { operation: 'changePerson', id, body: { role: act.role, version } };
      }
      case 'remove_person':
        return { operation: 'removePerson', id: account.people[act.target]?.id ?? '' };
      case 'end_sessions':
        return { operation: 'endSessions', id: account.people[act.target]?.id ?? '' };
    }
  }

  /** Informs the invariants of what the press of the button may cause. */
  function expect(act: PortalAct, account: AccountHeld, { id }: PortalRequest): void {
    const key = [...account.keys, ...account.made].find((one) => one.id === id);
    if (act.does === 'cancel' && id !== undefined) invariants.cancels.onAsked(id);
    if (!key) return;
    if (act.does === 'revoke_key') key.revoked = true;
    if (act.does === 'roll_key')
      key.mayEndAt = Math.min(key.mayEndAt, world.time.now() + rollMillis[act.endsIn]);
  }

  function hearCancel(id: string, { status, body }: Answered): void {
    if (status === 200) invariants.cancels.onAnswer(id, body);
    if (asBody(asBody(body['error'])?.['details'])?.['reason'] === 'not_cancellable')
      invariants.cancels.onAnswered(id, 'not_cancellable');
  }

  async function follow(act: PortalAct, account: AccountHeld, id: string, answer: Answered): Promise<void> {
    if (act.does === 'cancel') hearCancel(id, answer);
    if (answer.status >= 300) return;
    const key = [...account.keys, ...account.made].find((one) => one.id === id);
    const record = asBody(answer.body['record']);
    let made: KeyHeld | undefined;
    if (record) {
      made = freshKey(memberOf(record, 'id') as KeyId, memberOf(answer.body, 'key'));
      account.made.push(made);
      await tryKey(account, made);
    }
    if (!key) return;
    if (act.does === 'revoke_key') key.revocationHolds = true;
    const until = memberOf(answer.body, 'replaced_until');
    if (act.does === 'roll_key') key.mustEndBy = Math.min(key.mustEndBy, Date.parse(until));
    await tryKey(account, key);
    if (act.does !== 'roll_key' || act.endsIn !== '1h' || !made || !dice.chance(`${key.id} is used on`, 0.5))
      return;
    // The old key has ended then, and the new one works.
    await world.sleep(key.mustEndBy - world.time.now() + world.clocks.largestSkew() + 2_000);
    await tryKey(account, key);
    await tryKey(account, made);
  }

  async function press(step: PortalStep, request: PortalRequest): Promise<Answered | undefined> {
    const account = accountOf(step);
    const person = account.people[step.person];
    if (!person) return undefined;
    try {
      const operation = functionOf(request);
      const answer = await service.request(operation, portalEvent(request, person));
      return { status: answer.statusCode ?? 0, body: bodyOf(answer.body) };
    } catch {
      // The answer did not reach the browser, so the person knows nothing.
      return undefined;
    }
  }

  /** The page loads what it shows. Undefined: nothing came, or the page has no such thing. */
  async function load(step: PortalStep, request: PortalRequest): Promise<PortalRequest | undefined> {
    const page = pages[request.operation as keyof typeof pages] as Page | undefined;
    if (!page) return request;
    const answer = await press(step, { operation: page.operation });
    if (answer?.status !== 200) return undefined;
    const rows = answer.body[page.rows];
    const shown = Array.isArray(rows)
      ? rows.map(asBody).find((row) => memberOf(row ?? {}, 'id') === request.id)
      : answer.body;
    return shown && { ...request, body: { ...request.body, version: shown['version'] } };
  }

  async function pressUntilAnswered(step: PortalStep): Promise<void> {
    const { act, name } = step;
    const account = accountOf(step);
    const first = pressed(act, account, name);
    // The other half has loaded the page just now.
    let request = first && dice.chance(`${name} loads the page`, 0.5) ? await load(step, first) : first;
    await world.sleep(step.thinkMillis);
    for (let attempt = 1; request && attempt <= 3; attempt += 1) {
      expect(act, account, request);
      const answer = await press(step, request);
      world.note(`person ${step.person} ${name} ${act.does}, try ${attempt}: ${answer?.status ?? 0}`);
      if (answer) await follow(act, account, request.id ?? '', answer);
      if (answer && answer.status < 500) return;
      await world.sleep(dice.between(`${name} again ${attempt}`, 500, 4_000));
      // Some load the page again before they press again.
      if (dice.chance(`${name} loads again ${attempt}`, 0.3)) request = pressed(act, account, name);
    }
  }

  return async (step) => {
    await pressUntilAnswered(step);
    const { act } = step;
    if (act.does !== 'choose_emails' || act.confirmAfter === undefined) return;
    const account = accountOf(step);
    const person = account.people[step.person];
    // SNS asks the address, whether or not the answer reached the browser.
    await world.sleep(act.confirmAfter);
    if (person) service.mails?.confirm(topicOf(account.id, person.id));
  };
}

export interface PortalRequest {
  readonly operation: PortalOperationName;
  /** Of the path's {id}. */
  readonly id?: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const functions: readonly PortalFunctionName[] = [
  'portal-read',
  'portal-manage',
  'portal-generate',
  'portal-cancel',
  'portal-pay',
  'portal-sign-in',
];

/** The address of everybody's browser, as the portal's distribution saw it. */
const viewerAddress = '198.51.100.251:49152';

/** The function that answers the request. */
export function functionOf({ operation }: Pick<PortalRequest, 'operation'>): PortalFunctionName {
  const name = `portal-${portalOperations[operation].function}`;
  const found = functions.find((known) => known === name);
  if (!found) throw new Error(`the simulation does not run ${name}`);
  return found;
}

export function portalEvent(
  { operation, id, body, headers = {} }: PortalRequest,
  { cookie }: Pick<PersonHeld, 'cookie'>,
): APIGatewayProxyEventV2 {
  const { method, path } = portalOperations[operation];
  return {
    routeKey: `${method} ${portalRoot}${path}`,
    rawPath: `${portalRoot}${path.replace('{id}', id ?? '')}`,
    rawQueryString: '',
    headers: {
      'x-origin-secret': originSecret,
      'cloudfront-viewer-address': viewerAddress,
      'sec-fetch-site': 'same-origin',
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    cookies: [`__Host-darkroom=${cookie}`],
    ...(id !== undefined && { pathParameters: { id } }),
    ...(body && { body: JSON.stringify(body) }),
    isBase64Encoded: false,
    requestContext: {
      http: { method, sourceIp: '192.0.2.1' },
      routeKey: `${method} ${portalRoot}${path}`,
      requestId: '',
      domainName: 'api.test',
    },
  } as unknown as APIGatewayProxyEventV2;
}
