/**
 * The whole service in one world: the real handlers, opened as the functions open them, over a simulated platform.
 * The file is long because it lists all handlers and all parts of the platform.
 */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import type { InvocationResult } from '../../../local/lambda/messages.ts';
import { withCatalog } from '../../../service/api/admit.ts';
import { cancelCreation, deletion, getCreation, listCreations } from '../../../service/api/creations.ts';
import type { ApiHandler } from '../../../service/api/framed.ts';
import { getBalance } from '../../../service/api/get-balance.ts';
import { listModels } from '../../../service/api/list-models.ts';
import {
  openApi,
  openBalance,
  openCancel,
  openCatalog,
  openDelete,
  openList,
  openQuote,
  openUserTokens,
} from '../../../service/api/open.ts';
import { serve, unknownRoute } from '../../../service/api/serve.ts';
import { userTokens } from '../../../service/api/user-tokens.ts';
import { createReplaceableSecret } from '../../../service/aws/secrets.ts';
import type { Catalog, ProviderCosts } from '../../../service/catalog/catalog-schema.ts';
import models from '../../../service/catalog/models.json' with { type: 'json' };
import costs from '../../../service/catalog/provider-costs.json' with { type: 'json' };
import type { RouteOrder } from '../../../service/catalog/provider-store.ts';
import { defaultLimits, defaultServiceCapacity, heldShare } from '../../../service/contract/limits.ts';
import { copyOwed } from '../../../service/copies/copy-picture.ts';
import { openCopies, openEndpointsAndBucket } from '../../../service/copies/open.ts';
import { endpointsAndBucket } from '../../../service/copies/results-bucket.ts';
import { openRefund } from '../../../service/creations/open-refund.ts';
import { creationIdOf, type NoticePayload, type Payload } from '../../../service/creations/payload.ts';
import { refundCharge } from '../../../service/creations/refund-creation.ts';
import { listEvents } from '../../../service/events/list-events.ts';
import { openEvents } from '../../../service/events/open.ts';
import { createUpload } from '../../../service/generate/create-upload.ts';
import { generateImage } from '../../../service/generate/generate-image.ts';
import { openSubmit, openUpload } from '../../../service/generate/open.ts';
import { quoteImage } from '../../../service/generate/quote-image.ts';
import { openOpenaiImages } from '../../../service/openai/open.ts';
import { operatorHandlers } from '../../../service/operator/handlers.ts';
import { openOperatorApi } from '../../../service/operator/open.ts';
import { serveOperator } from '../../../service/operator/serve-operator.ts';
import type { Outbound } from '../../../service/outbound/outbound.ts';
import { tableOf } from '../../../service/platform/common.ts';
import { openOperator } from '../../../service/platform/open-operator.ts';
import type { Platform } from '../../../service/platform/platform.ts';
import type { Claims } from '../../../service/portal/sign-in/openid.ts';
import { eraseContent } from '../../../service/erase/erase-content.ts';
import { openEraseContent } from '../../../service/erase/open.ts';
import { openReconcile } from '../../../service/reconcile/open.ts';
import { reconcile, type ReconcileEvent } from '../../../service/reconcile/reconcile.ts';
import { openCallback, openRender } from '../../../service/render/open.ts';
import { receiveCallback } from '../../../service/render/receive-callback.ts';
import { renderImage } from '../../../service/render/render-image.ts';
import type { Log } from '../../../service/values/runtime.ts';
import type { ImageProvider } from '../../../service/vendors/provider.ts';
import { deliverWebhook } from '../../../service/webhooks/deliver-webhook.ts';
import { type CopyOwed, openDelivery } from '../../../service/webhooks/open.ts';
import { createSecretBox } from '../../../service/webhooks/secret-box.ts';
import { isRenderer } from '../../function-name.ts';
import { environment } from '../environment.ts';
import { createBucket } from '../network/bucket.ts';
import { createClientBuckets } from '../network/client-buckets.ts';
import {
  callingModel,
  callingVendor,
  createCallingVendor,
  type SentCallback,
  type VendorHabits,
} from '../network/calling-vendor.ts';
import {
  createFlappingProvider,
  flappingCosts,
  flappingProviders,
  flappingRoutes,
  type FlappingObserver,
  flappingWeather,
  type Forecast,
} from '../network/flapping-providers.ts';
import { createMails, type MailHabits, type MailObserver } from '../network/mails.ts';
import { createSimulatedOutbound, type OutsideObserver } from '../network/outbound.ts';
import { createProvider, measures, pictures, thumbnails } from '../network/providers.ts';
import type { Dice } from '../world/dice.ts';
import type { Ongoing } from '../world/effects.ts';
import { createClock } from '../world/function-clock.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import { type AwsAccount, createEncryptionSecret, secretAt } from './aws-account.ts';
import { answerOfDynamodb } from './dynamodb-endpoint.ts';
import {
  createPayments,
  noPayments,
  type PaymentHabits,
  type PaymentObserver,
  paymentSecretArn,
} from './payments.ts';
import { createReleases, type Release, releaseSchemas } from './lambda-environments.ts';
import {
  createOpenai,
  createPortal,
  type OpenaiObserver,
  originSecretArn,
  originSecrets,
  portalEnvironment,
  type PortalFunctionName,
} from './portal-and-openai.ts';
import { gatewayLimits, lambdaLimits, otherRegion } from './quotas.ts';
import { resultKeyArn, resultKeySecret, signerOf } from './result-keys.ts';
import { createAwsClients } from './sdk-clients.ts';
import { type Change, createSimulatedTable, tableName } from './simulated-table.ts';
import { createStepFunctions, invokeTask, machineArns } from './step-functions.ts';
import { asTableRequest } from './table-request.ts';

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
  | 'delete'
  | 'unknown'
  | 'user-tokens'
  | 'webhook-endpoints'
  | 'operator-api'
  | PortalFunctionName;

