/** What each operation of the portal's API takes and answers. This file has types only. */
import type { PortalOperationName } from './operations.ts';
import type * as view from './portal-views.ts';
import type { PlainBody } from './request-fields.ts';

interface Call {
  readonly body?: unknown;
  readonly answer: unknown;
}

/** The answer of an operation of which the pages read nothing but that it succeeded. */
type Done = unknown;

type People = view.PeopleView;
type Invite = Pick<view.PersonBody, 'email' | 'role' | 'key_cap'>;

export type GenerateBody = Readonly<PlainBody> & {
  readonly model: string;
  readonly prompt?: string;
  readonly image_urls?: readonly string[];
  readonly mask_url?: string;
  readonly resolution?: string;
  readonly aspect_ratio?: string;
  readonly output_format?: string;
  readonly count?: number;
};

interface Id {
  readonly id: string;
}

export interface PortalCalls extends Record<PortalOperationName, Call> {
  getMe: { answer: view.MeView };
  switchAccount: { body: { readonly account: string }; answer: view.SwitchedView };
  getHome: { answer: view.HomeView };
  getAccount: { answer: view.AccountView };
  listKeys: { answer: view.PageView<view.KeyView> };
  showKey: { answer: view.KeyDetail };
  createKey: { body: view.KeyBody; answer: view.CreatedKeyView };
  changeKey: { body: view.KeyBody; answer: Done };
  revokeKey: { answer: Done };
  rollKey: { body: view.RollBody; answer: view.CreatedKeyView };
  listPortalModels: { answer: view.PageView<view.ModelView> };
  listPortalCreations: { answer: view.PageView<view.CreationRow> };
  getPortalCreation: { answer: view.CreationDetail };
  /** A list when the body names a count. */
  createCreation: { body: GenerateBody; answer: Id | { readonly data: readonly [Id, ...Id[]] } };
  quoteCreation: { body: GenerateBody; answer: view.QuoteView };
  createPortalUpload: {
    body: { readonly content_type: string; readonly bytes: number };
    answer: view.UploadView;
  };
  cancelPortalCreation: { answer: Done };
  redeliverCreation: { answer: Done };
  listPortalRequests: { answer: view.PageView<view.RequestRow> };
  getWebhooks: { answer: view.WebhooksView };
  revealSecret: { answer: view.SecretView };
  rotateSecret: { body: view.RotateBody; answer: view.SecretView };
  listPortalEndpoints: { answer: view.EndpointsView };
  addEndpoint: { body: view.EndpointBody; answer: { readonly id: string } };
  changePortalEndpoint: { body: Partial<view.EndpointBody>; answer: { readonly id: string } };
  removeEndpoint: { answer: Done };
  testWebhook: { body: view.TestBody; answer: view.TestedView };
  listDeliveries: { answer: view.PageView<view.DeliveryRow> };
  getDelivery: { answer: view.DeliveryDetail };
  redeliverFailed: {
    body: { readonly since: string; readonly endpoint?: string };
    answer: view.RedeliveredView;
  };
  listLedger: { answer: view.LedgerPage };
  exportLedger: { answer: string };
  getStatement: { answer: view.StatementView };
  getUsage: { answer: view.UsageView };
  exportUsage: { answer: string };
  getAlerts: { answer: view.AlertsView };
  listPayments: { answer: view.PaymentsView };
  beginPayment: { body: view.PaymentBody; answer: view.BegunPaymentView };
  getPayment: { answer: view.PaymentView };
  getReceipt: { answer: string };
  getAutoTopUp: { answer: view.AutoTopUpView };
  setAutoTopUp: { body: view.AutoTopUpBody; answer: view.AutoTopUpView };
  resumeAutoTopUp: { answer: view.AutoTopUpView };
  removeCard: { answer: view.AutoTopUpView };
  setBudget: { body: view.BudgetView; answer: view.BudgetView };
  getEmails: { answer: view.EmailsView };
  setEmails: { body: { readonly notices: readonly string[] }; answer: view.EmailsView };
  setAlerts: { body: Partial<view.AlertsView>; answer: view.AlertsView };
  listPeople: { answer: People };
  invitePerson: { body: Invite; answer: view.InvitedView };
  changePerson: { body: Omit<view.PersonBody, 'email'>; answer: Done };
  removePerson: { answer: Done };
  endSessions: { answer: Done };
  withdrawInvitation: { answer: Done };
  listActions: { answer: view.PageView<view.ActionView> };
  listAccounts: { answer: view.PageView<view.OperatedAccount> };
  openAccount: { body: view.OperatedAccountBody; answer: view.OperatedAccount };
  showAccount: { answer: view.OperatedAccount };
  changeAccount: { body: view.OperatedAccountBody; answer: Done };
  topUpAccount: { body: view.TopUpBody; answer: Done };
  inviteToAccount: { body: Invite; answer: view.InvitedView };
  findAnything: { answer: view.FoundView };
  getService: { answer: view.ServiceView };
  listAccountCreations: { answer: view.PageView<view.CreationRow> };
  listAccountLedger: { answer: view.LedgerPage };
  listAccountKeys: { answer: view.PageView<view.KeyView> };
  listAccountPeople: { answer: People };
  listAccountDeliveries: { answer: view.PageView<view.DeliveryRow> };
  listAccountRequests: { answer: view.PageView<view.RequestRow> };
  showOperatedCreation: { answer: view.OperatedCreation };
  listFailingWebhooks: { answer: view.PageView<view.FailingWebhook> };
  listProviders: { answer: view.ProvidersView };
  pauseRoute: { body: view.PauseBody; answer: view.PausedView };
  listHeldPayments: { answer: view.PageView<view.HeldPaymentView> };
  listAccountPayments: { answer: view.PaymentsView };
  listOperatorKeys: { answer: view.PageView<view.OperatorKeyView> };
  getMargin: { answer: view.MarginView };
}

export type AnswerOf<Name extends PortalOperationName> = PortalCalls[Name]['answer'];
export type BodyOf<Name extends PortalOperationName> = Name extends PortalOperationName
  ? PortalCalls[Name] extends { readonly body: infer Body }
    ? Body
    : undefined
  : never;

export interface Input<Name extends PortalOperationName = PortalOperationName> {
  readonly id?: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: BodyOf<Name>;
  readonly idempotencyKey?: string;
}
