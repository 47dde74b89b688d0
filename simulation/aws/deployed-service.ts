/**
 * The whole service in one world: the real handlers over the real adapters, composed as
 * functions/services.ts does it, with the simulation behind every port that leaves the process.
 */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { createAccountStore, type AccountStore } from '../../adapters/dynamodb/account-store.ts';
import { createChargeStore } from '../../adapters/dynamodb/charge-store.ts';
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import { createDeliveryStore } from '../../adapters/dynamodb/delivery-store.ts';
import { createOpenWorkStore } from '../../adapters/dynamodb/open-work-store.ts';
import { createRequestStore } from '../../adapters/dynamodb/request-store.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { createWalletStore, type WalletStore } from '../../adapters/dynamodb/wallet-store.ts';
import { createSecretBox } from '../../adapters/secret-box.ts';
import { createExecutions } from '../../adapters/step-functions.ts';
import models from '../../catalog/models.json' with { type: 'json' };
import type { Catalog } from '../../core/catalog.ts';
import { requestMillis } from '../../core/limits.ts';
import { startBudget } from '../../core/time-budget.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import type { DeliveryStore } from '../../core/ports/deliveries.ts';
import type { Executions } from '../../core/ports/executions.ts';
import type { Outbound } from '../../core/ports/outbound.ts';
import type { Clock, Log, RandomBytes } from '../../core/ports/runtime.ts';
import type { SecretBox } from '../../core/ports/secret-box.ts';
import { generateImage } from '../../functions/operations/generate-image.ts';
import { getBalance } from '../../functions/operations/get-balance.ts';
import { getCreation } from '../../functions/operations/get-creation.ts';
import { listCreations } from '../../functions/operations/list-creations.ts';
import { listModels } from '../../functions/operations/list-models.ts';
import { quoteImage } from '../../functions/operations/quote-image.ts';
import { serve, type ApiHandler } from '../../functions/http/serve.ts';
import type { ApiServices, SubmitServices } from '../../functions/services.ts';
import { reconcile, type ReconcileEvent } from '../../functions/schedule/reconcile.ts';
import { deliverWebhook } from '../../functions/workflow/deliver-webhook.ts';
import type { Payload } from '../../functions/workflow/payload.ts';
import { refundCharge } from '../../functions/workflow/refund-charge.ts';
import { renderImage } from '../../functions/workflow/render-image.ts';
import type { InvocationResult } from '../../local/lambda/messages.ts';
import { createAwsClients } from './sdk-clients.ts';
import type { Change } from '../table/memory-indexes.ts';
import { Ongoing } from '../world/effects.ts';
import { createMemoryTable, type Input, type MemoryTable } from '../table/memory-table.ts';
import { Refused } from '../table/aws-refusal.ts';
import { createSimulatedOutbound, type OutsideWatch } from '../network/outbound.ts';
import { createBucket, createClock, createProvider, pictures, type Bucket } from '../network/bucket.ts';
import { createStepFunctions, machineArn, type StepFunctions } from './step-functions.ts';
import type { Invocation, World } from '../world/simulated-world.ts';

const resultsBaseUrl = 'https://results.test';
const secretArn = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:encryption';

export type Operation = 'generate' | 'get' | 'list' | 'balance' | 'quote' | 'models';

export interface ServiceWatch extends OutsideWatch {
  readonly onCommit: (changes: readonly Change[]) => void;
  /** A creation was read by its id. */
  readonly onRead: (creation: string) => void;
  /** An API function begins with a request. */
  readonly onSent: (invocation: Invocation, event: APIGatewayProxyEventV2) => void;
  /** An API function answered, or the gateway answered in its place. */
  readonly onServed: (invocation: Invocation, answer: APIGatewayProxyStructuredResultV2) => void;
  /** Every line of a log, and every text of an execution's history. */
  readonly onText: (text: string) => void;
}

/** What an operator's commands use. */
export interface Operator {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly accounts: AccountStore;
  readonly wallet: WalletStore;
  readonly creations: CreationStore;
  readonly deliveries: DeliveryStore;
  readonly executions: Executions;
  readonly secretBox: SecretBox;
  readonly outbound: Outbound;
}

export interface Service {
  readonly table: MemoryTable;
  /** What the adapters are given as their table. */
  readonly store: Table;
  readonly bucket: Bucket;
  readonly stepFunctions: StepFunctions;
  readonly operator: Operator;
  /** A request as API Gateway passes it on; rejects when the answer does not reach the client. */
  readonly request: (
    operation: Operation,
    event: APIGatewayProxyEventV2,
  ) => Promise<APIGatewayProxyStructuredResultV2>;
  readonly reconcile: (event: ReconcileEvent) => Promise<InvocationResult>;
  /** An operator's command; it may die as a function does. */
  readonly operate: (
    name: string,
    work: (operator: Operator) => Promise<unknown>,
  ) => Promise<InvocationResult>;
  readonly rotateEncryption: () => void;
}

