/** All parts of the service. The file is long because it connects all parts. */
import { Duration } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { defaultLimits } from '../service/contract/limits.ts';
import { functionOf, type OperationName, operations } from '../service/contract/operations.ts';
import { heldLimit, addServiceCapacity } from './admission.ts';
import { reservedConcurrency } from './concurrency-settings.ts';
import type { CreationExecution } from './creation-execution.ts';
import { addExecution, grantDelivery, renderers } from './execution-functions.ts';
import { ImageDelivery } from './image-delivery.ts';
import { nameByRegion } from './names-by-region.ts';
import { NoticeExecution } from './notice-execution.ts';
import { observe } from './observation.ts';
import { grantCancel, grantGenerate, grantPortal, type OperationParts } from './operation-grants.ts';
import { Payments } from './payments.ts';
import { Portal } from './portal/portal.ts';
import { PublicApi } from './public-api.ts';
import { rendererSizes } from './renderer-sizes.ts';
import { BooksAudit, Canary, Erasures, Reconciliation } from './schedules.ts';
import { EncryptionSecret, ProviderAccess } from './secrets.ts';
import { type AddFunction, ServiceFunction } from './service-function.ts';
import { BackupCopies } from './backup-copies.ts';
import { addOutput, serviceName } from './service-scope.ts';
import { type Settings, signsResults } from './settings.ts';
import { requestItems, Store, TableProtection, workItems } from './store.ts';
import { addStreamFunctions, type PortalAddresses } from './streams/stream-functions.ts';
import { StreamingApis } from './streams/streaming-apis.ts';
import { TrafficShift } from './traffic-shift.ts';

export interface ServiceProps {
  readonly settings: Settings;
  /** The folder with the built pages of the portal. It is read when the functions are bundled. */
  readonly pages: string;
}

/**
 * Adds the service to a scope: a stack that holds nothing else (lib/service-stack.ts), or a construct (lib/darkroom.ts).
 * The service is no construct itself: one more level would change every logical id of existing deployments, and
 * CloudFormation would replace the table.
 */
export class Service {
  readonly apiUrl: string;
  readonly portalUrl: string;
  /** Base URL for libraries of the OpenAI API. */
  readonly openaiUrl: string;
  readonly mcpUrl: string;
  readonly store: Store;
  readonly alarmTopic: Topic;
  /** The functions by their construct ids. */
  readonly functions = new Map<string, ServiceFunction>();
  private readonly scope: Construct;
  private readonly settings: Settings;
  private readonly logRetention: RetentionDays;
  private readonly images: ImageDelivery;
  private readonly encryptionSecret: EncryptionSecret;
  private readonly providers: ProviderAccess;
  /** Absent when requests go to a new release at once. */
  private readonly trafficShift: TrafficShift | undefined;
  /** By the construct ids of the functions. */
  private readonly reserved: ReadonlyMap<string, number>;

