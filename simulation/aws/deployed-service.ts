/**
 * The whole service in one world: the real handlers over the real adapters, put together as
 * functions/services/ does it. The simulation stands behind every port through which the service leaves its
 * process. The file is long because it lists all handlers and all ports of the service.
 */
import type {
  APIGatewayProxyEvent,
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2,
  Context,
} from 'aws-lambda';
import { createAccountStore, type AccountStore } from '../../adapters/dynamodb/account-store.ts';
import { createChargeStore } from '../../adapters/dynamodb/charge-store.ts';
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import { createDeliveryStore } from '../../adapters/dynamodb/delivery-store.ts';
import { createEventLog } from '../../adapters/dynamodb/event-log.ts';
import { createHeldPlaces } from '../../adapters/dynamodb/held-places.ts';
import { createHealthStore } from '../../adapters/dynamodb/health-store.ts';
import { createNoticeStore } from '../../adapters/dynamodb/notice-store.ts';
import { createOpenWorkStore } from '../../adapters/dynamodb/open-work-store.ts';
import {
  createOperatorCatalogStore,
  type OperatorCatalogStore,
} from '../../adapters/dynamodb/operator-catalog-store.ts';
import { readOperatorCatalog, readOperatorCatalogInBatch } from '../../adapters/dynamodb/operator-catalog.ts';
import { createRequestStore } from '../../adapters/dynamodb/request-store.ts';
import { createRetryStore } from '../../adapters/dynamodb/retry-store.ts';
import { createServiceSwitch } from '../../adapters/dynamodb/service-switch.ts';
import { createUploadStore } from '../../adapters/dynamodb/upload-store.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { createWalletStore, type WalletStore } from '../../adapters/dynamodb/wallet-store.ts';
import { createSecretBox } from '../../adapters/secret-box.ts';
import { createExecutions, createNoticeExecutions } from '../../adapters/step-functions.ts';
import { createTasks } from '../../adapters/step-functions-tasks.ts';
import models from '../../catalog/models.json' with { type: 'json' };
import costs from '../../catalog/provider-costs.json' with { type: 'json' };
import type { Catalog } from '../../core/catalog.ts';
import type { CancelServices } from '../../core/cancellation.ts';
import type { Schema } from '../../core/schema-version.ts';
import type { ImageProvider } from '../../core/provider.ts';
import type { ProviderCosts } from '../../core/provider-costs.ts';
import type { RouteOrder } from '../../core/route-order.ts';
import {
  defaultServiceCapacity,
  heldRequestMillis,
  heldShare,
  mostHeldReads,
  requestMillis,
} from '../../core/limits.ts';
import {
  soldCatalogs,
  type BeforeCatalog,
  type CatalogMemory,
  type SoldCatalogs,
} from '../../core/sold-catalog.ts';
import { startBudget } from '../../core/time-budget.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import type { DeliveryStore } from '../../core/ports/deliveries.ts';
import type { Executions } from '../../core/ports/executions.ts';
import type { Door } from '../../core/ports/held.ts';
import type { NoticeStore } from '../../core/ports/notices.ts';
import type { Outbound } from '../../core/ports/outbound.ts';
import type { Clock, Log, RandomBytes } from '../../core/ports/runtime.ts';
import type { Claims } from '../../core/ports/identity-provider.ts';
import type { ServiceSwitch } from '../../core/ports/service-switch.ts';
import type { SecretBox } from '../../core/ports/secret-box.ts';
import { cancelCreation } from '../../functions/operations/cancel/cancel-creation.ts';
import { createUpload } from '../../functions/operations/uploads/create-upload.ts';
import { generateImage } from '../../functions/operations/generate/generate-image.ts';
import { getBalance } from '../../functions/operations/get-balance.ts';
import { getCreation } from '../../functions/operations/get-creation.ts';
import { listCreations } from '../../functions/operations/list-creations.ts';
import { listEvents } from '../../functions/operations/list-events.ts';
import { listModels } from '../../functions/operations/list-models.ts';
import { quoteImage } from '../../functions/operations/generate/quote-image.ts';
import { receiveCallback } from '../../functions/operations/receive-callback.ts';
import type { ApiHandler } from '../../functions/http/framed.ts';
import { serve } from '../../functions/http/serve.ts';
import { withCatalog } from '../../functions/http/with-catalog.ts';
import type { ListServices, QuoteServices } from '../../functions/services/api.ts';
import type { CancelApiServices } from '../../functions/services/cancel.ts';
import type { EventServices } from '../../functions/services/events.ts';
import type { UploadServices } from '../../functions/services/upload.ts';
import type { SubmitServices } from '../../functions/services/submit.ts';
import { reconcile, type ReconcileEvent } from '../../functions/schedule/reconcile.ts';
import { deliverWebhook } from '../../functions/workflow/deliver-webhook.ts';
import { creationIdOf, type Payload } from '../../functions/workflow/payload.ts';
import { refundCharge } from '../../functions/workflow/refund-charge.ts';
import { renderImage } from '../../functions/workflow/render-image.ts';
import type { InvocationResult } from '../../local/lambda/messages.ts';
import { gatewayLimits } from '../limits/api-gateway.ts';
import { lambdaLimits } from '../limits/lambda.ts';
import { otherRegion } from '../limits/step-functions.ts';
import type { AwsAccount, RequestFrom } from './aws-account.ts';
import { createSimulatedTable, tableName, type Change, type SimulatedTable } from './simulated-table.ts';
import { asTableRequest } from './table-request.ts';
import { createBucket, type Bucket } from '../network/bucket.ts';
import { createSimulatedOutbound, type OutsideWatch } from '../network/outbound.ts';
import {
  callingModel,
  callingVendor,
  createCallingVendor,
  type CallingVendor,
  type VendorHabits,
  type SentCallback,
} from '../network/calling-vendor.ts';
import {
  createFlappingProvider,
  flappingCosts,
  flappingProviders,
  flappingRoutes,
  type FlappingWatch,
} from '../network/flapping-providers.ts';
import { createProvider, pictures } from '../network/providers.ts';
import { flappingWeather, type Forecast } from '../network/weather.ts';
import type { Ongoing } from '../world/effects.ts';
import type { Dice } from '../world/dice.ts';
import { createClock } from '../world/function-clock.ts';
import type { CallbackWatch } from '../watches/callback-watch.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import { answerOfDynamodb } from './dynamodb-endpoint.ts';
import { createEncryptionSecret } from './encryption-secret.ts';
import { createAwsClients } from './sdk-clients.ts';
import { createOpenai, type OpenaiAnswer, type OpenaiWatch } from './openai-service.ts';
import { createPortal, originSecretArn, originSecretAt, type PortalFunctionName } from './portal-service.ts';
import { createReleases, releaseSchemas, type Release, type Releases } from './releases.ts';
import { createStepFunctions, machineArns, type StepFunctions } from './step-functions.ts';
import { invokeTask } from './task-invocation.ts';