/** Time limits as lib/service-stack.ts sets them. */
const limits = {
  api: 29_000,
  render: 780_000,
  deliver: 30_000,
  refund: 30_000,
  reconcile: 55_000,
  operate: 600_000,
} as const;

/** The service of a world, with an empty table. */
export function createService(world: World, watch: ServiceWatch): Service {
  const table = createMemoryTable({ now: world.time.now, onCommit: watch.onCommit });
  const keys = encryptionKeys();
  const stepFunctions = createStepFunctions({
    now: world.time.now,
    outside: world.outside,
    onText: watch.onText,
    invokeTask: (state, input) =>
      invokeTask(
        world,
        state,
        (id) => tasks[state]?.(input as Payload, id) ?? Promise.reject(new Error(`no function ${state}`)),
      ),
    onClosed: ({ status, input, name }) => {
      world.note(`execution ${name} ${status}`);
      if (status === 'SUCCEEDED') return;
      // EventBridge: at least once, some time later.
      const copies = world.dice.chance(`event twice ${name}`, 0.2) ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1) {
        setTimeout(
          () => void runReconcile({ detail: { input, status } }),
          world.dice.between(`event ${name} ${copy}`, 50, 3_000),
        );
      }
    },
  });
  const clients = createAwsClients(world, {
    dynamodb: (operation, input, fault) => {
      const { sk, pk } = (input['Key'] ?? {}) as { sk?: { S: string }; pk?: { S: string } };
      if (operation === 'GetItem' && sk?.S === 'CREATION') watch.onRead(pk?.S ?? '');
      return dynamodb(table, world, operation, input, fault);
    },
    states: stepFunctions.perform,
    secretsmanager: keys.perform,
  });
  const clock = createClock(world);
  const { randomBytes } = world;
  const store: Table = { client: clients.documents, name: 'table', clock, randomBytes };
  const bucket = createBucket(world, clock);
  const outbound = createSimulatedOutbound(world, clock, pictures['png'] ?? Buffer.alloc(0), watch);
  const executions = createExecutions(clients.states, machineArn);
  const creations = createCreationStore(store);
  const charges = createChargeStore(store);
  const deliveries = createDeliveryStore(store);
  const secretBox = createSecretBox({ client: clients.secrets, secretArn, clock, randomBytes });
  const common = (component: string): { clock: Clock; randomBytes: RandomBytes; log: Log } => ({
    clock,
    randomBytes,
    log: createLog(component, watch.onText),
  });
  const api = {
    ...common('api'),
    catalog: models as Catalog,
    resultsBaseUrl,
    authFailureForm: 'envelope' as const,
    outboundRules: 'public' as const,
  };
  const topUpUrl = 'https://portal.test/wallet';
  // As in functions/services.ts: every wait of a request ends with its time.
  const openApi = (): typeof api & ApiServices & { shared: Table } => {
    const budget = startBudget(clock, requestMillis);
    const shared = { ...store, signal: budget.signal };
    return {
      ...api,
      budget,
      shared,
      requests: createRequestStore(shared),
      creations: createCreationStore(shared),
    };
  };
  const openSubmit = (): SubmitServices => {
    const open = openApi();
    const { signal } = open.budget;
    const states = createExecutions(clients.states, machineArn, signal);
    return {
      ...open,
      charges: createChargeStore(open.shared),
      executions: states,
      outbound,
      images: bucket.open(signal),
      topUpUrl,
    };
  };
  const handlers: Readonly<Record<Operation, ApiHandler>> = {
    generate: serve('post', generateImage, openSubmit),
    get: serve('get', getCreation, openApi),
    list: serve('get', listCreations, openApi),
    balance: serve('get', getBalance, openApi),
    quote: serve('post', quoteImage, openApi),
    models: serve('get', listModels, openApi),
  };
  const providers = new Map(['sandbox', 'sandbox-large'].map((name) => [name, createProvider(world, name)]));
  const render = { ...common('render-image'), creations, images: bucket.open(), providers, resultDays: 30 };
  const refund = { ...common('refund-charge'), creations, charges };
  const delivery = {
    ...common('deliver-webhook'),
    creations,
    deliveries,
    secretBox,
    outbound,
    resultsBaseUrl,
  };
  const reconciliation = {
    ...common('reconcile'),
    creations,
    charges,
    openWork: createOpenWorkStore(store),
    executions,
  };
  const operator = {
    clock,
    randomBytes,
    accounts: createAccountStore(store),
    wallet: createWalletStore(store),
    creations,
    deliveries,
    executions,
    secretBox,
    outbound,
  };
  const tasks: Readonly<Record<string, (payload: Payload, id: string) => Promise<Payload>>> = {
    RenderImage: (payload, id) => renderImage(payload, id, render),
    RefundCharge: (payload) => refundCharge(payload, refund),
    DeliverWebhook: (payload) => deliverWebhook(payload, delivery),
  };
  const runReconcile = (event: ReconcileEvent): Promise<InvocationResult> =>
    world.invoke('reconcile', limits.reconcile, () => reconcile(event, reconciliation));

  return {
    table,
    store,
    bucket,
    stepFunctions,
    operator,
    reconcile: runReconcile,
    operate: (name, work) => world.command(`operator-${name}`, limits.operate, () => work(operator)),
    rotateEncryption: keys.rotate,
    request: async (operation, event) => {
      let invocation: Invocation | undefined;
      const result = await world.invoke(operation, limits.api, (id) => {
        invocation = world.current();
        if (invocation) watch.onSent(invocation, event);
        const named = { ...event, requestContext: { ...event.requestContext, requestId: id } };
        return handlers[operation](named, { awsRequestId: id } as Context);
      });
      const answer = result.ok
        ? (result.payload as APIGatewayProxyStructuredResultV2)
        : gatewayAnswer(result.error.errorType);
      if (invocation) watch.onServed(invocation, answer);
      return world.call({ service: 'gateway', operation, target: '' }, () => answer);
    },
  };
}