  constructor(scope: Construct, { settings, pages }: ServiceProps) {
    this.scope = scope;
    this.settings = settings;
    this.logRetention = settings.logRetentionDays;
    this.reserved = reservedConcurrency(settings.concurrency);
    this.store = new Store(scope, 'Store', { restoredTable: this.settings.restoredTable });
    const protectTable = this.addProtectTable();
    this.images = new ImageDelivery(scope, 'Images', {
      makesKeys: signsResults(settings) ? protectTable : undefined,
      resultDays: settings.resultDays,
      domain: settings.resultsDomain,
      uploadOrigins: withPortal(settings),
    });
    this.encryptionSecret = new EncryptionSecret(scope, 'EncryptionSecret', settings.backup?.copyToRegion);
    this.providers = new ProviderAccess(scope, 'Providers', { bedrockRegion: this.settings.bedrockRegion });
    const { apiTraffic: traffic } = settings;
    this.trafficShift =
      traffic === 'all-at-once' ? undefined : new TrafficShift(scope, 'Traffic', { traffic });
    const { store, images, encryptionSecret, providers } = this;
    const execution = addExecution(scope, this.addFunction, {
      settings,
      store,
      images,
      encryptionSecret,
      providers,
    });
    const api = this.addApi(execution);
    for (const id of renderers)
      this.functionNamed(id).addEnvironment('CALLBACK_BASE_URL', api.callbackBaseUrl);
    this.addReconciliation(execution);
    const notices = this.addNotices();
    const portal = this.addPortal(api, execution, notices, pages);
    api.throttleRoutes(settings.throttling);
    const topUpUrl = settings.topUpUrl === '' ? `${portal.url}wallet` : settings.topUpUrl;
    for (const id of ['GenerateImage', 'PortalGenerate'])
      this.functionNamed(id).addEnvironment('TOP_UP_URL', topUpUrl);
    const streams = this.addStreams(api, execution, notices, { portalUrl: portal.url, topUpUrl });
    const portalRead = this.functionNamed('PortalRead');
    portalRead.addEnvironment('OPENAI_URL', streams.openaiUrl);
    portalRead.addEnvironment('MCP_URL', streams.mcpUrl);
    this.addAudit();
    this.addErasures();
    this.addCanary(api);
    const signing = signsResults(settings) ? settings.results : 'off';
    for (const id of [
      ...['GenerateImage', 'OpenaiImages', 'Mcp', 'PortalGenerate'],
      ...['OperatorApi', 'PortalOperate'],
    ])
      this.functionNamed(id).addEnvironment('RESULTS', signing);
    if (signing !== 'off') addOutput(scope, 'Results', { value: signing });
    addServiceCapacity(this.functionNamed, settings);
    this.alarmTopic = observe(scope, {
      settings,
      store,
      httpApi: api.httpApi,
      streams,
      execution,
      functionNamed: this.functionNamed,
      // Only CloudFormation calls it. It has nothing to do with a creation.
      functions: [...this.functions.values()].filter((fn) => fn !== protectTable),
      accessLogName: api.accessLogName,
      trafficShift: this.trafficShift,
    });
    this.apiUrl = api.url;
    this.portalUrl = portal.url;
    this.openaiUrl = streams.openaiUrl;
    this.mcpUrl = streams.mcpUrl;
    addOutput(scope, 'ApiUrl', { value: api.url });
    addOutput(scope, 'TableName', { value: this.store.tableName });
    addOutput(scope, 'StateMachineArn', { value: execution.stateMachine.stateMachineArn });
    addOutput(scope, 'CallbackMachineArn', { value: execution.callbackMachine.stateMachineArn });
    addOutput(scope, 'NoticeMachineArn', { value: notices.stateMachine.stateMachineArn });
    addOutput(scope, 'EncryptionSecretArn', { value: this.encryptionSecret.secretArn });
    addOutput(scope, 'ProviderSecretArn', { value: this.providers.secret.secretArn });
    addOutput(scope, 'ResultsBaseUrl', { value: this.images.baseUrl });
    addOutput(scope, 'ImagesBucket', { value: this.images.bucket.bucketName });
    // The operator's command prunes the versions of these functions.
    const versioned = [...this.functions.values()].filter((fn) => fn.hasVersions());
    addOutput(scope, 'VersionedFunctions', { value: versioned.map((fn) => fn.functionName).join(',') });
    addOutput(scope, 'ServiceCapacity', { value: String(settings.serviceCapacity) });
    // Limits are attributes of each account. The operator's command reads this output when it creates an account.
    addOutput(scope, 'DefaultLimits', { value: this.defaultLimits() });
    if (settings.backup) new BackupCopies(scope, 'BackupCopies', { store, ...settings.backup });
    nameByRegion(scope);
    // Created last: it waits for everything above.
    new TableProtection(scope, 'TableProtection', { fn: protectTable, store: this.store });
  }

  /** Works for CloudFormation: one function for two custom resources, because each function has five resources. */
  private addProtectTable(): ServiceFunction {
    return this.addFunction('ProtectTable', 'protect-table', {
      description: 'Protects the table when a deployment has succeeded, and makes the first key of results',
      timeout: Duration.minutes(4),
      memoryMegabytes: 256,
    });
  }

  private defaultLimits(): string {
    return JSON.stringify({ ...defaultLimits, ...this.settings.limits });
  }

