/**
 * The composition root: here, and only here, the environment is read and adapters are
 * chosen. A function takes the one set of services it needs, so that its bundle holds
 * nothing else.
 */
import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { readBooks } from '../adapters/dynamodb/audit-store.ts';
import { createChargeStore } from '../adapters/dynamodb/charge-store.ts';
import { createCreationStore } from '../adapters/dynamodb/creation-store.ts';
import { createDeliveryStore } from '../adapters/dynamodb/delivery-store.ts';
import { createOpenWorkStore } from '../adapters/dynamodb/open-work-store.ts';
import { createRequestStore } from '../adapters/dynamodb/request-store.ts';
import type { Table } from '../adapters/dynamodb/table.ts';
import { createJsonLog } from '../adapters/json-log.ts';
import { createProviderCredentials } from '../adapters/provider-credentials.ts';
import { createVendors } from '../adapters/providers/vendors.ts';
import { createSandboxProvider } from '../adapters/providers/sandbox/provider.ts';
import { createImageStore } from '../adapters/s3-images.ts';
import { createOutbound } from '../adapters/safe-fetch.ts';
import { createSecretBox } from '../adapters/secret-box.ts';
import { createExecutions } from '../adapters/step-functions.ts';
import { systemClock } from '../adapters/system-clock.ts';
import { callLimits } from '../adapters/call-limits.ts';
import models from '../catalog/models.json' with { type: 'json' };
import type { Catalog } from '../core/catalog.ts';
import type { OutboundRules } from '../core/client-url.ts';
import type { AuthFailureForm } from '../core/contract.ts';
import type { AccountId } from '../core/ids.ts';
import type { AccountBooks } from '../core/ledger.ts';
import { requestMillis } from '../core/limits.ts';
import type { ChargeStore } from '../core/ports/charges.ts';
import type { CreationStore } from '../core/ports/creations.ts';
import type { DeliveryStore } from '../core/ports/deliveries.ts';
import type { Executions, OpenWorkStore } from '../core/ports/executions.ts';
import type { ImageStore } from '../core/ports/images.ts';
import type { Outbound } from '../core/ports/outbound.ts';
import type { RequestStore } from '../core/ports/requests.ts';
import type { Clock, Log, RandomBytes } from '../core/ports/runtime.ts';
import type { SecretBox } from '../core/ports/secret-box.ts';
import type { ImageProvider } from '../core/provider.ts';
import { startBudget, type TimeBudget } from '../core/time-budget.ts';

/** Every variable that the stack may give to a function; lib/ declares each where it is used. */
export type Variable =
  | 'TABLE_NAME'
  | 'STATE_MACHINE_ARN'
  | 'IMAGES_BUCKET'
  | 'RESULTS_BASE_URL'
  | 'RESULT_DAYS'
  | 'ENCRYPTION_SECRET_ARN'
  | 'OUTBOUND_RULES'
  | 'AUTH_FAILURE_FORM'
  | 'TOP_UP_URL'
  | 'METRICS_NAMESPACE'
  | 'PROVIDER_SECRET_ARN'
  | 'PROVIDER_BASE_URLS'
  | 'BEDROCK_REGION';

function environment(name: Variable): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`the environment variable ${name} is not set`);
  return value;
}

const randomness: RandomBytes = (count) => randomBytes(count);

function table(): Table {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(callLimits()), {
    marshallOptions: { removeUndefinedValues: true },
  });
  return { client, name: environment('TABLE_NAME'), clock: systemClock, randomBytes: randomness };
}

/** Lambda gives a function's credentials and region in the environment, as the SDK's own clients read them. */
function imageStore(signal?: AbortSignal): ImageStore {
  const { AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_ENDPOINT_URL } =
    process.env;
  return createImageStore({
    clock: systemClock,
    ...(signal && { signal }),
    bucket: environment('IMAGES_BUCKET'),
    region: AWS_REGION ?? '',
    accessKeyId: AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: AWS_SECRET_ACCESS_KEY ?? '',
    ...(AWS_SESSION_TOKEN !== undefined && { sessionToken: AWS_SESSION_TOKEN }),
    ...(AWS_ENDPOINT_URL !== undefined && { endpoint: AWS_ENDPOINT_URL }),
  });
}

function outboundRules(): OutboundRules {
  return environment('OUTBOUND_RULES') as OutboundRules;
}

function outbound(): Outbound {
  return createOutbound(outboundRules(), { clock: systemClock });
}

/** What every function has. */
export interface CommonServices {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly log: Log;
}

function common(component: string): CommonServices {
  const log = createJsonLog({
    component,
    namespace: environment('METRICS_NAMESPACE'),
    now: () => systemClock.now(),
  });
  return { clock: systemClock, randomBytes: randomness, log };
}

/** For reading operations of the API. */
export interface ApiServices extends CommonServices {
  /** The time of the request: every wait of these services ends with it. */
  readonly budget: TimeBudget;
  readonly requests: RequestStore;
  readonly creations: CreationStore;
  readonly resultsBaseUrl: string;
  readonly authFailureForm: AuthFailureForm;
}

/** Opens the services of one request, whose time begins now. The clients behind them are the function's own. */
export type OpenServices<Services> = () => Services;

export function apiServices(): OpenServices<ApiServices> {
  return openApi(table());
}

