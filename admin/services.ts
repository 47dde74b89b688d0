/** Opens the adapters for an operator's command. The functions use the same adapters. */
import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import * as z from 'zod';
import { callLimits } from '../adapters/call-limits.ts';
import { createCanarySecret, type CanarySecret } from '../adapters/canary-secret.ts';
import { createAccountStore, type AccountStore } from '../adapters/dynamodb/account-store.ts';
import { createBlockStore, type BlockStore } from '../adapters/dynamodb/block-store.ts';
import { createChargeStore } from '../adapters/dynamodb/charge-store.ts';
import { createCreationStore } from '../adapters/dynamodb/creation-store.ts';
import { createDeliveryStore } from '../adapters/dynamodb/delivery-store.ts';
import { createHealthStore } from '../adapters/dynamodb/health-store.ts';
import { createNoticeStore } from '../adapters/dynamodb/notice-store.ts';
import {
  createOperatorCatalogStore,
  type OperatorCatalogStore,
} from '../adapters/dynamodb/operator-catalog-store.ts';
import { createOpenWorkStore } from '../adapters/dynamodb/open-work-store.ts';
import { createPeopleStore } from '../adapters/dynamodb/portal/people-store.ts';
import { createProviderStore, type ProviderStore } from '../adapters/dynamodb/provider-store.ts';
import { createServiceSwitch } from '../adapters/dynamodb/service-switch.ts';
import type { Table } from '../adapters/dynamodb/table.ts';
import { createWalletStore, type WalletStore } from '../adapters/dynamodb/wallet-store.ts';
import {
  createCredentialEditor,
  createProviderCredentials,
  type CredentialEditor,
} from '../adapters/provider-credentials.ts';
import type { VendorAccess } from '../adapters/providers/vendors.ts';
import { createOutbound } from '../adapters/safe-fetch.ts';
import { createSecretBox, type ResealingBox } from '../adapters/secret-box.ts';
import { createExecutions } from '../adapters/step-functions.ts';
import { createRegisterUser } from '../adapters/user-pool.ts';
import { createTasks } from '../adapters/step-functions-tasks.ts';
import { createCallingVendors } from '../adapters/providers/calling-vendors.ts';
import { createConfigured } from '../adapters/providers/configured.ts';
import { defaultLimits as builtInLimits, type AccountLimits } from '../core/limits.ts';
import type { CancelServices } from '../core/cancellation.ts';
import { configuredProviders } from '../core/configured-providers.ts';
import type { ChargeStore } from '../core/ports/charges.ts';
import type { CreationStore } from '../core/ports/creations.ts';
import type { DeliveryStore } from '../core/ports/deliveries.ts';
import type { HealthStore } from '../core/ports/health.ts';
import type { Executions, OpenWorkStore } from '../core/ports/executions.ts';
import type { NoticeStore } from '../core/ports/notices.ts';
import type { Outbound } from '../core/ports/outbound.ts';
import type { ServiceSwitch } from '../core/ports/service-switch.ts';
import type { InvitationEmail, PeopleStore } from '../core/ports/people.ts';
import { poolEmailsADay } from '../core/portal/invitation-room.ts';
import type { Clock, RandomBytes } from '../core/ports/runtime.ts';
import { schema } from '../core/schema-version.ts';
import { rotateOriginSecret, type OriginSecretRotation } from './origin-secret.ts';
import { createReleaseStore, type ReleaseStore } from './release-store.ts';
import type { ServiceAddress } from './service-address.ts';

const limitsSchema = z.object({
  postRate: z.number(),
  getRate: z.number(),
  maxConcurrent: z.number(),
  deadlineSeconds: z.number(),
  // A stack that was deployed before uploads does not name it.
  maxUnusedUploads: z.number().default(builtInLimits.maxUnusedUploads),
}) satisfies z.ZodType<AccountLimits>;

export interface OperatorServices {
  readonly table: Table;
  /**
   * The limits of an account that is created without its own limits. They are a setting of the deployment.
   */
  readonly defaultLimits: AccountLimits;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly accounts: AccountStore;
  readonly blocks: BlockStore;
  readonly wallet: WalletStore;
  readonly creations: CreationStore;
  readonly charges: ChargeStore;
  readonly cancellation: CancelServices;
  readonly openWork: OpenWorkStore;
  readonly executions: Executions;
  readonly secretBox: ResealingBox;
  readonly deliveries: DeliveryStore;
  /** The operator starts no notice: the reconciler starts it at its next run. */
  readonly notices: NoticeStore;
  readonly outbound: Outbound;
  readonly providers: ProviderStore;
  readonly serviceSwitch: ServiceSwitch;
  /** The setting: how many creations may be open at once in the whole service. */
  readonly serviceCapacity: number;
  readonly health: HealthStore;
  readonly credentials: CredentialEditor;
  readonly operatorCatalog: OperatorCatalogStore;
  readonly vendorAccess: VendorAccess;
  readonly people: PeopleStore;
  /** Where invited people sign in. Empty: the stack is older than the portal. */
  readonly portalUrl: string;
  /** Makes the sign-in of an invited person possible, where the stack has a user pool of its own. */
  readonly registerUser: (email: string) => Promise<InvitationEmail>;
  /** E-mails of the sender that all accounts share. Infinity: no e-mails are sent. */
  readonly emailsADay: number;
  /** Stores the portal's password at the issuer. */
  readonly setSignInSecret: (secret: string) => Promise<void>;
  readonly rotateOriginSecret: () => Promise<OriginSecretRotation>;
  /** The account and the key of the canary. Its calls throw OperatorError when the stack has no canary. */
  readonly canary: CanarySecret;
  readonly releases: {
    readonly store: ReleaseStore;
    /** The functions that have versions. Throws OperatorError for a stack from before the versions. */
    readonly functionNames: () => readonly string[];
    readonly stateMachineArns: readonly string[];
  };
}