  private addApi(execution: CreationExecution): PublicApi {
    const names = Object.keys(operations) as OperationName[];
    const functions = this.addApiFunctions(names);
    const unknownRoute = this.addApiFunction('unknown-route', 'what no route takes');
    const { generateImage, cancelCreation, ...others } = functions;
    for (const fn of new Set([...Object.values(others), unknownRoute])) {
      this.store.grantRead(fn, 'BatchGetItem');
      // A poll counts in a partition of its creation, and an erasure changes the creation.
      const writesCreations = fn === others.getCreation || fn === others.deleteCreation;
      const items = writesCreations ? [...requestItems, 'CREATION#*' as const] : requestItems;
      this.store.grantWrite(fn, items, 'UpdateItem');
    }
    this.store.grantListing(functions.listCreations);
    // The log of refused requests is a partition of its own.
    this.store.grantRead(functions.listCreations, 'Query');
    // Its readers give events their positions in the log.
    this.store.grantRead(functions.listEvents, 'GetItem', 'Query');
    this.store.grantWrite(functions.listEvents, requestItems, 'DeleteItem');
    for (const fn of [
      generateImage,
      functions.quoteImage,
      functions.createUserToken,
      functions.createEndpoint,
    ])
      fn.addEnvironment('OUTBOUND_RULES', 'public');
    grantGenerate(generateImage, this.operationParts(execution));
    const slots = this.reserved.get('GenerateImage') ?? 'shared';
    generateImage.addEnvironment('HELD_LIMIT', heldLimit(slots, this.settings));
    // It also has the bucket of the account, and copies a picture there again.
    this.store.grantRead(functions.listEndpoints, 'GetItem');
    this.store.grantWrite(functions.listEndpoints, ['ACCOUNT#*'], 'DeleteItem');
    const itemsOfCopies = ['ACCOUNT#*', 'CREATION#*', 'NOTICE#*'] as const;
    this.store.grantWrite(functions.listEndpoints, itemsOfCopies, 'PutItem', 'UpdateItem');
    this.encryptionSecret.grantOpen(functions.listEndpoints);
    for (const fn of [functions.createUpload, functions.createUserToken])
      this.store.grantWrite(fn, requestItems, 'PutItem');
    this.images.grantSignUploads(functions.createUpload);
    grantCancel(cancelCreation, this.operationParts(execution));
    this.images.grantErase(functions.deleteCreation);
    const { apiDomain: domain } = this.settings;
    return new PublicApi(this.scope, 'Api', {
      operations: Object.fromEntries(names.map((name) => [name, this.live(functions[name])])) as Record<
        OperationName,
        IFunction
      >,
      unknownRoute: this.live(unknownRoute),
      operatorApi: this.live(this.addOperatorApi()),
      receiveCallback: this.live(this.addReceiveCallback(execution)),
      logRetention: this.logRetention,
      domain,
      hasDefaultAddress: this.settings.defaultAddresses === 'on',
    });
  }

  /** Answers the operator's back ends, by keys of their own. */
  private addOperatorApi(): ServiceFunction {
    const fn = this.addFunction('OperatorApi', 'operator-api', {
      description: 'Answers the operator API',
      timeout: Duration.seconds(29),
      memoryMegabytes: 1024,
    });
    fn.addEnvironment('DEFAULT_LIMITS', this.defaultLimits());
    fn.addEnvironment('OUTBOUND_RULES', 'public');
    const { store } = this;
    store.grantRead(fn, 'BatchGetItem', 'GetItem', 'Query');
    const items = [...requestItems, 'EXTERNAL#*', 'NOTICE#*', 'OPERATOR_KEY#*', 'SERVICE'] as const;
    store.grantWrite(fn, items, 'DeleteItem', 'PutItem', 'UpdateItem');
    store.grantListing(fn);
    this.encryptionSecret.grantOpen(fn);
    return fn;
  }

  /** Does the work of RenderImage for one job: polls the vendor, stores the image, completes the creation. */
  private addReceiveCallback(execution: CreationExecution): ServiceFunction {
    const fn = this.addFunction('ReceiveCallback', 'receive-callback', {
      description: 'Takes the callback of a vendor whose job has ended',
      // API Gateway gives up after 30 s. The function still completes the creation then.
      timeout: Duration.seconds(90),
      // It holds one picture of any size and no source image, as RenderImageLarge does.
      memoryMegabytes: rendererSizes.large.memoryMegabytes,
    });
    fn.addEnvironment('RESULT_DAYS', String(this.settings.resultDays));
    fn.addEnvironment('THUMBNAILS', this.settings.thumbnails ? 'on' : 'off');
    const { store, images, encryptionSecret } = this;
    grantDelivery(fn, { store, images, encryptionSecret });
    this.store.grantWrite(fn, ['HEALTH#*'], 'UpdateItem');
    this.images.grantStore(fn);
    if (this.settings.thumbnails) this.images.grantRemoveThumbnails(fn);
    this.providers.grantKeys(fn);
    execution.grantEndTasks(fn, 'SendTaskSuccess', 'SendTaskFailure');
    return fn;
  }