const resultsBaseUrl = 'https://results.test';
const secretArn = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:encryption';

export type Operation =
  | 'generate'
  | 'get'
  | 'list'
  | 'events'
  | 'balance'
  | 'quote'
  | 'models'
  | 'upload'
  | 'cancel'
  | PortalFunctionName;

export interface ServiceWatch extends OutsideWatch, OpenaiWatch, FlappingWatch {
  readonly onCommit: (changes: readonly Change[]) => void;
  /** Is told that a creation was read by its id. */
  readonly onRead: (creation: string) => void;
  /** Is told that an API function begins with a request. */
  readonly onSent: (invocation: Invocation, event: APIGatewayProxyEventV2) => void;
  /** Is told that an API function answered, or that the gateway answered in its place. */
  readonly onServed: (invocation: Invocation, answer: APIGatewayProxyStructuredResultV2) => void;
  /** Is told that a Task invokes a function, with what its execution was started, and what the Task gets. */
  readonly onTask: (functionName: string, startedWith: Payload, input: Payload) => void;
  /** Is told which creation an invocation renders. */
  readonly onRenders: (invocation: string, creation: string) => void;
  /** Is told with which input an execution of a creation is started. */
  readonly onStart: (input: string) => void;
  /** Is told that a Task invokes a function while the run's invocation before has not ended. */
  readonly onRunAgain: (creation: string, earlier: Invocation) => void;
  /** Is told that an execution ended without success, and with what it was started. */
  readonly onDied: (name: string, startedWith: Payload) => void;
  /** Is told that the code of a Task did not understand its creation, and with which release its execution began. */
  readonly onNotUnderstood: (startedWith: Payload, began: Release) => void;
  /** Is told how a callback was answered. */
  readonly onCallback: CallbackWatch['onCallback'];
  /** Is told that a task was ended with success, and with which output. */
  readonly onTaskEnded: CallbackWatch['onTaskEnded'];
  /** Is told the plain text of a webhook secret that was sealed. */
  readonly onSealed: (sealed: string, plain: string) => void;
  /** Is told every log line, and every text in the history of an execution. */
  readonly onText: (text: string) => void;
}

