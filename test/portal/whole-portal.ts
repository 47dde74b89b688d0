/**
 * All functions of the portal over one table of the engine, with the real frame, handlers and adapters. Only what is
 * no table is replaced: Step Functions, the bucket, the vendors, and the addresses of clients.
 */
import { randomBytes as systemBytes } from 'node:crypto';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { createDirectClient } from '../../lab/simulation/aws/http-exchange.ts';
import { createSimulatedTable } from '../../lab/simulation/aws/simulated-table.ts';
import { createAccountSettings } from '../../service/accounts/account-settings-store.ts';
import { createAccountStore } from '../../service/accounts/account-store.ts';
import type { Account } from '../../service/accounts/account.ts';
import { createKeyStore } from '../../service/accounts/key-store.ts';
import { createTopUpState } from '../../service/accounts/top-up-state-reads.ts';
import { createWalletStore } from '../../service/accounts/wallet-store.ts';
import type { ApiHandler } from '../../service/api/framed.ts';
import { createHeldSlots } from '../../service/api/held-slots-store.ts';
import { createRequestStore } from '../../service/api/request-store.ts';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { readOperatorCatalog } from '../../service/catalog/operator-catalog-store.ts';
import { createProviderStore } from '../../service/catalog/provider-store.ts';
import { soldCatalogs } from '../../service/catalog/sold-catalog.ts';
import {
  defaultLimits,
  heldShare,
  requestMillis,
  type ServiceAccess,
} from '../../service/contract/limits.ts';
import {
  operatedOperations,
  type PortalFunction,
  type PortalOperationName,
  portalOperations,
  portalRoot,
  type Role,
} from '../../service/contract/operations.ts';
import type * as view from '../../service/contract/portal-views.ts';
import { createChargeStore } from '../../service/creations/charge-store.ts';
import { createCreationStore } from '../../service/creations/creation-store.ts';
import { createMailStore } from '../../service/notices/mail-store.ts';
import { createMonthSpent } from '../../service/notices/spend-reads.ts';
import { createNoticeStore } from '../../service/notices/notice-store.ts';
import type { PostResult } from '../../service/outbound/outbound.ts';
import { createAutoTopUpStore } from '../../service/payments/auto-top-up-store.ts';
import { createPaymentStore } from '../../service/payments/payment-store.ts';
import { createStripePaymentStore } from '../../service/payments/stripe-payment-store.ts';
import { createPaymentNotices } from '../../service/payments/payment-notices.ts';
import { catalog as ours } from '../../service/platform/lambda.ts';
import { createActionLog } from '../../service/operated/action-store.ts';
import { createOperatorKeyStore } from '../../service/operated/operator-key-store.ts';
import { cancelHandlers } from '../../service/portal/generate/cancel.ts';
import { generateHandlers } from '../../service/portal/generate/generate.ts';
import type { GenerateServices, PortalCancelServices } from '../../service/portal/generate/open.ts';
import { servePortal } from '../../service/portal/http/serve-portal.ts';
import { poolEmailsADay } from '../../service/portal/invitation-room.ts';
import { manageHandlers } from '../../service/portal/manage/handlers.ts';
import type { ManageServices } from '../../service/portal/manage/open.ts';
import { operateHandlers } from '../../service/portal/operate/handlers.ts';
import type { OperateServices } from '../../service/portal/operate/open.ts';
import { createPeopleStore, type InvitationEmail } from '../../service/portal/people-store.ts';
import { invitationIdOf, personIdOf } from '../../service/portal/people.ts';
import { serveRead } from '../../service/portal/read/handlers.ts';
import { overseeStores, type ReadServices, readStores } from '../../service/portal/read/open.ts';
import { payHandlers } from '../../service/portal/pay/handlers.ts';
import type { PayServices } from '../../service/portal/pay/open.ts';
import { createPortalAccess } from '../../service/portal/session-store.ts';
import { cookieNames, hashToken, sessionValue } from '../../service/portal/session.ts';
import { serveSignIn } from '../../service/portal/sign-in/handlers.ts';
import type { SignInServices } from '../../service/portal/sign-in/open.ts';
import { createUploadStore } from '../../service/uploads/upload-store.ts';
import { createUploadTargets } from '../../service/uploads/upload-targets.ts';
import { createOperatedReads } from '../../service/usage/all-accounts-reads.ts';
import type { AccountId, PersonId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { schema } from '../../service/values/runtime.ts';
import { startBudget } from '../../service/values/time.ts';
import { createDeliveryStore } from '../../service/webhooks/delivery-store.ts';
import { createEndpointStore } from '../../service/webhooks/endpoint-store.ts';
import { createSecretBox } from '../../service/webhooks/secret-box.ts';
import { fakeClock, fakeLog, stub } from '../api/fakes.ts';
import { anAccount, now } from '../fixtures/records.ts';
import { createDirectStripe } from '../local/stripe/direct-stripe.ts';
import { fakeTopics } from './mail-fixture.ts';
import { ordinarySettings, originSecret, secrets, type WithCalls } from './portal-fixture.ts';
import { resultsOfTests } from '../fixtures/records.ts';

const portalUrl = new URL('https://portal.test/');

/** Who is signed in. */
export interface SignedIn {
  readonly email: string;
  readonly personId: PersonId;
  readonly cookie: string;
}

export interface Asked {
  readonly as?: SignedIn;
  readonly id?: string;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Refused {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details: {
      readonly reason: string;
      readonly errors: readonly { readonly field: string; readonly code: string; readonly message: string }[];
    };
  };
}

/** The members of the answers that tests read. A member that an answer has not is undefined, and fails its test. */
export type AnyBody = Refused &
  view.KeyView &
  Omit<view.KeyDetail, 'key'> &
  view.CreatedKeyView &
  view.SecretView &
  view.AlertsView &
  view.EmailsView &
  view.TestedView &
  view.RedeliveredView &
  view.QuoteView &
  Omit<view.PeopleView, 'id'> &
  Pick<view.ServiceView, 'open' | 'open_circuits' | 'failing_webhooks'> &
  view.PausedView &
  view.BudgetView &
  Pick<view.EndpointsView, 'samples'> &
  Pick<view.UsageView, 'month'> &
  Pick<view.HomeView, 'spent_this_month'> &
  Pick<view.OperatedAccount, 'available' | 'balance' | 'condition' | 'limits' | 'credit_line' | 'results'> & {
    readonly id: string;
    readonly status: string;
    readonly role: string;
    readonly already_applied: boolean;
    readonly total: Readonly<Record<string, number>>;
    readonly data: readonly (view.KeyView &
      view.ActionView &
      view.FailingWebhook &
      view.ProviderView &
      view.FoundThing)[];
    readonly has_all: boolean;
    readonly next_cursor: string | null;
  };

/** The fields that a refusal names, in order. */
export function fieldsOf({ body }: Answered): string[] {
  return body.error.details.errors.map(({ field }) => field).sort();
}

export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly body: AnyBody;
  readonly headers: Readonly<Record<string, string>>;
}

