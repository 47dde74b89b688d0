/**
 * Opens the services of an operator's command: by the same openers as the functions, and the editors of
 * secrets.
 */
import { randomBytes } from 'node:crypto';
import { CloudFrontClient } from '@aws-sdk/client-cloudfront';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import type { Copied } from '../local/service-record.ts';
import { createBlockStore } from '../service/api/block-store.ts';
import { callLimits } from '../service/aws/call-limits.ts';
import { readSecretValue } from '../service/aws/secrets.ts';
import { createTopicCalls } from '../service/aws/topic-calls.ts';
import { createCanarySecret } from '../service/canary/canary-account.ts';
import type { ProviderDefinition } from '../service/catalog/provider-definition.ts';
import { createProviderStore } from '../service/catalog/provider-store.ts';
import {
  type AccountLimits,
  defaultLimits as builtInLimits,
  defaultServiceCapacity,
} from '../service/contract/limits.ts';
import { createImageStore, type ImageStore } from '../service/creations/image-store.ts';
import { createBucketStore } from '../service/copies/bucket-store.ts';
import { createResultAddresses, type Signer } from '../service/creations/result-addresses.ts';
import { signedBy } from '../service/creations/result-signer.ts';
import { createCopyStore } from '../service/copies/copy-store.ts';
import { createOpenWorkStore } from '../service/creations/open-work-store.ts';
import { createNoticeExecutions } from '../service/notices/notice-executions.ts';
import type { OutboundRules } from '../service/outbound/client-url.ts';
import { createOutbound } from '../service/outbound/outbound.ts';
import { once } from '../service/platform/common.ts';
import type { Variable } from '../service/platform/environment.ts';
import { openOperator } from '../service/platform/open-operator.ts';
import type { Platform } from '../service/platform/platform.ts';
import { poolEmailsADay } from '../service/portal/invitation-room.ts';
import { createPeopleStore, type InvitationEmail } from '../service/portal/people-store.ts';
import { createRegisterUser, createRemoveUser } from '../service/portal/user-pool.ts';
import { createHealthStore } from '../service/render/health-store.ts';
import { type Clock, type RandomBytes, schema } from '../service/values/runtime.ts';
import { createCallingVendors } from '../service/vendors/calling-vendors.ts';
import { createConfigured } from '../service/vendors/configured.ts';
import { createCredentialEditor, createProviderCredentials } from '../service/vendors/credentials.ts';
import type { VendorAccess } from '../service/vendors/vendors.ts';
import { createSecretBox } from '../service/webhooks/secret-box.ts';
import { openPayments } from './payment-services.ts';
import type { StackAccess } from './evidence/ask-stack.ts';
import { OperatorError } from './operator-error.ts';
import { type OriginSecretRotation, rotateOriginSecret } from './origin-secret.ts';
import { createReleaseStore } from './release-store.ts';
import type { ResultKeyAccess } from './result-keys.ts';

const limitsSchema = z.object({
  postRate: z.number(),
  getRate: z.number(),
  maxConcurrent: z.number(),
  deadlineSeconds: z.number(),
  // A stack that was deployed before these limits does not name them.
  maxUnusedUploads: z.number().default(builtInLimits.maxUnusedUploads),
  userPostRate: z.number().default(builtInLimits.userPostRate),
  userGetRate: z.number().default(builtInLimits.userGetRate),
}) satisfies z.ZodType<AccountLimits>;

export type OperatorServices = ReturnType<typeof operatorServices>;