function openApi(shared: Table): OpenServices<ApiServices> {
  const base = {
    ...common('api'),
    resultsBaseUrl: environment('RESULTS_BASE_URL'),
    authFailureForm:
      environment('AUTH_FAILURE_FORM') === 'plain' ? ('plain' as const) : ('envelope' as const),
  };
  return () => {
    const budget = startBudget(systemClock, requestMillis);
    const store = { ...shared, signal: budget.signal };
    return { ...base, budget, requests: createRequestStore(store), creations: createCreationStore(store) };
  };
}

/** For those that deal with models. */
export interface CatalogServices extends ApiServices {
  readonly catalog: Catalog;
}

export function catalogServices(): OpenServices<CatalogServices> {
  const open = apiServices();
  return () => ({ ...open(), catalog });
}

// Checked against its schema by a test and at synthesis.
const catalog = models as Catalog;

/** For those that take a generation request. */
export interface QuoteServices extends CatalogServices {
  /** Which addresses of clients this deployment allows. */
  readonly outboundRules: OutboundRules;
}

export function quoteServices(): OpenServices<QuoteServices> {
  const open = catalogServices();
  const rules = outboundRules();
  return () => ({ ...open(), outboundRules: rules });
}

/** For the operation that charges. */
export interface SubmitServices extends QuoteServices {
  readonly charges: ChargeStore;
  readonly executions: Executions;
  readonly outbound: Outbound;
  readonly images: ImageStore;
  readonly topUpUrl: string;
}

export function submitServices(): OpenServices<SubmitServices> {
  const shared = table();
  const open = openApi(shared);
  const states = new SFNClient(callLimits());
  const base = {
    catalog,
    outbound: outbound(),
    outboundRules: outboundRules(),
    topUpUrl: environment('TOP_UP_URL'),
  };
  return () => {
    const api = open();
    const { signal } = api.budget;
    const onConflict = (creationId: string | undefined): void =>
      api.log.info('charge_conflict', { creationId });
    return {
      ...api,
      ...base,
      charges: createChargeStore({ ...shared, signal, onConflict }),
      executions: createExecutions(states, environment('STATE_MACHINE_ARN'), signal),
      images: imageStore(signal),
    };
  };
}

export interface RenderServices extends CommonServices {
  readonly creations: CreationStore;
  readonly images: ImageStore;
  readonly providers: ReadonlyMap<string, ImageProvider>;
  readonly resultDays: number;
}

export function renderServices(): RenderServices {
  const crash = (): never => process.exit(1);
  const sandboxes = ['sandbox', 'sandbox-large'].map((name) =>
    createSandboxProvider({ name, clock: systemClock, crash }),
  );
  const providers = [...sandboxes, ...createVendors(vendorAccess())];
  return {
    ...common('render-image'),
    creations: createCreationStore(table()),
    images: imageStore(),
    providers: new Map(providers.map((provider) => [provider.name, provider])),
    resultDays: Number(environment('RESULT_DAYS')),
  };
}

function vendorAccess(): Parameters<typeof createVendors>[0] {
  const baseUrls = JSON.parse(environment('PROVIDER_BASE_URLS')) as Readonly<Record<string, string>>;
  const credentials = createProviderCredentials({
    client: new SecretsManagerClient(callLimits()),
    secretArn: environment('PROVIDER_SECRET_ARN'),
    clock: systemClock,
  });
  return { credentials, baseUrls, bedrockRegion: environment('BEDROCK_REGION') };
}

export interface RefundServices extends CommonServices {
  readonly creations: CreationStore;
  readonly charges: ChargeStore;
}

export function refundServices(): RefundServices {
  const store = table();
  return {
    ...common('refund-charge'),
    creations: createCreationStore(store),
    charges: createChargeStore(store),
  };
}

export interface DeliveryServices extends CommonServices {
  readonly creations: CreationStore;
  readonly deliveries: DeliveryStore;
  readonly secretBox: SecretBox;
  readonly outbound: Outbound;
  readonly resultsBaseUrl: string;
}

export function deliveryServices(): DeliveryServices {
  const store = table();
  return {
    ...common('deliver-webhook'),
    creations: createCreationStore(store),
    deliveries: createDeliveryStore(store),
    secretBox: createSecretBox({
      client: new SecretsManagerClient(callLimits()),
      secretArn: environment('ENCRYPTION_SECRET_ARN'),
      clock: systemClock,
      randomBytes: randomness,
    }),
    outbound: outbound(),
    resultsBaseUrl: environment('RESULTS_BASE_URL'),
  };
}

export interface ReconcileServices extends CommonServices {
  readonly creations: CreationStore;
  readonly charges: ChargeStore;
  readonly openWork: OpenWorkStore;
  readonly executions: Executions;
}

export function reconcileServices(): ReconcileServices {
  const store = table();
  return {
    ...common('reconcile'),
    creations: createCreationStore(store),
    charges: createChargeStore(store),
    openWork: createOpenWorkStore(store),
    executions: createExecutions(new SFNClient(callLimits()), environment('STATE_MACHINE_ARN')),
  };
}

export interface AuditServices extends CommonServices {
  /** The books of every account, or of one. */
  readonly books: (only?: AccountId) => Promise<readonly AccountBooks[]>;
}

export function auditServices(): AuditServices {
  const store = table();
  return { ...common('audit-books'), books: async (only) => readBooks(store, only) };
}
