/** What the stand-in of the portal's API answers to each operation. Types hold it to the real views. */
import type { PortalOperationName } from '../../../service/contract/operations.ts';
import type { AnswerOf, BodyOf } from '../../../service/contract/portal-calls.ts';
import type { Samples } from './samples.ts';

export interface Asked<Name extends PortalOperationName> {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: BodyOf<Name>;
  /** Headers of the answer. */
  readonly headers: Record<string, string>;
}

export type Answers = {
  readonly [Name in PortalOperationName]: (asked: Asked<Name>) => AnswerOf<Name>;
};

const page = <Row>(data: readonly Row[], nextCursor: string | null = null) => ({
  data,
  next_cursor: nextCursor,
});
const pageSize = 10;

/** A part of a list, from the cursor on. */
function part<Row>(rows: readonly Row[], query: URLSearchParams, size = pageSize) {
  const from = Number(query.get('cursor') ?? 0);
  const next = from + size;
  return page(rows.slice(from, next), next < rows.length ? String(next) : null);
}

export function answersOf(samples: Samples): Answers {
  const created = { key: 'dk_live_Qm9vU2tlLmV4YW1wbGUuc2VjcmV0', record: samples.keys[0] ?? never() };
  const row = <Row extends { readonly id: string }>(rows: readonly Row[], id: string): Row =>
    rows.find((one) => one.id === id) ?? rows[0] ?? never();
  const ledger = (query: URLSearchParams) => ({
    ...part(samples.ledger, query),
    available: 262.615,
    balance: 212.615,
    credit_line: 50,
    months: ['2026-11', '2026-10'],
  });
  return {
    getMe: () => samples.me,
    switchAccount: ({ body }) => body,
    getHome: () => samples.home,
    getAccount: () => samples.account,
    listKeys: () => page(samples.keys),
    showKey: ({ id }) => ({ key: row(samples.keys, id), ...samples.tokens }),
    createKey: ({ body }) => ({ ...created, record: { ...created.record, name: body.name ?? '' } }),
    changeKey: () => ({}),
    revokeKey: () => ({}),
    rollKey: () => ({ ...created, replaced_until: samples.uploadUntil }),
    listPortalModels: () => page(samples.models),
    listPortalCreations: ({ query }) =>
      part(
        samples.creations.filter(
          ({ status, model }) =>
            [status, null].includes(query.get('status') as never) &&
            [model, null].includes(query.get('model')),
        ),
        query,
      ),
    getPortalCreation: ({ id }) => samples.creationDetail(row(samples.creations, id)),
    createCreation: () => ({ id: samples.creations[1]?.id ?? never() }),
    quoteCreation: () => ({ cost: 0.045, available: 262.615, sufficient: true }),
    createPortalUpload: () => ({
      id: 'upl_1',
      image_url: 'upload:upl_1',
      upload_url: '/stub/upload',
      upload_headers: { 'content-type': 'image/png' },
      expires_at: samples.uploadUntil,
    }),
    cancelPortalCreation: () => ({}),
    redeliverCreation: () => ({}),
    listPortalRequests: ({ query }) => {
      const isAsked = (name: 'outcome' | 'code' | 'door', value: string | null): boolean =>
        [value, null].includes(query.get(name));
      return part(
        samples.requests.filter(
          ({ outcome, code, door, status }) =>
            isAsked('outcome', outcome) &&
            isAsked('code', code) &&
            isAsked('door', door) &&
            (!query.has('status') || query.get('status')?.[0] === String(status)[0]),
        ),
        query,
      );
    },
    getWebhooks: () => samples.webhooks,
    revealSecret: () => samples.secret,
    rotateSecret: () => samples.secret,
    listPortalEndpoints: () => samples.endpoints,
    addEndpoint: () => ({ id: samples.endpoints.data[0]?.id ?? '' }),
    changePortalEndpoint: ({ id }) => ({ id }),
    removeEndpoint: () => ({}),
    testWebhook: () => ({ delivery: samples.deliveryDetail(samples.deliveries[2] ?? never()) }),
    listDeliveries: ({ query }) =>
      part(
        samples.deliveries.filter(({ outcome }) => [outcome, null].includes(query.get('outcome') as never)),
        query,
      ),
    getDelivery: ({ id }) => samples.deliveryDetail(row(samples.deliveries, id)),
    redeliverFailed: () => ({ redelivered: 3, has_more: false }),
    listLedger: ({ query }) => ledger(query),
    exportLedger: () => 'time,kind,amount\n',
    getStatement: () => samples.statement,
    getUsage: ({ query }) => samples.usage((query.get('by') ?? 'day') as 'day'),
    exportUsage: () => 'day,spent\n',
    getAlerts: () => samples.alerts,
    getEmails: () => samples.emails,
    setEmails: ({ body: { notices } }) => ({
      ...samples.emails,
      choices: samples.emails.choices.map((one) => ({ ...one, is_chosen: notices.includes(one.notice) })),
    }),
    listPayments: ({ query }) => ({
      ...part(samples.payments, query, Number(query.get('limit'))),
      ...{ test_mode: false, is_closed: false, least: 5, largest: 1000 },
    }),
    beginPayment: () => ({ id: 'pay_new', url: '/stub/stripe' }),
    getPayment: ({ id }) => row(samples.payments, id),
    getReceipt: () => '',
    getAutoTopUp: () => samples.autoTopUp,
    setAutoTopUp: ({ body: { version, ...chosen } }) => ({
      ...{ ...samples.autoTopUp, ...chosen },
      version: version + 1,
    }),
    resumeAutoTopUp: () => ({ ...samples.autoTopUp, paused: null, version: samples.autoTopUp.version + 1 }),
    removeCard: () => ({ ...samples.autoTopUp, card: null, version: samples.autoTopUp.version + 1 }),
    setBudget: ({ body }) => body,
    setAlerts: ({ body }) => ({ ...samples.alerts, ...body }),
    listPeople: () => samples.people,
    invitePerson: () => samples.invited,
    changePerson: () => ({}),
    removePerson: () => ({}),
    endSessions: () => ({}),
    withdrawInvitation: () => ({}),
    listActions: () => page(samples.actions),
    listAccounts: () => page(samples.operated),
    openAccount: () => row(samples.operated, ''),
    showAccount: ({ id }) => row(samples.operated, id),
    changeAccount: () => ({}),
    topUpAccount: () => ({}),
    inviteToAccount: () => samples.invited,
    findAnything: ({ query }) => samples.found(query.get('q') ?? ''),
    getService: () => samples.service,
    listAccountCreations: ({ query }) => part(samples.creations, query),
    listAccountLedger: ({ query }) => ledger(query),
    listAccountKeys: () => page(samples.keys),
    listAccountPeople: () => samples.people,
    listAccountDeliveries: ({ query }) => part(samples.deliveries, query),
    listAccountRequests: ({ query }) => part(samples.requests, query),
    showOperatedCreation: ({ id }) => samples.operatedCreation(row(samples.creations, id)),
    listFailingWebhooks: () => page(samples.failingWebhooks),
    listProviders: () => samples.providers,
    pauseRoute: ({ body: { provider, model = null, quality = null, paused, reason = null } }) => ({
      pause: paused ? { provider, model, quality, since: samples.uploadUntil, reason } : null,
    }),
    listHeldPayments: () => page(samples.heldPayments),
    listAccountPayments: () => ({
      ...page(samples.payments),
      ...{ test_mode: false, is_closed: false, least: 5, largest: 1_000 },
    }),
    listOperatorKeys: () => page(samples.operatorKeys),
    getMargin: () => samples.margin,
  };
}

function never(): never {
  throw new Error('The samples are empty.');
}