/** `clock` is the clock of the service. The clock of a local service can be set forward. */
export function operatorServices(address: ServiceAddress, clock: Clock) {
  const { endpoint, secretKey } = address;
  const local = { ...callLimits(), ...(endpoint !== undefined && localClient(endpoint, secretKey)) };
  const dynamo = new DynamoDBClient(local);
  const secrets = new SecretsManagerClient(local);
  const states = new SFNClient(local);
  const lambda = new LambdaClient(local);
  const random: RandomBytes = (count) => randomBytes(count);
  const vendorAccess: VendorAccess = {
    credentials: createProviderCredentials({
      client: secrets,
      secretArn: address.providerSecretArn,
      clock,
    }),
    clock,
    baseUrls: address.providerBaseUrls,
  };
  const guarded = { privateNetworks: address.privateNetworks };
  const secretBox = createSecretBox({
    client: secrets,
    secretArn: address.encryptionSecretArn,
    clock,
    randomBytes: random,
  });
  const images = imagesOf(dynamo, address, clock);
  const platform = {
    clock,
    randomBytes: random,
    schema: () => schema,
    // A command has no log. It prints what it has done.
    log: () => ({ info: () => undefined, alarm: () => undefined }),
    environment: variablesOf(address),
    remembered: <State>(_name: string, make: () => State) => once(make),
    dynamodb: DynamoDBDocumentClient.from(dynamo, { marshallOptions: { removeUndefinedValues: true } }),
    states,
    secretBox,
    outbound: createOutbound(address.outboundRules, { clock }),
    images: () => images,
    vendors: new Map(createCallingVendors(vendorAccess).map((vendor) => [vendor.name, vendor])),
    configured: (definition: ProviderDefinition) =>
      createConfigured(definition, { ...vendorAccess, name: definition.name }, guarded),
  } satisfies Parameters<typeof openOperator>[0];
  const opened = openOperator(platform);
  const { table } = opened;
  // The pool of a template that runs on one machine has no stand-in.
  const hasPool = address.userPoolId !== '' && address.endpoint === undefined;
  const pool = {
    userPoolId: address.userPoolId,
    credentials: async () => ({
      ...(await dynamo.config.credentials()),
      urlSuffix: await urlSuffixOf(dynamo),
    }),
    clock,
  };
  return {
    ...opened,
    secretBox,
    signing: address.signing,
    /** The keys that sign addresses of results. Throws OperatorError when the stack has none. */
    resultKeys: (): ResultKeyAccess => {
      const keys = address.resultKeys;
      if (!keys) throw new OperatorError('The stack signs no addresses: set `resultKeys`, and deploy again.');
      // CloudFront's API is in one region.
      const cloudFront = new CloudFrontClient({ ...local, region: 'us-east-1' });
      return { cloudFront, secrets, keys, now: () => clock.now() };
    },
    results: createResultAddresses(
      address.resultsBaseUrl,
      address.resultKeys && readerOf(secrets, address.resultKeys),
    ),
    /** The limits of an account that is created without its own limits. They are a setting of the deployment. */
    defaultLimits: limitsSchema.parse(JSON.parse(address.defaultLimits)),
    blocks: createBlockStore(table),
    /** The buckets of accounts that get copies of pictures. */
    buckets: createBucketStore(table),
    copies: createCopyStore(table),
    noticeExecutions: createNoticeExecutions(states, address.noticeMachineArn),
    openWork: createOpenWorkStore(table),
    providers: createProviderStore(table),
    /** The setting: how many creations may be open at once in the whole service. */
    serviceCapacity: address.serviceCapacity,
    health: createHealthStore(table),
    people: createPeopleStore(table),
    /** Where invited people sign in. Empty: the stack is older than the portal. */
    portalUrl: address.portalUrl,
    apiUrl: address.apiUrl,
    openaiUrl: address.openaiUrl,
    /** What only a stack in AWS has. */
    deployed: address.deployed && {
      ...address.deployed,
      states,
      place: async () => ({
        ...(await dynamo.config.credentials()),
        region: await dynamo.config.region(),
        urlSuffix: await urlSuffixOf(dynamo),
      }),
    },
    /** What only a service for others on one machine has. */
    owned: address.owned,
    /** Makes the sign-in of an invited person possible, where the stack has a user pool of its own. */
    registerUser: hasPool
      ? createRegisterUser(pool)
      : (_email: string): Promise<InvitationEmail> => Promise.resolve('none'),
    removeUser: hasPool
      ? createRemoveUser(pool)
      : (_email: string): Promise<'removed' | 'none'> => Promise.resolve('none'),
    /** Ends the e-mails of notices to a person, so that SNS forgets the address. */
    removeTopic: async (topic: string): Promise<void> => {
      if (address.mailTopics === '') return;
      const { remove } = createTopicCalls({
        ...(await dynamo.config.credentials()),
        ...(address.endpoint !== undefined && { endpoint: address.endpoint }),
        region: await dynamo.config.region(),
        urlSuffix: await urlSuffixOf(dynamo),
        prefix: address.mailTopics,
        clock,
      });
      await remove(topic);
    },
    /** E-mails of the sender that all accounts share. Infinity: no e-mails are sent. */
    emailsADay: hasPool ? poolEmailsADay : Infinity,
    /** Stores the portal's password at the issuer. */
    setSignInSecret: async (secret: string): Promise<void> => {
      const SecretId = address.signInSecretArn();
      await secrets.send(new PutSecretValueCommand({ SecretId, SecretString: secret }));
    },
    rotateOriginSecret: (): Promise<OriginSecretRotation> =>
      rotateOriginSecret({
        client: secrets,
        randomBytes: random,
        secretArn: address.originSecretArn,
        deployedVersion: address.originSecretVersion,
      }),
    /** The account and the key of the canary. Its calls throw OperatorError when the stack has no canary. */
    canary: createCanarySecret(secrets, address.canarySecretArn),
    releases: {
      store: createReleaseStore(lambda, states),
      /** The functions that have versions. Throws OperatorError for a stack from before the versions. */
      functionNames: address.versionedFunctions,
      stateMachineArns: [address.stateMachineArn, address.callbackMachineArn, address.noticeMachineArn],
    },
    credentials: createCredentialEditor(secrets, address.providerSecretArn),
    takesPayments: address.payments.secretArn !== '',
    /** Payments through Stripe. Throws OperatorError when the stack takes none. */
    payments: () => openPayments(platform, secrets, table, address.payments),
    vendorAccess,
    /** The rules for addresses of configured providers. */
    guarded,
    /** What an export reads and an import writes besides the tables' stores. */
    raw: {
      dynamo,
      secrets,
      secretArns: { encryption: address.encryptionSecretArn, providers: address.providerSecretArn },
      resultsBaseUrl: address.resultsBaseUrl,
      backupRegion: address.backupRegion,
      /** The domain of AWS in the partition of the region. */
      urlSuffix: () => urlSuffixOf(dynamo),
      images,
    },
  };
}