export interface ServiceObserver extends OutsideObserver, OpenaiObserver, FlappingObserver, MailObserver {
  /** Called for what happens between the service and Stripe. */
  readonly payments: PaymentObserver;
  readonly onCommit: (changes: readonly Change[]) => void;
  /** Called when a creation was read by its id. */
  readonly onRead: (creation: string) => void;
  /** Called when an invocation delivers a notice. */
  readonly onDelivers: (invocation: string, notice: string) => void;
  /** Called when an API function begins with a request. */
  readonly onSent: (invocation: Invocation, event: APIGatewayProxyEventV2) => void;
  /** Called when an API function or the gateway answered. */
  readonly onServed: (invocation: Invocation, answer: APIGatewayProxyStructuredResultV2) => void;
  /** Called when a Task invokes a function, with the input of the execution and the input of the Task. */
  readonly onTask: (functionName: string, startedWith: Payload, input: Payload) => void;
  /** Called when an invocation renders a creation. */
  readonly onRenders: (invocation: string, creation: string) => void;
  /** Called with the input when an execution of a creation is started. */
  readonly onStart: (input: string) => void;
  /** Called when a Task invokes a function before the earlier invocation of the same run has ended. */
  readonly onRunAgain: (creation: string, earlier: Invocation) => void;
  /** Called with its input when an execution of a creation ended without success. */
  readonly onDied: (name: string, startedWith: Payload) => void;
  /** Called with its input when an execution of a creation ended with success. */
  readonly onSucceeded: (name: string, startedWith: Payload) => void;
  /** Called when the code of a Task did not understand its creation, with the release that began the execution. */
  readonly onNotUnderstood: (startedWith: Payload | NoticePayload, began: Release) => void;
  /** Called with the answer to a callback. */
  readonly onCallback: (sent: SentCallback, answer: APIGatewayProxyStructuredResultV2) => void;
  /** Called with the output when a task was ended with success. */
  readonly onTaskEnded: (output: string) => void;
  /** Called with the plain text of a webhook secret that was sealed. */
  readonly onSealed: (sealed: string, plain: string) => void;
  /** Called with every log line, and with every text in the history of an execution. */
  readonly onText: (text: string) => void;
}

