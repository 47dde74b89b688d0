/** The operations of the public API. Gateway routes, handlers and the local server follow from them. */

/** The two forms of the answer to a failed authentication (docs/api.md). The deployment chooses. */
export type AuthFailureForm = 'envelope' | 'plain';

export const apiRoot = '/api/public/v1';

/** Where vendors call back with POST. The path is no operation of the API and has no key. */
export const callbackRoute = '/callbacks/v1/{provider}/{creation_id}/{capability}';

/** Where Stripe reports with POST what happened to payments. Its signature stands for a key. */
export const stripeEventsRoute = '/callbacks/v1/payments/stripe';

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to apiRoot. */
  readonly path: string;
  /** The name of the handler's file in functions/, without `.ts`. */
  readonly handler: string;
  /** The query parameters of the operation. Every other parameter is refused, so that no typo is ignored. */
  readonly query: readonly string[];
  /** Whether the token of an end user may call it. */
  readonly isForTokens?: true;
}

/** Each text is once in the bundles that hold the table. */
const endpointsHandler = 'webhook-endpoints';
const bucketPath = '/results/bucket';

export const operations = {
  listModels: { method: 'GET', path: '/models', handler: 'list-models', query: [], isForTokens: true },
  generateImage: {
    method: 'POST',
    path: '/images/generate',
    handler: 'generate-image',
    query: [],
    isForTokens: true,
  },
  quoteImage: { method: 'POST', path: '/images/quote', handler: 'quote-image', query: [], isForTokens: true },
  createUpload: { method: 'POST', path: '/uploads', handler: 'create-upload', query: [], isForTokens: true },
  listCreations: {
    method: 'GET',
    path: '/creations',
    handler: 'list-creations',
    query: ['limit', 'cursor', 'status', 'model', 'user'],
  },
  listRequests: {
    method: 'GET',
    path: '/requests',
    handler: 'list-creations',
    query: ['limit', 'cursor', 'outcome', 'status', 'code', 'key', 'door', 'from', 'to'],
  },
  listEvents: {
    method: 'GET',
    path: '/events',
    handler: 'list-events',
    query: ['after', 'limit', 'wait', 'include'],
  },
  getBalance: { method: 'GET', path: '/balance', handler: 'get-balance', query: ['user'] },
  getCreation: {
    method: 'GET',
    path: '/creations/{id}',
    handler: 'get-creation',
    query: [],
    isForTokens: true,
  },
  cancelCreation: {
    method: 'POST',
    path: '/creations/{id}/cancel',
    handler: 'cancel-creation',
    query: [],
    isForTokens: true,
  },
  deleteCreation: { method: 'DELETE', path: '/creations/{id}', handler: 'delete-creation', query: [] },
  deleteResults: {
    method: 'DELETE',
    path: '/creations/{id}/results',
    handler: 'delete-creation',
    query: [],
  },
  createUserToken: { method: 'POST', path: '/user-tokens', handler: 'user-tokens', query: [] },
  getUserToken: { method: 'GET', path: '/user-tokens/{id}', handler: 'user-tokens', query: [] },
  revokeUserToken: {
    method: 'POST',
    path: '/user-tokens/{id}/revoke',
    handler: 'user-tokens',
    query: [],
  },
  listEndpoints: { method: 'GET', path: '/webhooks/endpoints', handler: endpointsHandler, query: [] },
  createEndpoint: { method: 'POST', path: '/webhooks/endpoints', handler: endpointsHandler, query: [] },
  changeEndpoint: {
    method: 'PATCH',
    path: '/webhooks/endpoints/{id}',
    handler: endpointsHandler,
    query: [],
  },
  deleteEndpoint: {
    method: 'DELETE',
    path: '/webhooks/endpoints/{id}',
    handler: endpointsHandler,
    query: [],
  },
  getBucket: { method: 'GET', path: bucketPath, handler: endpointsHandler, query: [] },
  setBucket: { method: 'PUT', path: bucketPath, handler: endpointsHandler, query: [] },
  copyAgain: { method: 'POST', path: bucketPath, handler: endpointsHandler, query: [] },
  removeBucket: { method: 'DELETE', path: bucketPath, handler: endpointsHandler, query: [] },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationName = keyof typeof operations;

/** The name of the Lambda function: "GenerateImage" for the handler "generate-image". */
export function functionOf({ handler }: Pick<Operation, 'handler'>): string {
  return handler.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** The methods of a path, for the header Allow. Empty when no operation has the path. */
export function methodsOf(
  path: string,
  root: string = apiRoot,
  table: Readonly<
    Record<string, { readonly method: string; readonly path: string; readonly isForTokens?: true }>
  > = operations,
  isForTokens = false,
): string[] {
  const steps = path.split('/');
  return Object.values(table)
    .filter((operation) => {
      const pattern = `${root}${operation.path}`.split('/');
      return (
        (!isForTokens || operation.isForTokens === true) &&
        pattern.length === steps.length &&
        pattern.every((step, index) => (step.startsWith('{') ? steps[index] !== '' : step === steps[index]))
      );
    })
    .map((operation) => operation.method);
}

/** The root of the endpoint that libraries for the OpenAI API call. */
export const openaiRoot = '/openai/v1';

/** The Lambda functions of the OpenAI-shaped endpoint. Requests for images are held until the images are there. */
export type OpenaiFunction = 'images' | 'models';

export interface OpenaiOperation {
  readonly method: 'GET' | 'POST';
  /** Relative to openaiRoot. */
  readonly path: string;
  /** The function that answers, a file in functions/ without `openai-` and `.ts`. */
  readonly function: OpenaiFunction;
}

/** The operations of the OpenAI-shaped endpoint. As above, only this table lists them. */
export const openaiOperations = {
  createImages: { method: 'POST', path: '/images/generations', function: 'images' },
  editImages: { method: 'POST', path: '/images/edits', function: 'images' },
  listOpenaiModels: { method: 'GET', path: '/models', function: 'models' },
  getOpenaiModel: { method: 'GET', path: '/models/{id}', function: 'models' },
} as const satisfies Readonly<Record<string, OpenaiOperation>>;

/** Models that clients of the OpenAI API have built in. They lead to one model (setting `openai`). */
export const openaiModelNames = [
  'dall-e-2',
  'dall-e-3',
  'gpt-image-1',
  'gpt-image-1-mini',
  'gpt-image-1.5',
  'chatgpt-image-latest',
] as const;

export const mcpPath = '/mcp';

/** The root of the portal's API, which the pages of the portal call with a cookie. */
export const portalRoot = '/api/portal/v1';

/** Every path of the portal is below one of these: its API, and the sign-in. */
export const portalRoots = [portalRoot, '/auth'] as const;

/** Where a person's browser signs in and out. The issuer sends the browser back to signInPaths.callback. */
export const signInPaths = {
  login: '/auth/login',
  callback: '/auth/callback',
  logout: '/auth/logout',
} as const;

/** Of signInPaths.login. returnTo: path and query of a page. isFresh: "1" asks for a new proof. */
export const signInParameters = { returnTo: 'return', isFresh: 'fresh' } as const;

/** A sign-out is a POST: a link on a foreign page must not sign anybody out. */
export const signInMethods = {
  login: 'GET',
  callback: 'GET',
  logout: 'POST',
} as const satisfies Readonly<Record<keyof typeof signInPaths, string>>;

/**
 * Why a sign-in did not end as it should. The browser comes back to the portal with ?error=WORD. cancelled:
 * the person stopped the sign-in at the issuer. expired: the sign-in was begun too long ago, or in another
 * browser. refused: the issuer refused, or something in its answer is not as it has to be. unavailable: the
 * issuer does not answer. unverified: the issuer does not say that the address belongs to the person.
 * not_invited: there is no invitation for this address. stale: the issuer did not ask for the person's proof
 * again. blocked: too many rejected authentications came from this address.
 */
export const signInErrors = [
  'cancelled',
  'expired',
  'refused',
  'unavailable',
  'unverified',
  'not_invited',
  'stale',
  'blocked',
] as const;
export type SignInError = (typeof signInErrors)[number];

/**
 * What a member of an account may do. Each role may also do what the roles before it may. The first one stands for
 * no rank: it calls only what is marked for finance, so it sees money, and neither keys nor prompts.
 */
export const roles = ['finance', 'viewer', 'developer', 'owner'] as const;
export type Role = (typeof roles)[number];

/** The Lambda functions of the portal's API. Each has the rights of its own operations only. */
export type PortalFunction = 'sign-in' | 'read' | 'manage' | 'generate' | 'cancel' | 'pay' | 'operate';

export interface PortalOperation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Relative to portalRoot. */
  readonly path: string;
  /** The function that answers, a file in functions/ without `portal-` and `.ts`. */
  readonly function: PortalFunction;
  /** The least role in the account. 'person': every signed-in person. 'operator': people of the operator. */
  readonly role: Exclude<Role, 'finance'> | 'person' | 'operator';
  readonly query: readonly string[];
  /** True: the role finance may call it as well. */
  readonly isForFinance?: true;
  /** True: the sign-in of the person must be less than 15 minutes old. */
  readonly isFresh?: true;
  /** False: the log of actions does not name it, because it changes nothing that matters later. */
  readonly isLogged?: false;
}

const days = ['from', 'to', 'by'] as const;

/** What people of an account change. As above, only these three tables list the portal's operations. */
export const memberOperations = {
  // Who is signed in
  switchAccount: {
    method: 'POST',
    path: '/account',
    function: 'sign-in',
    role: 'person',
    query: [],
    isLogged: false,
  },
  // Keys
  createKey: {
    method: 'POST',
    path: '/keys',
    function: 'manage',
    role: 'developer',
    query: [],
    isFresh: true,
  },
  changeKey: {
    method: 'PATCH',
    path: '/keys/{id}',
    function: 'manage',
    role: 'developer',
    query: [],
  },
  revokeKey: {
    method: 'DELETE',
    path: '/keys/{id}',
    function: 'manage',
    role: 'developer',
    query: [],
    isFresh: true,
  },
  rollKey: {
    method: 'POST',
    path: '/keys/{id}/roll',
    function: 'manage',
    role: 'developer',
    query: [],
    isFresh: true,
  },
  // Creations
  createCreation: {
    method: 'POST',
    path: '/creations',
    function: 'generate',
    role: 'developer',
    query: [],
  },
  quoteCreation: {
    method: 'POST',
    path: '/quote',
    function: 'generate',
    role: 'developer',
    query: [],
    isLogged: false,
  },
  createPortalUpload: {
    method: 'POST',
    path: '/uploads',
    function: 'generate',
    role: 'developer',
    query: [],
    isLogged: false,
  },
  cancelPortalCreation: {
    method: 'POST',
    path: '/creations/{id}/cancel',
    function: 'cancel',
    role: 'developer',
    query: [],
  },
  redeliverCreation: {
    method: 'POST',
    path: '/creations/{id}/redeliver',
    function: 'manage',
    role: 'developer',
    query: [],
  },
  // Webhooks
  revealSecret: {
    method: 'POST',
    path: '/webhooks/secret/reveal',
    function: 'manage',
    role: 'developer',
    query: [],
    isFresh: true,
  },
  rotateSecret: {
    method: 'POST',
    path: '/webhooks/secret/rotate',
    function: 'manage',
    role: 'developer',
    query: [],
    isFresh: true,
  },
  addEndpoint: {
    method: 'POST',
    path: '/webhooks/endpoints',
    function: 'manage',
    role: 'developer',
    query: [],
  },
  changePortalEndpoint: {
    method: 'PATCH',
    path: '/webhooks/endpoints/{id}',
    function: 'manage',
    role: 'developer',
    query: [],
  },
  removeEndpoint: {
    method: 'DELETE',
    path: '/webhooks/endpoints/{id}',
    function: 'manage',
    role: 'developer',
    query: [],
  },
  testWebhook: {
    method: 'POST',
    path: '/webhooks/test',
    function: 'manage',
    role: 'developer',
    query: [],
  },
  redeliverFailed: {
    method: 'POST',
    path: '/deliveries/redeliver',
    function: 'manage',
    role: 'developer',
    query: [],
  },
  // Money
  setBudget: {
    method: 'PUT',
    path: '/budget',
    function: 'manage',
    role: 'owner',
    query: [],
    isForFinance: true,
  },
  setAlerts: { method: 'PUT', path: '/alerts', function: 'manage', role: 'developer', query: [] },
  getEmails: {
    method: 'GET',
    path: '/emails',
    function: 'sign-in',
    role: 'viewer',
    query: [],
    isForFinance: true,
  },
  setEmails: {
    method: 'PUT',
    path: '/emails',
    function: 'sign-in',
    role: 'viewer',
    query: [],
    isForFinance: true,
  },
  // People
  invitePerson: {
    method: 'POST',
    path: '/people',
    function: 'manage',
    role: 'owner',
    query: [],
    isFresh: true,
  },
  changePerson: {
    method: 'PATCH',
    path: '/people/{id}',
    function: 'manage',
    role: 'owner',
    query: [],
    isFresh: true,
  },
  removePerson: {
    method: 'DELETE',
    path: '/people/{id}',
    function: 'manage',
    role: 'owner',
    query: [],
    isFresh: true,
  },
  endSessions: {
    method: 'POST',
    path: '/people/{id}/end-sessions',
    function: 'manage',
    role: 'owner',
    query: [],
  },
  withdrawInvitation: {
    method: 'DELETE',
    path: '/invitations/{id}',
    function: 'manage',
    role: 'owner',
    query: [],
  },
} as const satisfies Readonly<Record<string, PortalOperation>>;

/** What only the functions that read and pay answer. The bundles of the others do not hold it. */
const memberReads = {
  // Who is signed in
  getMe: { method: 'GET', path: '/me', function: 'read', role: 'person', query: [] },
  getHome: { method: 'GET', path: '/home', function: 'read', role: 'viewer', query: [] },
  getAccount: { method: 'GET', path: '/account', function: 'read', role: 'viewer', query: [] },
  // Keys
  listKeys: { method: 'GET', path: '/keys', function: 'read', role: 'viewer', query: [] },
  showKey: { method: 'GET', path: '/keys/{id}', function: 'read', role: 'viewer', query: [] },
  // Creations
  listPortalModels: { method: 'GET', path: '/models', function: 'read', role: 'viewer', query: [] },
  listPortalCreations: {
    method: 'GET',
    path: '/creations',
    function: 'read',
    role: 'viewer',
    query: ['limit', 'cursor', 'status', 'model', 'key', 'user', 'day'],
  },
  getPortalCreation: {
    method: 'GET',
    path: '/creations/{id}',
    function: 'read',
    role: 'viewer',
    query: [],
  },
  listPortalRequests: {
    method: 'GET',
    path: '/requests',
    function: 'read',
    role: 'viewer',
    query: ['limit', 'cursor', 'outcome', 'status', 'code', 'key', 'door'],
  },
  // Webhooks
  getWebhooks: { method: 'GET', path: '/webhooks', function: 'read', role: 'viewer', query: [] },
  listPortalEndpoints: {
    method: 'GET',
    path: '/webhooks/endpoints',
    function: 'read',
    role: 'viewer',
    query: [],
  },
  listDeliveries: {
    method: 'GET',
    path: '/deliveries',
    function: 'read',
    role: 'viewer',
    query: ['limit', 'cursor', 'outcome', 'creation', 'endpoint'],
  },
  getDelivery: {
    method: 'GET',
    path: '/deliveries/{id}',
    function: 'read',
    role: 'viewer',
    query: [],
  },
  // Money
  listLedger: {
    method: 'GET',
    path: '/ledger',
    function: 'read',
    role: 'viewer',
    query: ['limit', 'cursor'],
    isForFinance: true,
  },
  exportLedger: {
    method: 'GET',
    path: '/ledger.csv',
    function: 'read',
    role: 'viewer',
    query: ['month', 'cursor'],
    isForFinance: true,
  },
  getStatement: {
    method: 'GET',
    path: '/statement',
    function: 'read',
    role: 'viewer',
    query: ['month'],
    isForFinance: true,
  },
  getUsage: {
    method: 'GET',
    path: '/usage',
    function: 'read',
    role: 'viewer',
    query: days,
    isForFinance: true,
  },
  exportUsage: {
    method: 'GET',
    path: '/usage.csv',
    function: 'read',
    role: 'viewer',
    query: days,
    isForFinance: true,
  },
  getAlerts: {
    method: 'GET',
    path: '/alerts',
    function: 'read',
    role: 'viewer',
    query: [],
    isForFinance: true,
  },
  // Payments through Stripe, where the operator takes them
  listPayments: {
    method: 'GET',
    path: '/payments',
    function: 'pay',
    role: 'viewer',
    query: ['limit', 'cursor'],
    isForFinance: true,
  },
  beginPayment: { method: 'POST', path: '/payments', function: 'pay', role: 'owner', query: [] },
  getPayment: {
    method: 'GET',
    path: '/payments/{id}',
    function: 'pay',
    role: 'viewer',
    query: [],
    isForFinance: true,
  },
  getReceipt: {
    method: 'GET',
    path: '/payments/{id}/receipt',
    function: 'pay',
    role: 'viewer',
    query: [],
    isForFinance: true,
  },
  getAutoTopUp: {
    method: 'GET',
    path: '/auto-top-up',
    function: 'pay',
    role: 'viewer',
    query: [],
    isForFinance: true,
  },
  setAutoTopUp: {
    method: 'PUT',
    path: '/auto-top-up',
    function: 'pay',
    role: 'owner',
    query: [],
    isFresh: true,
  },
  resumeAutoTopUp: { method: 'POST', path: '/auto-top-up/resume', function: 'pay', role: 'owner', query: [] },
  removeCard: {
    method: 'DELETE',
    path: '/auto-top-up/card',
    function: 'pay',
    role: 'owner',
    query: [],
    isFresh: true,
  },
  // People
  listPeople: { method: 'GET', path: '/people', function: 'read', role: 'owner', query: [] },
  listActions: {
    method: 'GET',
    path: '/audit',
    function: 'read',
    role: 'owner',
    query: ['limit', 'cursor'],
  },
} as const satisfies Readonly<Record<string, PortalOperation>>;

/** What people of the operator call. */
export const operatedOperations = {
  listHeldPayments: {
    method: 'GET',
    path: '/operator/payments',
    function: 'pay',
    role: 'operator',
    query: [],
  },
  listAccountPayments: {
    method: 'GET',
    path: '/operator/accounts/{id}/payments',
    function: 'pay',
    role: 'operator',
    query: ['limit', 'cursor'],
  },
  listAccounts: {
    method: 'GET',
    path: '/operator/accounts',
    function: 'operate',
    role: 'operator',
    query: ['limit', 'cursor'],
  },
  openAccount: {
    method: 'POST',
    path: '/operator/accounts',
    function: 'operate',
    role: 'operator',
    query: [],
    isFresh: true,
  },
  showAccount: {
    method: 'GET',
    path: '/operator/accounts/{id}',
    function: 'operate',
    role: 'operator',
    query: [],
  },
  changeAccount: {
    method: 'PATCH',
    path: '/operator/accounts/{id}',
    function: 'operate',
    role: 'operator',
    query: [],
    isFresh: true,
  },
  topUpAccount: {
    method: 'POST',
    path: '/operator/accounts/{id}/top-up',
    function: 'operate',
    role: 'operator',
    query: [],
    isFresh: true,
  },
  inviteToAccount: {
    method: 'POST',
    path: '/operator/accounts/{id}/people',
    function: 'operate',
    role: 'operator',
    query: [],
    isFresh: true,
  },
  findAnything: {
    method: 'GET',
    path: '/operator/search',
    function: 'read',
    role: 'operator',
    query: ['q'],
  },
  getService: {
    method: 'GET',
    path: '/operator/service',
    function: 'read',
    role: 'operator',
    query: ['band'],
  },
  listAccountCreations: {
    method: 'GET',
    path: '/operator/accounts/{id}/creations',
    function: 'read',
    role: 'operator',
    query: ['limit', 'cursor', 'status', 'model', 'key', 'user', 'day'],
  },
  listAccountLedger: {
    method: 'GET',
    path: '/operator/accounts/{id}/ledger',
    function: 'read',
    role: 'operator',
    query: ['limit', 'cursor'],
  },
  listAccountKeys: {
    method: 'GET',
    path: '/operator/accounts/{id}/keys',
    function: 'read',
    role: 'operator',
    query: [],
  },
  listAccountPeople: {
    method: 'GET',
    path: '/operator/accounts/{id}/people',
    function: 'read',
    role: 'operator',
    query: [],
  },
  listAccountDeliveries: {
    method: 'GET',
    path: '/operator/accounts/{id}/deliveries',
    function: 'read',
    role: 'operator',
    query: ['limit', 'cursor', 'outcome', 'creation'],
  },
  listAccountRequests: {
    method: 'GET',
    path: '/operator/accounts/{id}/requests',
    function: 'read',
    role: 'operator',
    query: ['limit', 'cursor', 'outcome', 'status', 'code', 'key', 'door'],
  },
  showOperatedCreation: {
    method: 'GET',
    path: '/operator/creations/{id}',
    function: 'read',
    role: 'operator',
    query: [],
  },
  listFailingWebhooks: {
    method: 'GET',
    path: '/operator/webhooks',
    function: 'read',
    role: 'operator',
    query: [],
  },
  listProviders: {
    method: 'GET',
    path: '/operator/providers',
    function: 'read',
    role: 'operator',
    query: [],
  },
  pauseRoute: {
    method: 'PUT',
    path: '/operator/pauses',
    function: 'operate',
    role: 'operator',
    query: [],
    isFresh: true,
  },
  listOperatorKeys: {
    method: 'GET',
    path: '/operator/keys',
    function: 'operate',
    role: 'operator',
    query: [],
  },
  getMargin: {
    method: 'GET',
    path: '/operator/margin',
    function: 'operate',
    role: 'operator',
    query: days,
  },
} as const satisfies Readonly<Record<string, PortalOperation>>;

/** Of all tables. A bundle that reads one of them alone does not hold the others. */
export const portalOperations = /* @__PURE__ */ Object.assign(
  {},
  memberOperations,
  memberReads,
  operatedOperations,
);

export type PortalOperationName = keyof typeof portalOperations;