/** The variables of the functions that the opener reads. */
function variablesOf(address: ServiceAddress): Platform['environment'] {
  const variables: Partial<Record<Variable, string>> = {
    TABLE_NAME: address.tableName,
    STATE_MACHINE_ARN: address.stateMachineArn,
    CALLBACK_MACHINE_ARN: address.callbackMachineArn,
    NOTICE_MACHINE_ARN: address.noticeMachineArn,
    PORTAL_URL: address.portalUrl,
  };
  return (name) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`a command has no variable ${name}`);
    return value;
  };
}

/** Reads the key that signs. A command ends soon, so nothing is kept. */
function readerOf(client: SecretsManagerClient, { secretArn, templateKeyId }: ResultKeys): Signer {
  return async (baseUrl) => {
    const { SecretString = '{}' } = await readSecretValue(client, { SecretId: secretArn });
    return signedBy(SecretString, templateKeyId, baseUrl);
  };
}

/** The images of the service. Credentials of an operator are short-lived, so each call asks for them. */
function imagesOf(dynamo: DynamoDBClient, address: ServiceAddress, clock: Clock): ImageStore {
  const endpoint = address.endpoint ?? address.bucketEndpoint;
  const open = async (): Promise<ImageStore> =>
    createImageStore({
      ...(await dynamo.config.credentials()),
      region: await dynamo.config.region(),
      urlSuffix: await urlSuffixOf(dynamo),
      bucket: address.imagesBucket(),
      ...(endpoint !== undefined && { endpoint }),
      clock,
    });
  return {
    put: async (...given) => (await open()).put(...given),
    get: async (...given) => (await open()).get(...given),
    upload: async (...given) => (await open()).upload(...given),
    find: async (...given) => (await open()).find(...given),
    remove: async (...given) => (await open()).remove(...given),
  };
}

/** The domain of AWS in the partition of the region, as the SDK knows it. */
async function urlSuffixOf({ config }: DynamoDBClient): Promise<string> {
  const region = await config.region();
  return config.endpointProvider({ Region: region }).url.hostname.replace(`dynamodb.${region}.`, '');
}

/** The stand-in identifies a caller by its access key id, and allows the caller `operator` everything. */
function localClient(endpoint: string, secretAccessKey = 'local'): object {
  return {
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'operator', secretAccessKey },
  };
}

/** A service for others on one machine, as the owner of its folder sees it. */
export interface OwnedService {
  /** The page at which links sign people in. */
  readonly linkUrl: string;
  /** Copies the folder of the service into another one. Throws OperatorError. */
  readonly backup: (
    to: string,
    tell: (copied: Copied) => void,
    tablesOnly?: boolean,
  ) => Promise<Readonly<Record<string, string | number>>>;
}

