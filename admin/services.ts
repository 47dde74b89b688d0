/** Opens the adapters for an operator's command. The functions use the same adapters. */
import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { type AccountStore, createAccountStore } from '../service/accounts/account-store.ts';
import { createWalletStore, type WalletStore } from '../service/accounts/wallet-store.ts';
import { type BlockStore, createBlockStore } from '../service/api/block-store.ts';
import { callLimits } from '../service/aws/call-limits.ts';
import type { Table } from '../service/aws/dynamodb/table.ts';
import { createTasks } from '../service/aws/step-functions-tasks.ts';
import { type CanarySecret, createCanarySecret } from '../service/canary/canary-account.ts';
import {
  createOperatorCatalogStore,
  type OperatorCatalogStore,
} from '../service/catalog/operator-catalog-store.ts';
import { createProviderStore, type ProviderStore } from '../service/catalog/provider-store.ts';
import { type AccountLimits, defaultLimits as builtInLimits } from '../service/contract/limits.ts';
import type { CancelServices } from '../service/creations/cancel.ts';
import { createChargeStore } from '../service/creations/charge-store.ts';
import type { ChargeStore } from '../service/creations/charges.ts';
import type { CreationStore } from '../service/creations/creation-reads.ts';
import { createCreationStore } from '../service/creations/creation-store.ts';
import { createExecutions, type Executions, type OpenWorkStore } from '../service/creations/executions.ts';
import { createOpenWorkStore } from '../service/creations/open-work-store.ts';
import { createServiceSwitch, type ServiceSwitch } from '../service/creations/service-switch-store.ts';
import { createNoticeStore, type NoticeStore } from '../service/notices/notice-store.ts';
import { createOutbound, type Outbound } from '../service/outbound/outbound.ts';
import { poolEmailsADay } from '../service/portal/invitation-room.ts';
import { createPeopleStore, type InvitationEmail, type PeopleStore } from '../service/portal/people-store.ts';
import { createRegisterUser } from '../service/portal/user-pool.ts';
import { createHealthStore, type HealthStore } from '../service/render/health-store.ts';
import type { Clock, RandomBytes } from '../service/values/runtime.ts';
import { schema } from '../service/values/schema-version.ts';
import { createCallingVendors } from '../service/vendors/calling-vendors.ts';
import { configuredProviders } from '../service/vendors/configured-providers.ts';
import { createConfigured } from '../service/vendors/configured.ts';
import {
  createCredentialEditor,
  createProviderCredentials,
  type CredentialEditor,
} from '../service/vendors/credentials.ts';
import type { VendorAccess } from '../service/vendors/vendors.ts';
import { createDeliveryStore } from '../service/webhooks/delivery-store.ts';
import type { DeliveryStore } from '../service/webhooks/delivery.ts';
import { createSecretBox, type ResealingBox } from '../service/webhooks/secret-box.ts';
import { type OriginSecretRotation, rotateOriginSecret } from './origin-secret.ts';
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