/** The ports that an operator's commands use. */
export interface Operator {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly accounts: AccountStore;
  readonly wallet: WalletStore;
  readonly creations: CreationStore;
  readonly deliveries: DeliveryStore;
  readonly notices: NoticeStore;
  readonly executions: Executions;
  readonly secretBox: SecretBox;
  readonly outbound: Outbound;
  readonly cancellation: CancelServices;
  readonly operatorCatalog: OperatorCatalogStore;
  readonly serviceSwitch: ServiceSwitch;
}

export interface Service {
  readonly table: SimulatedTable;
  /** The table as the adapters know it. */
  readonly store: Table;
  readonly bucket: Bucket;
  readonly stepFunctions: StepFunctions;
  readonly releases: Releases;
  readonly vendor: CallingVendor;
  readonly operator: Operator;
  /** Whether a vendor has stopped this job. */
  readonly isStopped: (jobId: string) => boolean;
  /** Sends a request as API Gateway passes it on. Rejects when the answer does not reach the client. */
  readonly request: (
    operation: Operation,
    event: APIGatewayProxyEventV2,
  ) => Promise<APIGatewayProxyStructuredResultV2>;
  /** Sends a request of an openai library. Rejects when the answer does not reach the client. */
  readonly openai: (event: APIGatewayProxyEvent) => Promise<OpenaiAnswer>;
  /** Somebody comes back from the issuer. Resolves with the person or a refusal; undefined: no answer came. */
  readonly signIn: (claims: Claims) => Promise<string | undefined>;
  readonly reconcile: (event: ReconcileEvent) => Promise<InvocationResult>;
  /** Runs an operator's command. A command may die, as a function may. */
  readonly operate: (
    name: string,
    work: (operator: Operator) => Promise<unknown>,
  ) => Promise<InvocationResult>;
  readonly rotateEncryption: () => void;
}

/**
 * In the simulation this vendor renders one model of the sandbox, so that its creations run on the callback
 * machine. It is polled like the others.
 */
const callingBack = 'fal';
export const catalog = {
  ...models,
  models: models.models.map((model) => {
    const { id, routes } = model;
    if (id === 'sandbox-standard')
      return { ...model, routes: routes.map((route) => ({ ...route, provider: callingBack })) };
    const flapping = flappingRoutes[id];
    if (flapping) {
      const [route] = routes;
      return {
        ...model,
        routes: flapping.map(([provider, provider_model]) => ({ ...route, provider, provider_model })),
      };
    }
    if (id !== callingModel) return model;
    const called = routes.filter(({ provider }) => provider === callingVendor);
    return { ...model, routes: [...called, ...called.map((route) => ({ ...route, provider: 'sandbox' }))] };
  }),
} as Catalog;