/** What an operator's commands use. */
export type Operator = ReturnType<typeof openOperator>;

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

/** The time limits of the functions, as lib/ sets them, and of an operator's command. */
const limitMillis = {
  api: 29_000,
  render: 780_000,
  usual: 30_000,
  reconcile: 55_000,
  erase: 600_000,
  callback: 90_000,
  operate: 600_000,
} as const;

const environments = 3;

/** How many requests of one account are held at once, in a small account of AWS or in a larger one. */
export const heldSlotsOf = (dice: Dice): number =>
  dice.chance('few places of held requests', 0.3) ? heldShare.least : 8;

/** The quota of StartExecution, which the reconciler also gets. */
export interface StartLimits {
  readonly startsPerSecond: number;
  /** How many executions can start at once after a pause. */
  readonly startBurst: number;
}

export interface ServiceOptions extends StartLimits {
  /** The weather of the providers that flap. */
  readonly forecast: Forecast;
  readonly routeOrder: RouteOrder;
  /** How the vendor that calls back behaves. */
  readonly vendorHabits: VendorHabits;
  /** Absent: nobody pays. */
  readonly payments: PaymentHabits;
  /** Absent: the service sends no e-mails. */
  readonly mails: MailHabits;
  /** Whether the operator restores the table in the run. */
  readonly isRestored: boolean;
  /** The parts with which a load replaces those of the seeds. */
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

/** The function behind a Task of the state machine, on the platform of the release that it runs. */
type Task = (payload: Payload, at: Platform, id: string) => Promise<Payload>;

/** Creates the service of a world with an empty table. */
export function createService(
  world: World,
  observer: Partial<ServiceObserver>,
  options: Partial<ServiceOptions> = {},
) {
  const { onText = () => undefined } = observer;
  const { startsPerSecond, startBurst } = { ...smallRegion, ...options };
  const { serviceCapacity = defaultServiceCapacity } = options;
  const { forecast = flappingWeather(world.dice, world.time.now()), routeOrder = 'given', load } = options;
  const account = load?.account;
  const table = createSimulatedTable({
    now: world.time.now,
    remembers: load === undefined,
    ...(options.isRestored && { callerSince: () => world.current()?.startedAt }),
    onCommit: (changes) => {
      throughput?.onCommit(changes);
      observer.onCommit?.(changes);
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
  const payments = createPayments(world, observer.payments ?? deaf, options.payments ?? noPayments);
  const hasNewOriginSecret = world.dice.chance('the origin secret is replaced', 0.5);
  const releases = createReleases(world);
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
    onText: onText,
    invokeTask: ({ state, functionName, input, startedWith, release, run }) =>
      invokeTask(world, state, async () => {
        const task = tasks[functionName];
        if (!task) throw new Error(`no function ${functionName}`);
        const started = JSON.parse(startedWith) as Payload;
        observer.onTask?.(functionName, started, input as Payload);
        const millis = limitMillis[isRenderer(functionName) ? 'render' : 'usual'];
        const result = await invoke(functionName, state, millis, (id) => {
          const invocation = world.current();
          const earlier = run && lastOfRun.get(run);
          if (earlier && world.live.has(earlier)) observer.onRunAgain?.(started.creation_id, earlier);
          if (run && invocation) lastOfRun.set(run, invocation);
          const schema = releases.begin(release);
          return task(input as Payload, { ...on, schema: () => schema }, id);
        });
        if (result === 'throttled')
          return { ok: false, error: { errorType: 'Lambda.TooManyRequestsException', errorMessage: '' } };
        if (!result.ok && result.error.errorType === 'NewerRelease')
          observer.onNotUnderstood?.(started, release);
        return result;
      }),
    onClosed: ({ status, input, name, machineArn }) => {
      world.note(`execution ${name} ${status}`);
      // The rule for ended executions names the machines of creations alone.
      if (machineArn === machineArns.notices) return;
      const startedWith = JSON.parse(input) as Payload;
      if (status === 'SUCCEEDED') return observer.onSucceeded?.(name, startedWith);
      observer.onDied?.(name, startedWith);
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
      if (operation === 'GetItem' && key['sk']?.S === 'CREATION') observer.onRead?.(key['pk']?.S ?? '');
      const answer = (): object | Ongoing<object> => answerOfDynamodb(table, world, operation, input, fault);
      return throughput ? throughput.serve(operation, input, answer) : answer();
    },
    states: (operation, input) => {
      const isOfCreation = operation === 'StartExecution' && input['stateMachineArn'] !== machineArns.notices;
      if (isOfCreation) observer.onStart?.(String(input['input']));
      const answer = stepFunctions.perform(
        operation,
        isOfCreation && !load && world.dice.chance(`older release ${String(input['name'])}`, 0.1)
          ? { ...input, input: withoutRenderer(String(input['input'])) }
          : input,
      );
      if (operation === 'SendTaskSuccess') observer.onTaskEnded?.(String(input['output']));
      return answer;
    },
    secretsmanager: (operation, input) => {
      const { SecretId: id, VersionStage: stage } = input;
      if (id === paymentSecretArn) return { SecretString: payments.secretString() };
      if (id === originSecretArn) return secretAt(stage, originSecrets(hasNewOriginSecret));
      if (id === resultKeyArn) return secretAt(stage, [resultKeySecret]);
      return encryptionSecret.perform(operation, input);
    },
  });
  const clock = createClock(world);
  const { randomBytes } = world;
  const bucket = createBucket(world, clock);
  const mails = options.mails && createMails(world, clock, options.mails, observer);
  const vendor = createCallingVendor(world, receive, options.vendorHabits);
  const stopping = [createProvider(world, callingBack, 'sandbox'), vendor.provider];
  const providers = new Map<string, ImageProvider>(
    [
      createProvider(world, 'sandbox'),
      createProvider(world, 'sandbox-large'),
      ...stopping,
      ...flappingProviders.map((name) => createFlappingProvider(world, name, forecast, observer)),
    ].map((provider) => [provider.name, provider]),
  );
  const variables: Readonly<Record<string, string>> = {
    ...environment,
    ...portalEnvironment,
    DEFAULT_LIMITS: JSON.stringify(defaultLimits),
    TABLE_NAME: tableName,
    STATE_MACHINE_ARN: machineArns.plain,
    CALLBACK_MACHINE_ARN: machineArns.callback,
    NOTICE_MACHINE_ARN: machineArns.notices,
    ENCRYPTION_SECRET_ARN: secretArn,
    STARTS_PER_SECOND: String(startsPerSecond),
    SERVICE_CAPACITY: String(serviceCapacity),
    HELD_LIMIT: String(heldSlotsOf(world.dice)),
  };
  const box = createSecretBox({ client: clients.secrets, secretArn, clock, randomBytes });
  const clientBuckets = createClientBuckets(world, observer.onBucketCall);
  /** Everything through which the service leaves its process. */
  const on: Platform = {
    clock,
    randomBytes,
    environment: (name) => {
      const value = variables[name];
      if (value === undefined) throw new Error(`the simulation has no variable ${name}`);
      return value;
    },
    log: (component) => createLog(component, onText),
    resultSigner: signerOf({ client: clients.secrets, clock }),
    schema: () => releases.begin(releases.current()),
    remembered: createMemories(),
    dynamodb: clients.documents,
    states: clients.states,
    secrets: clients.secrets,
    images: bucket.open,
    thumbnails,
    measures,
    uploadTargets: bucket.targets,
    outbound:
      load?.outbound ??
      createSimulatedOutbound(world, clock, pictures['png'] ?? Buffer.alloc(0), observer, clientBuckets),
    secretBox: {
      open: (account, sealed) => box.open(account, sealed),
      seal: async (account, plain) => {
        const sealed = await box.seal(account, plain);
        observer.onSealed?.(sealed, plain);
        return sealed;
      },
    },
    originSecrets: createReplaceableSecret({ client: clients.secrets, secretArn: originSecretArn, clock }),
    paymentSystem: payments.systemOn(clients, clock),
    topics: mails?.topics,
    removeTopic: mails?.topics.remove,
    registration: () => ({ registerUser: () => Promise.resolve('none'), emailsADay: Infinity }),
    vendors: providers,
    configured: ({ name }) => {
      throw new Error(`no operator of the simulation configures the provider ${name}`);
    },
    catalog,
    providerCosts: { ...costs, costs: [...costs.costs, ...flappingCosts] } as ProviderCosts,
  };
  payments.attach(on);
  /** Only these vendors can stop a job. */
  const stoppable = {
    ...on,
    vendors: new Map<string, ImageProvider>(stopping.map((provider) => [provider.name, provider])),
  };
  const catalogServices = openCatalog(on);
  const portal = createPortal(on, stoppable);
  const handlers: Readonly<Record<Operation, ApiHandler>> = {
    generate: serve('post', withCatalog(generateImage), openSubmit(on)),
    get: serve('get', withCatalog(getCreation), catalogServices),
    list: serve('get', listCreations, openList(on)),
    events: serve('get', listEvents, openEvents(on)),
    balance: serve('get', getBalance, openBalance(on)),
    quote: serve('post', withCatalog(quoteImage), openQuote(on)),
    upload: serve('post', createUpload, openUpload(on)),
    models: serve('get', withCatalog(listModels), catalogServices),
    cancel: serve('post', cancelCreation, openCancel(stoppable)),
    delete: serve('post', deletion, openDelete(on)),
    unknown: serve('by method', unknownRoute, openApi(on)),
    'user-tokens': serve('by method', userTokens, openUserTokens(on)),
    'webhook-endpoints': serve('by method', endpointsAndBucket, openEndpointsAndBucket(on)),
    'operator-api': serveOperator(operatorHandlers, openOperatorApi(on)),
    ...portal.handlers,
  };
  const openai = createOpenai(world, observer, openOpenaiImages(on));
  const renderer: Task = (payload, at, id) => {
    observer.onRenders?.(id, creationIdOf(payload));
    // Each environment has its own memory of the routes' health. Here each has just begun.
    return renderImage(payload, id, openRender(at));
  };
  const tasks: Readonly<Record<string, Task>> = {
    RenderImage: renderer,
    RenderImageSmall: renderer,
    RenderImageLarge: renderer,
    RefundCharge: (payload, at) => refundCharge(payload, openRefund(at)),
    DeliverWebhook: (payload, at, id) => {
      const { notice_id: notice } = payload as Payload & Partial<NoticePayload>;
      if (notice !== undefined) observer.onDelivers?.(id, notice);
      const opened = openDelivery(at, 'deliver-webhook', mails?.topics);
      const copying = openCopies(on);
      const copy: CopyOwed = (work, services) => copyOwed(work, { ...services, ...copying });
      return deliverWebhook(payload, { ...opened, copyOwed: copy });
    },
  };
  async function runReconcile(
    event: ReconcileEvent,
    waitMillis: number = lambdaLimits.asynchronousRetryMillis.first,
  ): Promise<InvocationResult> {
    const result = await invoke('reconcile', 'reconcile', limitMillis.reconcile, () => {
      const endsAt = world.time.now() + limitMillis.reconcile;
      return reconcile(event, openReconcile(on), () => endsAt - world.time.now());
    });
    if (result !== 'throttled') return result;
    // Lambda keeps an asynchronous invocation and tries it again.
    await world.sleep(waitMillis);
    return runReconcile(event, Math.min(2 * waitMillis, lambdaLimits.asynchronousRetryMillis.longest));
  }

  /** The gateway passes a request on, unless it throttles the request itself. */
  function serveRequest(...of: Parameters<World['invoke']>): ReturnType<typeof invoke> | 'too_many' {
    const [route] = of;
    if (account?.admitsRequest(route) === false) return 'too_many';
    return invoke(route, ...of);
  }

  /** A callback arrives. Gives the status of the answer, or 0 when the vendor gets no answer. */
  async function receive(sent: SentCallback): Promise<number> {
    const result = await serveRequest('callback', limitMillis.callback, (id) =>
      receiveCallback(sent.event, id, openCallback(on)),
    );
    const answer = answerOf(result);
    observer.onCallback?.(sent, answer);
    const received = world.call({ service: 'gateway', operation: 'callback', target: '' }, () => answer);
    return received.then(
      ({ statusCode = 0 }) => statusCode,
      () => 0,
    );
  }

  return {
    table,
    /** The table as the adapters know it. */
    store: tableOf(on),
    bucket,
    clientBuckets,
    mails,
    vendor,
    payments,
    /** Whether a vendor has stopped this job. */
    isStopped: (jobId: string): boolean => stopping.some((provider) => provider.isStopped(jobId)),
    stepFunctions,
    releases,
    /** Sends a request of an openai library. Rejects when the answer does not reach the client. */
    openai,
    operator: openOperator({ ...stoppable, schema: () => releaseSchemas.before }),
    /** Somebody comes back from the issuer. Resolves with the person or a refusal; undefined: no answer came. */
    signIn: async (claims: Claims): Promise<string | undefined> => {
      const result = await world.invoke('sign-in', limitMillis.api, () => portal.enter(claims));
      return result.ok ? String(result.payload) : undefined;
    },
    reconcile: (event: ReconcileEvent): Promise<InvocationResult> => runReconcile(event),
    eraseContent: (): Promise<InvocationResult> =>
      world.invoke('erase-content', limitMillis.erase, () => {
        const endsAt = world.time.now() + limitMillis.erase;
        return eraseContent(openEraseContent(on), () => endsAt - world.time.now());
      }),
    /** Runs an operator's command. A command may die, as a function may. */
    operate: (name: string, work: (operator: Operator) => Promise<unknown>): Promise<InvocationResult> =>
      world.command(`operator-${name}`, limitMillis.operate, () => work(openOperator(stoppable))),
    rotateEncryption: encryptionSecret.rotate,
    /** Sends a request as API Gateway passes it on. Rejects when the answer does not reach the client. */
    request: async (
      operation: Operation,
      event: APIGatewayProxyEventV2,
    ): Promise<APIGatewayProxyStructuredResultV2> => {
      let invocation: Invocation | undefined;
      const result = await serveRequest(operation, limitMillis.api, (id) => {
        invocation = world.current();
        if (invocation) observer.onSent?.(invocation, event);
        const context = { ...event.requestContext, requestId: id, timeEpoch: world.time.now() };
        const named = { ...event, requestContext: context };
        return handlers[operation](named, { awsRequestId: id } as Context);
      });
      const answer = answerOf(result);
      if (invocation) observer.onServed?.(invocation, answer);
      return world.call({ service: 'gateway', operation, target: '' }, () => answer);
    },
  };
}

export type Service = ReturnType<typeof createService>;

const deaf: PaymentObserver = {
  onAsked: () => undefined,
  onChanged: () => undefined,
  onEventAnswered: () => undefined,
};

/** The input with which the release before the three renderers starts an execution, during an update. */
function withoutRenderer(text: string): string {
  const { creation_id, v = 1 } = JSON.parse(text) as Payload;
  // No such release has to do with a newer record.
  return v > 1 ? text : JSON.stringify({ creation_id });
}

/** The answer of the function, or of the gateway. */
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

/** A function runs in several environments. One after the other gets the next request. */
function createMemories(): Platform['remembered'] {
  const memories = new Map<string, unknown>();
  let opened = 0;
  return <State>(name: string, make: () => State) =>
    () => {
      opened += 1;
      const place = `${name} ${opened % environments}`;
      if (!memories.has(place)) memories.set(place, make());
      return memories.get(place) as State;
    };
}

function createLog(component: string, onText: (text: string) => void): Log {
  const write = (event: string, fields: Readonly<Record<string, unknown>> = {}): void =>
    onText(JSON.stringify({ component, event, ...fields }));
  return { info: write, alarm: write };
}