/** What API Gateway answers by itself: 503 when its patience ends, 500 for a function that died. */
function gatewayAnswer(errorType: string): APIGatewayProxyStructuredResultV2 {
  return {
    statusCode: errorType === 'Sandbox.Timedout' ? 503 : 500,
    headers: {},
    body: '{"message":"gateway"}',
  };
}

const taskLimits: Readonly<Record<string, number>> = {
  RenderImage: limits.render,
  RefundCharge: limits.refund,
  DeliverWebhook: limits.deliver,
};

/** A Task's invocation, and what can go wrong between Step Functions and Lambda. */
async function invokeTask(
  world: World,
  state: string,
  work: (id: string) => Promise<Payload>,
): Promise<InvocationResult> {
  const run = (): Promise<InvocationResult> => world.invoke(state, taskLimits[state] ?? 30_000, work);
  const failed = (errorType: string): InvocationResult => ({
    ok: false,
    error: { errorType, errorMessage: 'simulated' },
  });
  const asked = world.call({ service: 'task', operation: 'invoke', target: state }, (fault) => fault);
  const fault = await asked.catch((error: unknown) =>
    error instanceof Refused ? ('error' as const) : Promise.reject(error as Error),
  );
  switch (fault) {
    case 'error':
      return failed('Lambda.ServiceException');
    case 'no_room':
      return failed('Lambda.TooManyRequestsException');
    case 'twice':
      return Promise.race([run(), run()]);
    case 'unheard':
      void run();
      return failed('Lambda.Unknown');
    default:
      return run();
  }
}

function dynamodb(
  table: MemoryTable,
  world: World,
  operation: string,
  input: Input,
  fault: string | undefined,
): object | Ongoing<object> {
  if (operation === 'TransactWriteItems') return new Ongoing(table.begin(input));
  if (fault === 'unprocessed' || fault === 'all_unprocessed') {
    const wanted = input['RequestItems'] as Readonly<Record<string, { Keys: object[] }>>;
    const [[name, request] = ['', { Keys: [] }]] = Object.entries(wanted);
    // The first of the keys is answered, once; later, or with all_unprocessed from the second try on, none is.
    const kept = request.Keys.slice(0, 1);
    const answered = table.perform(operation, { RequestItems: { [name]: { Keys: kept } } });
    return {
      ...answered,
      UnprocessedKeys: { [name]: { ...request, Keys: request.Keys.slice(kept.length) } },
    };
  }
  return table.perform(operation, input, fault === 'lag' ? world.dice.between('lag', 500, 20_000) : 0);
}

function createLog(component: string, onText: (text: string) => void): Log {
  const write = (event: string, fields: Readonly<Record<string, unknown>> = {}): void =>
    onText(JSON.stringify({ component, event, ...fields }));
  return { info: write, alarm: write };
}

/** Secrets Manager with the one secret that the service has. */
function encryptionKeys(): { perform: (operation: string, input: Input) => object; rotate: () => void } {
  let version = 1;
  return {
    rotate: () => void (version += 1),
    perform: (_operation, input) => {
      const id =
        typeof input['VersionId'] === 'string'
          ? input['VersionId']
          : `version-${version}-0000-0000-0000-000000000000`;
      return { VersionId: id, SecretString: `encryption-secret-of-${id}` };
    },
  };
}