/** The time limits of the functions, as lib/service-stack.ts sets them, and of an operator's command. */
const limitMillis = {
  api: 29_000,
  render: 780_000,
  deliver: 30_000,
  refund: 30_000,
  reconcile: 55_000,
  callback: 90_000,
  operate: 600_000,
} as const;

const environments = 3;

/** How many requests of one account are held at once: the share of a small account of AWS, or of a larger one. */
export const heldPlacesOf = (dice: Dice): number =>
  dice.chance('few places of held requests', 0.3) ? heldShare.least : 8;

/** What Step Functions allows StartExecution, and what the reconciler is told of it. */
export interface StartLimits {
  readonly startsPerSecond: number;
  /** So many starts at once, after a pause. */
  readonly startBurst: number;
}

export interface ServiceOptions extends StartLimits {
  /** The weather of the providers that flap. */
  readonly forecast: Forecast;
  readonly routeOrder: RouteOrder;
  /** How the vendor behaves that calls back. */
  readonly vendorHabits: VendorHabits;
  /** What a load has in the place of what the seeds have. */
  readonly load: LoadParts;
  /** The setting: how many creations may be open at once in the whole service. */
  readonly serviceCapacity: number;
}

/** A load has an account with all limits of AWS, and cheaper ways out of the process. */
export interface LoadParts {
  readonly account: AwsAccount;
  readonly createClients: typeof createAwsClients;
  readonly outbound: Outbound;
}

/** The throttles of Step Functions, of every region but us-east-1, us-west-2 and eu-west-1. */
const smallRegion: StartLimits = {
  startsPerSecond: otherRegion.startExecution.perSecond,
  startBurst: otherRegion.startExecution.burst,
};

/** The function behind a Task of the state machine. */
interface Task {
  readonly limitMillis: number;
  readonly run: (payload: Payload, id: string, schema: Schema) => Promise<Payload>;
}