/** `clock` is the clock of the service. The clock of a local service can be set forward. */
export function operatorServices(address: ServiceAddress, clock: Clock): OperatorServices {
  const local = { ...callLimits(), ...(address.endpoint !== undefined && localClient(address.endpoint)) };
  const dynamo = new DynamoDBClient(local);
  const client = DynamoDBDocumentClient.from(dynamo, {
    marshallOptions: { removeUndefinedValues: true },
  });
  const secrets = new SecretsManagerClient(local);
  const states = new SFNClient(local);
  const random: RandomBytes = (count) => randomBytes(count);
  const table: Table = { client, name: address.tableName, clock, randomBytes: random };
  const vendorAccess: VendorAccess = {
    credentials: createProviderCredentials({
      client: secrets,
      secretArn: address.providerSecretArn,
      clock,
    }),
    clock,
    baseUrls: address.providerBaseUrls,
  };
  const operatorCatalog = createOperatorCatalogStore(table);
  const calling = new Map(createCallingVendors(vendorAccess).map((vendor) => [vendor.name, vendor]));
  const configured = configuredProviders(
    { find: async (pick) => pick(await operatorCatalog.read()) },
    (definition) => createConfigured(definition, { ...vendorAccess, name: definition.name }),
  );
  const creations = createCreationStore(table);
  // A command has no log. It prints what it has done.
  const log = { info: () => undefined, alarm: () => undefined };
  const charges = createChargeStore(table);
  // The pool of a template that runs on one machine has no stand-in.
  const hasPool = address.userPoolId !== '' && address.endpoint === undefined;
  return {
    table,
    defaultLimits: limitsSchema.parse(JSON.parse(address.defaultLimits)),
    clock,
    randomBytes: random,
    accounts: createAccountStore(table),
    blocks: createBlockStore(table),
    wallet: createWalletStore(table),
    creations,
    charges,
    cancellation: {
      clock,
      log,
      schema,
      creations,
      charges,
      tasks: createTasks(states, { onDefect: () => undefined }),
      providers: { get: async (name) => calling.get(name) ?? configured.get(name) },
    },
    openWork: createOpenWorkStore(table),
    executions: createExecutions(states, {
      plain: address.stateMachineArn,
      callback: address.callbackMachineArn,
    }),
    deliveries: createDeliveryStore(table),
    notices: createNoticeStore(table),
    outbound: createOutbound(address.outboundRules, { clock }),
    providers: createProviderStore(table),
    serviceSwitch: createServiceSwitch(table),
    serviceCapacity: address.serviceCapacity,
    operatorCatalog,
    health: createHealthStore(table),
    people: createPeopleStore(table),
    portalUrl: address.portalUrl,
    ...(hasPool
      ? {
          registerUser: createRegisterUser({
            userPoolId: address.userPoolId,
            credentials: async () => ({
              ...(await dynamo.config.credentials()),
              urlSuffix: await urlSuffixOf(dynamo),
            }),
            clock,
          }),
          emailsADay: poolEmailsADay,
        }
      : { registerUser: () => Promise.resolve('none' as const), emailsADay: Infinity }),
    setSignInSecret: async (secret) => {
      const SecretId = address.signInSecretArn();
      await secrets.send(new PutSecretValueCommand({ SecretId, SecretString: secret }));
    },
    rotateOriginSecret: () =>
      rotateOriginSecret({
        client: secrets,
        randomBytes: random,
        secretArn: address.originSecretArn,
        deployedVersion: address.originSecretVersion,
      }),
    canary: createCanarySecret(secrets, address.canarySecretArn),
    releases: {
      store: createReleaseStore(new LambdaClient(local), states),
      functionNames: address.versionedFunctions,
      stateMachineArns: [address.stateMachineArn, address.callbackMachineArn, address.noticeMachineArn],
    },
    credentials: createCredentialEditor(secrets, address.providerSecretArn),
    vendorAccess,
    secretBox: createSecretBox({
      client: secrets,
      secretArn: address.encryptionSecretArn,
      clock,
      randomBytes: random,
    }),
  };
}

/** The domain of AWS in the partition of the region, as the SDK knows it. */
async function urlSuffixOf({ config }: DynamoDBClient): Promise<string> {
  const region = await config.region();
  return config.endpointProvider({ Region: region }).url.hostname.replace(`dynamodb.${region}.`, '');
}

/** The stand-in identifies a caller by its access key id, and allows the caller `operator` everything. */
function localClient(endpoint: string): object {
  return {
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'local' },
  };
}