export type WholePortal = ReturnType<typeof openWholePortal>;

/**
 * @param resultAccess the setting of the service (signedMinutesBy)
 * @param randomBytes other dice, with which all ids are the same in each run
 */
export function openWholePortal(
  resultAccess: ServiceAccess = 'unguessable',
  randomBytes: (count: number) => Uint8Array = systemBytes,
) {
  const clock = fakeClock();
  const stripe = createDirectStripe(clock);
  const log = fakeLog();
  const memory = createSimulatedTable({ now: () => clock.now() });
  const calls: WithCalls['calls'] = { around: (_operation, _input, run) => run() };
  const client = createDirectClient((operation, input) =>
    calls.around(operation, input, () => memory.perform(operation, input)),
  );
  const table: Table = { client, name: 'table', clock, randomBytes };
  const accounts = createAccountStore(table);
  const people = createPeopleStore(table);
  const access = createPortalAccess(table);
  const wallet = createWalletStore(table);
  const creations = createCreationStore(table);
  /** Which executions were started, by the creation, and what the receivers of webhooks got. */
  const started: string[] = [];
  const posted: { readonly url: string; readonly headers: Readonly<Record<string, string>> }[] = [];
  const receiver: { answer: PostResult } = {
    answer: { kind: 'answered', status: 200, headers: {}, excerpt: 'ok' },
  };

  const clientUrls = { openai: 'https://api.test/openai/v1', mcp: 'https://api.test/mcp' };
  const portal = () => ({
    clock,
    randomBytes,
    log,
    schema,
    budget: startBudget(clock, requestMillis),
    access,
    actions: createActionLog(table),
    originSecrets: () => Promise.resolve([originSecret]),
    settings: {
      ...ordinarySettings,
      portalUrl,
      apiUrl: 'https://api.test/api/public/v1',
    },
  });
  /** What becomes of the e-mail to an invited person. */
  const mails = fakeTopics();
  const pool: { register: (email: string) => Promise<InvitationEmail>; readonly emailsADay: number } = {
    register: () => Promise.resolve('sent'),
    emailsADay: poolEmailsADay,
  };
  const catalogs = soldCatalogs({ ours }, () => readOperatorCatalog(table));
  const outside = {
    catalogs,
    outboundRules: 'public',
    outbound: stub<ManageServices['outbound']>({
      check: (url) =>
        Promise.resolve(
          url.includes('inside')
            ? { kind: 'refused', why: 'must lead to public addresses only' }
            : { kind: 'allowed' },
        ),
      post: (url, headers) => {
        posted.push({ url, headers });
        return Promise.resolve(receiver.answer);
      },
    }),
    executions: stub<ManageServices['executions']>({
      start: ({ id }) => {
        started.push(id);
        return Promise.resolve('started');
      },
    }),
    noticeExecutions: stub<ManageServices['noticeExecutions']>({ start: () => Promise.resolve('started') }),
    registerUser: (email: string) => pool.register(email),
    emailsADay: pool.emailsADay,
  } as const;
  const functions: Readonly<Record<PortalFunction, ApiHandler>> = {
    'sign-in': serveSignIn((): SignInServices => {
      const mailStore = createMailStore(table);
      return { ...portal(), people, mailStore, topics: mails.topics } as unknown as SignInServices;
    }),
    read: serveRead((): ReadServices => ({
      ...portal(),
      catalogs,
      clientUrls,
      results: resultsOfTests,
      serviceCapacity: 2_000,
      ...readStores(table),
      ...overseeStores(table),
    })),
    manage: servePortal('manage', manageHandlers, (): ManageServices => ({
      ...portal(),
      ...outside,
      keys: createKeyStore(table),
      accounts: createAccountSettings(table),
      people,
      creations,
      deliveries: createDeliveryStore(table),
      endpoints: createEndpointStore(table),
      notices: createNoticeStore(table),
      monthSpent: createMonthSpent(table),
      removeTopic: mails.topics.remove,
      secretBox: createSecretBox({ client: secrets, secretArn: 'arn', clock, randomBytes }),
    })),
    generate: servePortal('generate', generateHandlers, (): GenerateServices => ({
      ...portal(),
      ...outside,
      results: resultsOfTests,
      signedMinutesOf: () => undefined,
      authFailureForm: 'envelope',
      topUpUrl: 'https://portal.test/wallet',
      serviceCapacity: 2_000,
      requests: createRequestStore(table),
      refusals: { note: () => Promise.resolve() },
      creations,
      keys: createKeyStore(table),
      charges: createChargeStore(table),
      topUpState: createTopUpState(table),
      held: createHeldSlots(table, 'generate', heldShare.least),
      uploads: createUploadStore(table),
      uploadTargets: createUploadTargets({
        bucket: 'images',
        region: 'us-east-1',
        urlSuffix: 'amazonaws.com',
        accessKeyId: 'a',
        secretAccessKey: 'b',
      }),
      notices: createNoticeStore(table),
      images: stub<GenerateServices['images']>({}),
    })),
    cancel: servePortal('cancel', cancelHandlers, (): PortalCancelServices => ({
      ...portal(),
      creations,
      charges: createChargeStore(table),
      tasks: stub<PortalCancelServices['tasks']>({ succeed: () => Promise.resolve('ended') }),
      providers: new Map(),
    })),
    pay: servePortal(
      'pay',
      payHandlers,
      (): PayServices => {
        const { stripe: client, settings: paymentSettings, livemode, webhookSecrets } = stripe.system;
        const payments = createStripePaymentStore(table);
        const common = { clock, randomBytes, log };
        const paymentNotices = createPaymentNotices({
          ...common,
          notices: createNoticeStore(table),
          noticeExecutions: outside.noticeExecutions,
          readAccount: createAccountSettings(table).read,
          walletUrl: 'https://portal.test/wallet',
        });
        return {
          ...portal(),
          stripe: client,
          paymentSettings,
          livemode,
          webhookSecrets,
          payments,
          paymentNotices,
          topUps: createAutoTopUpStore(table),
          allPayments: createPaymentStore(table),
          readAccount: createAccountSettings(table).read,
        };
      },
      portalOperations,
    ),
    operate: servePortal(
      'operate',
      operateHandlers,
      (): OperateServices => ({
        ...portal(),
        ...outside,
        accounts,
        operated: createOperatedReads(table),
        wallet,
        people,
        notices: createNoticeStore(table),
        providers: createProviderStore(table),
        operatorKeys: createOperatorKeyStore(table),
        defaultLimits,
        resultAccess,
      }),
      operatedOperations,
    ),
  };

  /** Calls an operation as the pages do. */
  const ask = async (name: PortalOperationName, asked: Asked = {}): Promise<Answered> => {
    const operation = portalOperations[name];
    const event = eventOf(name, asked);
    const answer = await functions[operation.function](event, {} as Context);
    if (typeof answer === 'string') throw new Error('the function answered a text');
    const text = answer.body ?? '';
    return {
      status: answer.statusCode ?? 0,
      text,
      body: (text.startsWith('{') ? JSON.parse(text) : {}) as AnyBody,
      headers: (answer.headers ?? {}) as Readonly<Record<string, string>>,
    };
  };

  /** Opens a session for a person, who becomes a member by an invitation. */
  const signIn = async (
    email: string,
    account: AccountId | undefined,
    role: Role | 'operator',
    more: { readonly keyCapMicros?: number; readonly ageMillis?: number } = {},
  ): Promise<SignedIn> => {
    const personId = personIdOf('https://issuer.test', email);
    const at = clock.now() - (more.ageMillis ?? 1_000);
    const invitation = {
      id: invitationIdOf(email),
      accountId: role === 'operator' ? 'SERVICE' : (account ?? 'SERVICE'),
      email,
      role,
      ...(more.keyCapMicros !== undefined && { keyCapMicros: asMicros(more.keyCapMicros) }),
      invitedAt: new Date(at).toISOString(),
      invitedBy: 'operator',
      expiresAt: at + 86_400_000,
    } as const;
    await people.invite(invitation);
    const identity = { id: personId, issuer: 'https://issuer.test', subject: email, email };
    if (!(await people.accept(invitation, identity, new Date(at).toISOString())))
      throw new Error(`${email} has no place`);
    const token = Buffer.from(randomBytes(32)).toString('base64url');
    const session = {
      hash: hashToken(token),
      personId,
      ...(account && { accountId: account }),
      authenticatedAt: at,
      createdAt: at,
      lastSeenAt: clock.now(),
    };
    await access.open(session);
    return { email, personId, cookie: `${cookieNames(portalUrl).session}=${sessionValue(token, session)}` };
  };

  /** An account with money. */
  const openAccount = async (id: string, change: Partial<Account> = {}): Promise<AccountId> => {
    const account = anAccount({ id: id as AccountId, name: id, availableMicros: asMicros(0), ...change });
    await accounts.create(account);
    await wallet.topUp(account.id, asMicros(25_000_000), 'opening');
    return account.id;
  };

  return {
    table,
    memory,
    clock,
    randomBytes,
    log,
    calls,
    ask,
    signIn,
    openAccount,
    accounts,
    people,
    wallet,
    creations,
    deliveries: createDeliveryStore(table),
    keys: createKeyStore(table),
    started,
    posted,
    receiver,
    pool,
    mails,
    stripe,
    topUps: createAutoTopUpStore(table),
    stripePayments: createStripePaymentStore(table),
  };
}