  private addReconciliation(execution: CreationExecution): void {
    const reconcile = this.addFunction('Reconcile', 'reconcile', {
      description: 'Starts what was charged and never started, restarts what died, refunds what is late',
      timeout: Duration.seconds(55),
      // A start with its note takes 3 ms of a whole processor. After an outage hundreds a second are due.
      memoryMegabytes: 1024,
    });
    reconcile.addEnvironment('STARTS_PER_SECOND', String(this.settings.startsPerSecond));
    this.store.grantRead(reconcile, 'BatchGetItem');
    // It records in the item of the service that starts are delayed.
    this.store.grantWrite(reconcile, [...workItems, 'SERVICE'], 'UpdateItem', 'PutItem');
    this.store.grantOpenWork(reconcile);
    execution.grantStart(reconcile);
    execution.grantDescribe(reconcile);
    new Reconciliation(this.scope, 'Reconciliation', { reconcile, stateMachines: execution.all });
  }

  /** The function that stores a notice starts its execution; the reconciler starts lost ones. */
  private addNotices(): NoticeExecution {
    const deliverWebhook = this.functionNamed('DeliverWebhook');
    const notices = new NoticeExecution(this.scope, 'Notices', {
      tasks: [deliverWebhook],
      logRetention: this.logRetention,
      tracing: this.settings.tracing,
    });
    for (const id of [
      'GenerateImage',
      ...renderers,
      'ReceiveCallback',
      'DeliverWebhook',
      'WebhookEndpoints',
      'Reconcile',
    ])
      notices.grantStart(this.functionNamed(id));
    notices.grantTopics(deliverWebhook, 'ListSubscriptionsByTopic', 'Publish');
    return notices;
  }

  private addPortal(
    api: PublicApi,
    execution: CreationExecution,
    notices: NoticeExecution,
    pages: string,
  ): Portal {
    const { httpApi, url: apiUrl } = api;
    const { defaultAddresses, apiDomain, webAclArn } = this.settings;
    const portal = new Portal(this.scope, 'Portal', {
      settings: this.settings.portal,
      takesPayments: this.settings.payments !== undefined,
      httpApi,
      apiHost: defaultAddresses === 'off' ? apiDomain?.name : undefined,
      webAclArn: webAclArn.portal,
      apiUrl,
      origins: { results: this.images.baseUrl, uploads: this.images.uploadOrigin },
    });
    const add = this.addFunction;
    const functions = portal.addFunctions(add);
    for (const fn of Object.values(functions)) fn.addEnvironment('SANDBOX', this.settings.sandbox);
    grantPortal(functions, {
      ...this.operationParts(execution),
      encryptionSecret: this.encryptionSecret,
      notices,
    });
    const { manage, generate, operate, pay } = functions;
    if (pay) this.addPayments(pay, httpApi, notices, portal.url);
    operate.addEnvironment('DEFAULT_LIMITS', this.defaultLimits());
    generate.addEnvironment('KEEP_PROMPTS_DAYS', String(this.settings.keepPromptsDays));
    for (const fn of [manage, generate]) fn.addEnvironment('OUTBOUND_RULES', 'public');
    portal.addPublisher(add, pages);
    return portal;
  }

  private addPayments(
    portalPay: ServiceFunction,
    httpApi: HttpApi,
    notices: NoticeExecution,
    portalUrl: string,
  ): void {
    const { add, live, store } = { add: this.addFunction, live: this.live, store: this.store };
    const { stripe: settings } = this.settings.payments ?? {};
    if (!settings) return;
    new Payments(this.scope, 'Payments', {
      ...{ settings, add, live, httpApi, store, notices, portalPay, portalUrl },
    });
    // The balance shows the state of the automatic top-up.
    store.grantRead(this.functionNamed('GetBalance'), 'GetItem');
  }

  /** The OpenAI-shaped endpoint and MCP. */
  private addStreams(
    publicApi: PublicApi,
    execution: CreationExecution,
    notices: NoticeExecution,
    addresses: PortalAddresses,
  ): StreamingApis {
    const { settings } = this;
    const functions = addStreamFunctions(this.addFunction, {
      ...this.operationParts(execution),
      notices,
      settings,
      apiUrl: publicApi.url,
      ...addresses,
    });
    const { throttling, gatewayLogRole, tracing, webAclArn, defaultAddresses } = settings;
    return new StreamingApis(this.scope, 'Streams', {
      functions,
      live: this.live,
      publicApi,
      throttling,
      gatewayLogRole,
      tracing,
      webAclArn: webAclArn.api,
      hasDefaultAddress: defaultAddresses === 'on',
    });
  }

  private operationParts(execution: CreationExecution): OperationParts {
    return { store: this.store, images: this.images, providers: this.providers, execution };
  }

  /** The function, or the alias that gets its requests. */
  private readonly live = (fn: ServiceFunction): IFunction =>
    (this.trafficShift?.aliasOf(fn) ?? fn) as IFunction;

