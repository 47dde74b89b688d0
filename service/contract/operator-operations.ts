/** The operations of the operator API. Routes, scopes, document and handlers follow from this table. */

export const operatorRoot = '/api/operator/v1';

export const operatorScopes = [
  'accounts:read',
  'accounts:write',
  'keys:write',
  'wallet:credit',
  'wallet:adjust',
  'reports:read',
  'catalog:read',
] as const;
export type OperatorScope = (typeof operatorScopes)[number];

export interface OperatorOperation {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Relative to operatorRoot. */
  readonly path: string;
  readonly scope: OperatorScope;
  readonly query: readonly string[];
}

const page = ['limit', 'cursor'] as const;
const days = ['from', 'to', 'by'] as const;

export const operatorOperations = {
  listAccounts: {
    method: 'GET',
    path: '/accounts',
    scope: 'accounts:read',
    query: ['external_id', 'condition', ...page],
  },
  openAccount: { method: 'POST', path: '/accounts', scope: 'accounts:write', query: [] },
  getAccount: { method: 'GET', path: '/accounts/{account}', scope: 'accounts:read', query: [] },
  changeAccount: { method: 'PATCH', path: '/accounts/{account}', scope: 'accounts:write', query: [] },
  listKeys: { method: 'GET', path: '/accounts/{account}/keys', scope: 'accounts:read', query: page },
  getKey: { method: 'GET', path: '/accounts/{account}/keys/{key}', scope: 'accounts:read', query: [] },
  createKey: { method: 'POST', path: '/accounts/{account}/keys', scope: 'keys:write', query: [] },
  changeKey: { method: 'PATCH', path: '/accounts/{account}/keys/{key}', scope: 'keys:write', query: [] },
  rollKey: { method: 'POST', path: '/accounts/{account}/keys/{key}/roll', scope: 'keys:write', query: [] },
  revokeKey: {
    method: 'POST',
    path: '/accounts/{account}/keys/{key}/revoke',
    scope: 'keys:write',
    query: [],
  },
  getWallet: { method: 'GET', path: '/accounts/{account}/wallet', scope: 'accounts:read', query: [] },
  listLedger: {
    method: 'GET',
    path: '/accounts/{account}/ledger',
    scope: 'accounts:read',
    query: ['from', 'to', ...page],
  },
  listPayments: { method: 'GET', path: '/accounts/{account}/payments', scope: 'accounts:read', query: page },
  getPayment: { method: 'GET', path: '/payments/{payment}', scope: 'accounts:read', query: [] },
  createPayment: { method: 'POST', path: '/accounts/{account}/payments', scope: 'wallet:credit', query: [] },
  reversePayment: {
    method: 'POST',
    path: '/payments/{payment}/reversals',
    scope: 'wallet:adjust',
    query: [],
  },
  adjustWallet: {
    method: 'POST',
    path: '/accounts/{account}/adjustments',
    scope: 'wallet:adjust',
    query: [],
  },
  getWebhookSecret: {
    method: 'GET',
    path: '/accounts/{account}/webhook-secret',
    scope: 'keys:write',
    query: [],
  },
  issueWebhookSecret: {
    method: 'POST',
    path: '/accounts/{account}/webhook-secret',
    scope: 'keys:write',
    query: [],
  },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/accounts/{account}/webhook-secret/rotate',
    scope: 'keys:write',
    query: [],
  },
  getUsage: { method: 'GET', path: '/accounts/{account}/usage', scope: 'accounts:read', query: days },
  reportUsage: { method: 'GET', path: '/reports/usage', scope: 'reports:read', query: days },
  reportMargin: { method: 'GET', path: '/reports/margin', scope: 'reports:read', query: days },
  listModels: { method: 'GET', path: '/models', scope: 'catalog:read', query: [] },
  listProviders: { method: 'GET', path: '/providers', scope: 'catalog:read', query: [] },
  listActions: {
    method: 'GET',
    path: '/actions',
    scope: 'reports:read',
    query: ['account', 'from', 'to', ...page],
  },
} as const satisfies Readonly<Record<string, OperatorOperation>>;

export type OperatorOperationName = keyof typeof operatorOperations;