function eventOf(
  name: PortalOperationName,
  { as, id = '', body, query, headers }: Asked,
): APIGatewayProxyEventV2 {
  const { method, path } = portalOperations[name];
  const routeKey = `${method} ${portalRoot}${path}`;
  const rawPath = `${portalRoot}${path.replace('{id}', id)}`;
  // An empty value takes a header away.
  const sent = Object.fromEntries(
    Object.entries({ 'sec-fetch-site': 'same-origin', ...headers }).filter(([, value]) => value !== ''),
  );
  const text = typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body);
  return {
    version: '2.0',
    routeKey,
    rawPath,
    rawQueryString: '',
    headers: {
      'x-origin-secret': originSecret,
      'cloudfront-viewer-address': '203.0.113.9:4711',
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...sent,
    },
    ...(as && { cookies: [as.cookie] }),
    ...(query && { queryStringParameters: query }),
    ...(path.includes('{id}') && { pathParameters: { id } }),
    ...(text !== undefined && { body: text }),
    isBase64Encoded: false,
    requestContext: {
      accountId: '',
      apiId: '',
      domainName: 'api.test',
      domainPrefix: '',
      requestId: 'request',
      routeKey,
      stage: '$default',
      time: '',
      timeEpoch: now,
      http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: '198.51.100.1', userAgent: '' },
    },
  };
}