/** Creates the service of a world with an empty table. */
export function createService(
  world: World,
  watch: ServiceWatch,
  options: Partial<ServiceOptions> = {},
): Service {
  const { startsPerSecond, startBurst } = { ...smallRegion, ...options };
  const { serviceCapacity = defaultServiceCapacity } = options;
  const { forecast = flappingWeather(world.dice, world.time.now()), routeOrder = 'given', load } = options;
  const account = load?.account;
  const table = createSimulatedTable({
    now: world.time.now,
    remembers: load === undefined,
    onCommit: (changes) => {
      throughput?.onCommit(changes);
      watch.onCommit(changes);
    },
  });
  const throughput = account?.tableOf(table.get);
  table.perform('UpdateItem', {
    TableName: tableName,
    Key: { pk: { S: 'SERVICE' }, sk: { S: 'SERVICE' } },
    UpdateExpression: 'ADD enabledProviders :provider SET routeOrder = :order',
    ExpressionAttributeValues: {
      ':provider': { SS: [callingBack, callingVendor, ...flappingProviders] },
      ':order': { S: routeOrder },
    },
  });
  const encryptionSecret = createEncryptionSecret();
  const hasNewOriginSecret = world.dice.chance('the origin secret is replaced', 0.5);
  const releases = createReleases(world);
  /** For an invocation that runs the release of the moment at which it begins. */
  const ofToday = (): { readonly schema: Schema } => ({ schema: releases.begin(releases.current()) });
  /** The last invocation by a Task of each run. */
  const lastOfRun = new WeakMap<object, Invocation>();
  const stepFunctions = createStepFunctions({
    now: world.time.now,
    limits: account?.quotas.steps ?? {
      ...otherRegion,
      startExecution: { perSecond: startsPerSecond, burst: startBurst },
    },
    ...(account && {
      onThrottled: account.note,
      transitionWait: account.transitionWait,
      forgets: true,
    }),
    release: releases.current,
    outside: world.outside,
    onText: watch.onText,
    invokeTask: ({ state, functionName, input, startedWith, release, run }) =>
      invokeTask(world, state, async () => {
        const task = tasks[functionName];
        if (!task) throw new Error(`no function ${functionName}`);
        const started = JSON.parse(startedWith) as Payload;
        watch.onTask(functionName, started, input as Payload);
        const result = await invoke(functionName, state, task.limitMillis, (id) => {
          const invocation = world.current();
          const earlier = run && lastOfRun.get(run);
          if (earlier && world.live.has(earlier)) watch.onRunAgain(started.creation_id, earlier);
          if (run && invocation) lastOfRun.set(run, invocation);
          return task.run(input as Payload, id, releases.begin(release));
        });
        if (result === 'throttled')
          return { ok: false, error: { errorType: 'Lambda.TooManyRequestsException', errorMessage: '' } };
        if (!result.ok && result.error.errorType === 'NewerRelease') watch.onNotUnderstood(started, release);
        return result;
      }),
    onClosed: ({ status, input, name, machineArn }) => {
      world.note(`execution ${name} ${status}`);
      // The rule for ended executions names the machines of creations alone.
      if (status === 'SUCCEEDED' || machineArn === machineArns.notices) return;
      watch.onDied(name, JSON.parse(input) as Payload);
      // EventBridge delivers an event at least once, and some time later.
      const copies = world.dice.chance(`event twice ${name}`, 0.2) ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1) {
        setTimeout(
          () => void runReconcile({ detail: { name, input, status } }),
          world.dice.between(`event ${name} ${copy}`, 50, 3_000),
        );
      }
    },
  });
  /** Invokes a function, when Lambda has room for it. */
  async function invoke(
    functionName: string,
    ...[name, limit, work]: Parameters<World['invoke']>
  ): Promise<InvocationResult | 'throttled'> {
    if (!account) return world.invoke(name, limit, work);
    const running = account.functions.begin(functionName);
    if (!running) return 'throttled';
    if (running.coldMillis > 0) await world.sleep(running.coldMillis);
    const result = await world.invoke(name, limit, work);
    running.end();
    return result;
  }

  const clients = (load?.createClients ?? createAwsClients)(world, {
    dynamodb: (operation, input, fault) => {
      const { Key: key = {} } = asTableRequest(input);
      if (operation === 'GetItem' && key['sk']?.S === 'CREATION') watch.onRead(key['pk']?.S ?? '');
      const answer = (): object | Ongoing<object> => answerOfDynamodb(table, world, operation, input, fault);
      return throughput ? throughput.serve(operation, input, answer) : answer();
    },
    states: (operation, input) => {
      const isOfCreation = operation === 'StartExecution' && input['stateMachineArn'] !== machineArns.notices;
      if (isOfCreation) watch.onStart(String(input['input']));
      const answer = stepFunctions.perform(
        operation,
        isOfCreation && !load && world.dice.chance(`older release ${String(input['name'])}`, 0.1)
          ? { ...input, input: withoutRenderer(String(input['input'])) }
          : input,
      );
      if (operation === 'SendTaskSuccess') watch.onTaskEnded(String(input['output']));
      return answer;
    },
    secretsmanager: (operation, input) =>
      input['SecretId'] === originSecretArn
        ? originSecretAt(input['VersionStage'], hasNewOriginSecret)
        : encryptionSecret.perform(operation, input),
  });
  const clock = createClock(world);
  const { randomBytes } = world;
  const store: Table = { client: clients.documents, name: tableName, clock, randomBytes };
  const bucket = createBucket(world, clock);
  const outbound =
    load?.outbound ?? createSimulatedOutbound(world, clock, pictures['png'] ?? Buffer.alloc(0), watch);
  const executions = createExecutions(clients.states, machineArns);

  const deliveries = createDeliveryStore(store);
  const notices = createNoticeStore(store);
  const noticeExecutions = createNoticeExecutions(clients.states, machineArns.notices);
  const box = createSecretBox({ client: clients.secrets, secretArn, clock, randomBytes });
  const secretBox: SecretBox = {
    open: (account, sealed) => box.open(account, sealed),
    seal: async (account, plain) => {
      const sealed = await box.seal(account, plain);
      watch.onSealed(sealed, plain);
      return sealed;
    },
  };
  const common = (component: string): { clock: Clock; randomBytes: RandomBytes; log: Log } => ({
    clock,
    randomBytes,
    log: createLog(component, watch.onText),
  });
  const creations = createCreationStore(store);
  const charges = createChargeStore(store);
  const onTaskDefect =
    (component: string) =>
    (error: string): void => {
      createLog(component, watch.onText).alarm('task_not_ended', { error });
    };
  const api = {
    ...common('api'),
    resultsBaseUrl,
    authFailureForm: 'envelope' as const,
    outboundRules: 'public' as const,
  };
  /** A function runs in several environments, and each keeps the catalog that it read last. */
  const memories = Array.from({ length: environments }, (): CatalogMemory => ({ ours: catalog }));
  let opened = 0;
  const catalogs = (shared: Table): SoldCatalogs => {
    opened += 1;
    const memory = memories[opened % environments] ?? { ours: catalog };
    return soldCatalogs(memory, () => readOperatorCatalogInBatch(shared));
  };
  const topUpUrl = 'https://portal.test/wallet';
  // As in functions/services.ts, every wait of a request ends when the time budget of the request is used up.
  const openApi = (
    millis: number = requestMillis,
  ): typeof api & ListServices & { shared: Table; catalogs: SoldCatalogs } => {
    const budget = startBudget(clock, millis);
    const shared = { ...store, signal: budget.signal };
    return {
      ...api,
      ...ofToday(),
      budget,
      shared,
      catalogs: catalogs(shared),
      requests: createRequestStore(shared),
      creations: createCreationStore(shared),
    };
  };
  const openQuote = (millis?: number): ReturnType<typeof openApi> & BeforeCatalog<QuoteServices> => {
    const open = openApi(millis);
    return { ...open, uploads: createUploadStore(open.shared) };
  };
  const openEvents = (): EventServices => {
    const open = openApi();
    const held = createHeldPlaces(open.shared, 'events', mostHeldReads);
    return { ...open, events: createEventLog(open.shared), held };
  };
  const openUpload = (): UploadServices => {
    const open = openApi();
    return { ...open, uploads: createUploadStore(open.shared), uploadTargets: bucket.targets };
  };
  const openSubmit = (
    millis?: number,
    door: Door = 'generate',
  ): ReturnType<typeof openQuote> & BeforeCatalog<SubmitServices> => {
    const open = openQuote(millis);
    const { signal } = open.budget;
    return {
      ...open,
      charges: createChargeStore(open.shared),
      serviceCapacity,
      executions: createExecutions(clients.states, machineArns, signal),
      notices: createNoticeStore(open.shared),
      noticeExecutions: createNoticeExecutions(clients.states, machineArns.notices, signal),
      outbound,
      held: createHeldPlaces(open.shared, door, heldPlacesOf(world.dice)),
      images: bucket.open(signal),
      topUpUrl,
    };
  };
  const apiHandlers: Readonly<Record<Exclude<Operation, PortalFunctionName>, ApiHandler>> = {
    generate: serve('post', withCatalog(generateImage), () => openSubmit()),
    get: serve('get', withCatalog(getCreation), () => openApi()),
    list: serve('get', listCreations, () => openApi()),
    events: serve('get', listEvents, openEvents),
    balance: serve('get', getBalance, () => openApi()),
    quote: serve('post', withCatalog(quoteImage), () => openQuote()),
    upload: serve('post', createUpload, openUpload),
    models: serve('get', withCatalog(listModels), () => openApi()),
    cancel: serve('post', cancelCreation, () => openCancel()),
  };
  const openai = createOpenai(world, watch, () => {
    const open = openSubmit(heldRequestMillis, 'images');
    return { ...open, aliases: {}, retries: createRetryStore(open.shared) };
  });
  const vendor = createCallingVendor(world, receive, options.vendorHabits);
  const stopping = [createProvider(world, callingBack, 'sandbox'), vendor.provider];
  const providers = new Map<string, ImageProvider>(
    [
      createProvider(world, 'sandbox'),
      createProvider(world, 'sandbox-large'),
      ...stopping,
      ...flappingProviders.map((name) => createFlappingProvider(world, name, forecast, watch)),
    ].map((provider) => [provider.name, provider]),
  );
  /** Only these vendors can stop a job. */
  const stoppable = new Map(stopping.map((provider) => [provider.name, provider]));
  const portal = createPortal({
    common: common('portal'),
    ofToday,
    store,
    states: clients.states,
    secrets: clients.secrets,
    secretBox,
    outbound,
    catalogs,
    bucket,
    topUpUrl,
    serviceCapacity,
    tasks: (signal) => createTasks(clients.states, { onDefect: onTaskDefect('portal'), signal }),
    stoppable,
  });
  const handlers: Readonly<Record<Operation, ApiHandler>> = { ...apiHandlers, ...portal.handlers };
  const openCancel = (): CancelApiServices => {
    const open = openApi();
    const { signal } = open.budget;
    return {
      ...open,
      creations: createCreationStore(open.shared),
      charges: createChargeStore(open.shared),
      tasks: createTasks(clients.states, { onDefect: onTaskDefect('api'), signal }),
      providers: stoppable,
    };
  };
  const render = {
    ...common('render-image'),
    creations,
    images: bucket.open(),
    providers,
    tasks: createTasks(clients.states, {
      onDefect: onTaskDefect('render-image'),
    }),
    resultDays: 30,
    callbackBaseUrl: 'https://api.test',
    providerCosts: { ...costs, costs: [...costs.costs, ...flappingCosts] } as ProviderCosts,
    health: createHealthStore(store),
    operatorCosts: async () => (await readOperatorCatalog(store))?.costs ?? [],
  };
  const callbacks = {
    ...render,
    ...common('receive-callback'),
  };
  const refund = { ...common('refund-charge'), creations, charges };
  const delivery = {
    ...common('deliver-webhook'),
    creations,
    deliveries,
    notices,
    noticeExecutions,
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
    notices,
    noticeExecutions,
    startsPerSecond,
  };
  const operator = {
    clock,
    randomBytes,
    accounts: createAccountStore(store),
    wallet: createWalletStore(store),
    creations,
    deliveries,
    notices,
    executions,
    secretBox,
    outbound,
    operatorCatalog: createOperatorCatalogStore(store),
    serviceSwitch: createServiceSwitch(store),
    // Each command replaces the schema by that of its own release.
    cancellation: {
      ...common('operator'),
      schema: releaseSchemas.before,
      creations,
      charges,
      tasks: render.tasks,
      providers: stoppable,
    },
  };
  const renderer: Task = {
    limitMillis: limitMillis.render,
    run: (payload, id, schema) => {
      watch.onRenders(id, creationIdOf(payload));
      // Each environment has its own memory of the routes' health. Here each has just begun.
      return renderImage(payload, id, { ...render, health: createHealthStore(store), schema });
    },
  };
  const tasks: Readonly<Record<string, Task>> = {
    RenderImage: renderer,
    RenderImageSmall: renderer,
    RenderImageLarge: renderer,
    RefundCharge: {
      limitMillis: limitMillis.refund,
      run: (payload, _id, schema) => refundCharge(payload, { ...refund, schema }),
    },
    DeliverWebhook: {
      limitMillis: limitMillis.deliver,
      run: (payload, _id, schema) => deliverWebhook(payload, { ...delivery, schema }),
    },
  };
  async function runReconcile(
    event: ReconcileEvent,
    waitMillis: number = lambdaLimits.asynchronousRetryMillis.first,
  ): Promise<InvocationResult> {
    const result = await invoke('reconcile', 'reconcile', limitMillis.reconcile, () => {
      const endsAt = world.time.now() + limitMillis.reconcile;
      return reconcile(event, { ...reconciliation, ...ofToday() }, () => endsAt - world.time.now());
    });
    if (result !== 'throttled') return result;
    // Lambda keeps an asynchronous invocation and tries it again.
    await world.sleep(waitMillis);
    return runReconcile(event, Math.min(2 * waitMillis, lambdaLimits.asynchronousRetryMillis.longest));
  }

  /** The gateway passes a request on, unless it throttles the request itself. */
  function serveRequest(
    from: RequestFrom,
    ...of: Parameters<World['invoke']>
  ): ReturnType<typeof invoke> | 'too_many' {
    if (account?.admitsRequest(from) === false) return 'too_many';
    return invoke(of[0], ...of);
  }

  /** A callback arrives. Gives the status of the answer, or 0 when the vendor gets no answer. */
  async function receive(sent: SentCallback): Promise<number> {
    const result = await serveRequest('vendor', 'callback', limitMillis.callback, (id) =>
      receiveCallback(sent.event, id, { ...callbacks, ...ofToday() }),
    );
    const answer = answerOf(result);
    watch.onCallback(sent, answer);
    const heard = world.call({ service: 'gateway', operation: 'callback', target: '' }, () => answer);
    return heard.then(
      ({ statusCode = 0 }) => statusCode,
      () => 0,
    );
  }

  return {
    table,
    store,
    bucket,
    vendor,
    isStopped: (jobId) => stopping.some((provider) => provider.isStopped(jobId)),
    stepFunctions,
    releases,
    openai,
    operator,
    signIn: async (claims) => {
      const result = await world.invoke('sign-in', limitMillis.api, () => portal.enter(claims));
      return result.ok ? String(result.payload) : undefined;
    },
    reconcile: (event) => runReconcile(event),
    operate: (name, work) =>
      world.command(`operator-${name}`, limitMillis.operate, () =>
        work({ ...operator, cancellation: { ...operator.cancellation, ...ofToday() } }),
      ),
    rotateEncryption: encryptionSecret.rotate,
    request: async (operation, event) => {
      let invocation: Invocation | undefined;
      const result = await serveRequest('client', operation, limitMillis.api, (id) => {
        invocation = world.current();
        if (invocation) watch.onSent(invocation, event);
        const named = { ...event, requestContext: { ...event.requestContext, requestId: id } };
        return handlers[operation](named, { awsRequestId: id } as Context);
      });
      const answer = answerOf(result);
      if (invocation) watch.onServed(invocation, answer);
      return world.call({ service: 'gateway', operation, target: '' }, () => answer);
    },
  };
}

