/** The operations of the operator API, by the names of their methods. The methods and their types come from here. */

/**
 * Method, path, and what a call takes after the ids of its path, before its options. `pages` takes a filter and gives a
 * list that is read page by page, and `rows` takes nothing and returns a whole list.
 */
export type Operation = readonly [
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  shape?: 'body' | 'query' | 'pages' | 'rows',
];

export const operations = {
  accounts: {
    /** The oldest first. */
    list: ['GET', '/accounts', 'pages'],
    /** Opens an account, with its money in the same transaction. */
    create: ['POST', '/accounts', 'body'],
    get: ['GET', '/accounts/{account}'],
    /** null removes a value. With `version`, a change that somebody made meanwhile refuses this one. */
    change: ['PATCH', '/accounts/{account}', 'body'],
  },
  keys: {
    list: ['GET', '/accounts/{account}/keys', 'pages'],
    get: ['GET', '/accounts/{account}/keys/{key}'],
    /** Only this answer has the text of the key, in `key`. */
    create: ['POST', '/accounts/{account}/keys', 'body'],
    /** null removes a limit. */
    change: ['PATCH', '/accounts/{account}/keys/{key}', 'body'],
    /** Makes a key like this one, and ends this one. */
    roll: ['POST', '/accounts/{account}/keys/{key}/roll', 'body'],
    /** The key is dead at its next request. */
    revoke: ['POST', '/accounts/{account}/keys/{key}/revoke'],
  },
  wallet: {
    get: ['GET', '/accounts/{account}/wallet'],
    /** The movements, the oldest first. */
    ledger: ['GET', '/accounts/{account}/ledger', 'pages'],
  },
  payments: {
    /** The newest first. */
    list: ['GET', '/accounts/{account}/payments', 'pages'],
    get: ['GET', '/payments/{payment}'],
    /** Credits what a payment system took. A reference counts once for the account. */
    create: ['POST', '/accounts/{account}/payments', 'body'],
    /** Takes back what went back to the payer: an amount, or what is left of the payment. */
    reverse: ['POST', '/payments/{payment}/reversals', 'body'],
  },
  adjustments: {
    /** Adds to the balance, or takes from it. */
    create: ['POST', '/accounts/{account}/adjustments', 'body'],
  },
  webhookSecrets: {
    get: ['GET', '/accounts/{account}/webhook-secret'],
    /** Returns the secret that the account has, if it has one. */
    issue: ['POST', '/accounts/{account}/webhook-secret'],
    /** The replaced secret verifies for 24 hours more. */
    rotate: ['POST', '/accounts/{account}/webhook-secret/rotate', 'body'],
  },
  usage: {
    /** What an account used. */
    get: ['GET', '/accounts/{account}/usage', 'query'],
  },
  reports: {
    /** What all accounts used, for at most 31 days. */
    usage: ['GET', '/reports/usage', 'query'],
    /** Revenue, costs and margin, for at most 31 days. */
    margin: ['GET', '/reports/margin', 'query'],
  },
  models: {
    /** The catalog, with prices and costs. */
    list: ['GET', '/models', 'rows'],
  },
  providers: {
    list: ['GET', '/providers', 'rows'],
  },
  actions: {
    /** What people and operator keys did, the newest first. */
    list: ['GET', '/actions', 'pages'],
  },
} as const;