  private addAudit(): void {
    const auditBooks = this.addFunction('AuditBooks', 'audit-books', {
      description: 'Holds every balance and creation against the ledger',
      // Once a month the audit reads every ledger from its beginning. The next start continues where this one ended.
      timeout: Duration.minutes(15),
      memoryMegabytes: 1024,
    });
    // It writes only its progress.
    this.store.grantRead(auditBooks, 'BatchGetItem', 'GetItem', 'Query');
    this.store.grantWrite(auditBooks, ['AUDIT', 'CLOSING#*'], 'PutItem');
    this.store.grantListing(auditBooks);
    new BooksAudit(this.scope, 'BooksAudit', { auditBooks });
  }

  private addErasures(): void {
    const eraseContent = this.addFunction('EraseContent', 'erase-content', {
      description: 'Erases old prompts, and again what was erased while a function was running',
      timeout: Duration.minutes(10),
      memoryMegabytes: 256,
    });
    eraseContent.addEnvironment('KEEP_PROMPTS_DAYS', String(this.settings.keepPromptsDays));
    this.store.grantRead(eraseContent, 'BatchGetItem', 'GetItem', 'Query');
    const items = ['ACCOUNT#*', 'CREATION#*', 'ERASE'] as const;
    this.store.grantWrite(eraseContent, items, 'DeleteItem', 'PutItem', 'UpdateItem');
    this.store.grantOpenWork(eraseContent);
    this.store.grantListing(eraseContent);
    this.images.grantErase(eraseContent);
    new Erasures(this.scope, 'Erasures', { eraseContent });
  }

  private addCanary({ url: apiUrl }: PublicApi): void {
    const { canary } = this.settings;
    if (canary === 'off') return;
    new Canary(this.scope, 'CanaryRun', { add: this.addFunction, apiUrl, ...canary });
  }

  private readonly functionNamed = (id: string): ServiceFunction => {
    const fn = this.functions.get(id);
    if (!fn) throw new Error(`there is no function ${id}`);
    return fn;
  };

  /** The function of each operation. Operations of one handler share a function. */
  private addApiFunctions(names: readonly OperationName[]): Record<OperationName, ServiceFunction> {
    const added = new Map<string, ServiceFunction>();
    for (const { handler, method, path } of names.map((name) => operations[name])) {
      if (!added.has(handler)) added.set(handler, this.addApiFunction(handler, `${method} ${path}`));
    }
    return Object.fromEntries(names.map((name) => [name, added.get(operations[name].handler)])) as Record<
      OperationName,
      ServiceFunction
    >;
  }

  private addApiFunction(handler: string, path: string): ServiceFunction {
    const fn = this.addFunction(functionOf({ handler }), handler, {
      description: `Answers ${path}`,
      timeout: Duration.seconds(29),
      // A held read of events waits for most of its time.
      memoryMegabytes: handler === 'list-events' ? 256 : 1024,
    });
    const showsResults = [
      'generate-image',
      'get-creation',
      'list-creations',
      'list-events',
      'webhook-endpoints',
    ];
    if (showsResults.includes(handler)) this.images.grantAddresses(fn);
    else fn.addEnvironment('RESULTS_BASE_URL', this.images.baseUrl);
    fn.addEnvironment('AUTH_FAILURE_FORM', this.settings.authFailureForm);
    fn.addEnvironment('SANDBOX', this.settings.sandbox);
    fn.addEnvironment('KEEP_PROMPTS_DAYS', String(this.settings.keepPromptsDays));
    return fn;
  }

  private readonly addFunction: AddFunction = (id, entry, own) => {
    const { architecture, tracing } = this.settings;
    const fn = new ServiceFunction(this.scope, id, {
      entry,
      timeout: Duration.seconds(30),
      memoryMegabytes: 512,
      architecture,
      tracing,
      logRetention: this.logRetention,
      reservedConcurrency: this.reserved.get(id),
      ...own,
    });
    fn.addEnvironment('METRICS_NAMESPACE', serviceName(this.scope));
    this.functions.set(id, fn);
    return fn;
  };
}

/** The pages that may put uploads: those of the settings, and the pages of the portal. */
function withPortal({ uploadOrigins, portal }: Settings): readonly string[] {
  if (uploadOrigins.includes('*')) return uploadOrigins;
  // Without a name of its own, the portal has one of CloudFront. The bucket cannot know this name, because the
  // distribution of the portal knows the bucket. The signed address stays the only credential.
  return [...uploadOrigins, `https://${portal.domain?.name ?? '*.cloudfront.net'}`];
}