/** The input with which the release before the three renderers starts an execution, during an update. */
function withoutRenderer(text: string): string {
  const { creation_id, v = 1 } = JSON.parse(text) as Payload;
  // No such release has to do with a newer record.
  return v > 1 ? text : JSON.stringify({ creation_id });
}

/** The answer of the function, or of the gateway in its place. */
function answerOf(result: InvocationResult | 'throttled' | 'too_many'): APIGatewayProxyStructuredResultV2 {
  if (result === 'too_many') return gatewayAnswer(gatewayLimits.throttledStatus);
  if (result === 'throttled') return gatewayAnswer(gatewayLimits.statusOfThrottledFunction);
  if (result.ok) return result.payload as APIGatewayProxyStructuredResultV2;
  // 503 when the function took too long, and 500 when the function died.
  return gatewayAnswer(result.error.errorType === 'Sandbox.Timedout' ? 503 : 500);
}

function gatewayAnswer(statusCode: number): APIGatewayProxyStructuredResultV2 {
  return { statusCode, headers: {}, body: '{"message":"gateway"}' };
}

function createLog(component: string, onText: (text: string) => void): Log {
  const write = (event: string, fields: Readonly<Record<string, unknown>> = {}): void =>
    onText(JSON.stringify({ component, event, ...fields }));
  return { info: write, alarm: write };
}