/** The names and addresses of a service's resources, from the outputs of its stack. */
interface ServiceAddress extends ReturnType<typeof addressOf> {
  /** In which private networks a provider may be. Absent: in all. */
  readonly privateNetworks?: readonly string[] | undefined;
  /** The address of the stand-in. Absent: AWS itself, with the operator's credentials and region. */
  readonly endpoint?: string;
  readonly owned?: OwnedService;
  readonly deployed?: Pick<StackAccess, 'stack' | 'cloudFormation' | 'endpoints'>;
  /** The address of the bucket's service, where the environment names another one than AWS itself. */
  readonly bucketEndpoint?: string;
  /** The secret key of the stand-in. The default is that of a test machine. */
  readonly secretKey?: string;
}

/** The address of a deployed service. `output` gives an output of the stack by its name, or throws. */
export function addressOf(output: (name: string) => string) {
  return {
    tableName: output('TableName'),
    apiUrl: outputOrNothing(output, 'ApiUrl'),
    openaiUrl: outputOrNothing(output, 'OpenaiBaseUrl'),
    stateMachineArn: output('StateMachineArn'),
    callbackMachineArn: output('CallbackMachineArn'),
    noticeMachineArn: output('NoticeMachineArn'),
    encryptionSecretArn: output('EncryptionSecretArn'),
    /** JSON. */
    defaultLimits: output('DefaultLimits'),
    providerSecretArn: output('ProviderSecretArn'),
    /** The address before the key of an image. */
    resultsBaseUrl: outputOrNothing(output, 'ResultsBaseUrl'),
    /** The accounts whose result addresses are signed: none, those that chose it, or all. */
    signing: outputOrNothing(output, 'Results') || 'off',
    /** Absent: the service signs no addresses. */
    resultKeys: resultKeysOf(output),
    // A stack from before the setting has the default.
    serviceCapacity: Number(outputOrNothing(output, 'ServiceCapacity') || defaultServiceCapacity),
    /** The names of the functions that have versions. The functions below throw when the stack is too old. */
    versionedFunctions: (): readonly string[] => output('VersionedFunctions').split(','),
    /** The address of the portal, which invited people need. Empty: the stack is older than the portal. */
    portalUrl: outputOrNothing(output, 'PortalUrl'),
    /** The pool in which invited people get a user. Empty: people sign in elsewhere. */
    userPoolId: outputOrNothing(output, 'UserPoolId'),
    /** The beginning of the ARN of each person's topic. Empty: the stack is older than the e-mails. */
    mailTopics: outputOrNothing(output, 'MailTopics'),
    /** Where copies of backups go. Empty: nowhere. */
    backupRegion: outputOrNothing(output, 'BackupRegion'),
    /** The bucket with the images. */
    imagesBucket: () => output('ImagesBucket'),
    /** The secret with the portal's password at the issuer. */
    signInSecretArn: () => output('SignInSecretArn'),
    /** The secret that the portal's distribution sends. */
    originSecretArn: () => output('OriginSecretArn'),
    /** The version of this secret that the deployed template names, or "AWSCURRENT". */
    originSecretVersion: () => output('OriginSecretVersion'),
    /** The secret with the key of the canary. */
    canarySecretArn: () => {
      const arn = outputOrNothing(output, 'CanarySecretArn');
      if (arn === '')
        throw new OperatorError('The stack has no canary: set `canary` in its settings, and deploy again.');
      return arn;
    },
    payments: {
      secretArn: outputOrNothing(output, 'PaymentSecretArn'),
      settings: outputOrNothing(output, 'PaymentSettings'),
      apiUrl: outputOrNothing(output, 'ApiUrl'),
    },
    /** Other addresses than the vendors' own ones, by provider. */
    providerBaseUrls: {} as Readonly<Record<string, string>>,
    outboundRules: 'public' as OutboundRules,
  };
}

/** The keys of a service that signs addresses of results. */
export interface ResultKeys {
  readonly secretArn: string;
  readonly keyGroupId: string;
  /** CloudFront's id of the public key that the template names. */
  readonly templateKeyId: string;
}

function resultKeysOf(output: (name: string) => string): ResultKeys | undefined {
  const secretArn = outputOrNothing(output, 'ResultKeySecretArn');
  if (secretArn === '') return undefined;
  return { secretArn, keyGroupId: output('ResultKeyGroupId'), templateKeyId: output('ResultKeyId') };
}

/** An output that not every stack has. */
function outputOrNothing(output: (name: string) => string, name: string): string {
  try {
    return output(name);
  } catch (error) {
    if (error instanceof OperatorError) return '';
    throw error;
  }
}
