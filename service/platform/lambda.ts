/** The parts of the platform in Lambda. An entry hands an opener only those that the opener takes. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { callLimits } from '../aws/call-limits.ts';
import { systemClock as clock } from '../aws/clock.ts';
import { createPlainSecret, createReplaceableSecret } from '../aws/secrets.ts';
import { createTopicCalls } from '../aws/topic-calls.ts';
import { createTopics } from '../aws/topics.ts';
import { createSignedSecret } from '../aws/signed-secret.ts';
import type { Catalog, ProviderCosts } from '../catalog/catalog-schema.ts';
import models from '../catalog/models.json' with { type: 'json' };
import costs from '../catalog/provider-costs.json' with { type: 'json' };
import { createImageStore } from '../creations/image-store.ts';
import { createOutbound } from '../outbound/outbound.ts';
import type { PaymentSettings } from '../contract/payment-settings.ts';
import { createPaymentSystem, type StripeSecret } from '../payments/payment-system.ts';
import { poolEmailsADay } from '../portal/invitation-room.ts';
import { createRegisterUser } from '../portal/user-pool.ts';
import { createUploadTargets } from '../uploads/upload-targets.ts';
import { createCallingVendors } from '../vendors/calling-vendors.ts';
import { Overloaded } from '../values/errors.ts';
import { createConfigured } from '../vendors/configured.ts';
import { createProviderCredentials } from '../vendors/credentials.ts';
import { createSandboxProvider, type Protect } from '../vendors/sandbox/provider.ts';
import { createVendors, type VendorAccess } from '../vendors/vendors.ts';
import { createSecretBox } from '../webhooks/secret-box.ts';
import { once } from './common.ts';
import { awsEnvironment, environment, outboundRules } from './environment.ts';
import { random } from './lambda-base.ts';
import type { Platform } from './platform.ts';

export function dynamodb(): Platform['dynamodb'] {
  return DynamoDBDocumentClient.from(new DynamoDBClient(callLimits()), {
    marshallOptions: { removeUndefinedValues: true },
  });
}

export function states(): Platform['states'] {
  return new SFNClient(callLimits());
}

export function secrets(): Platform['secrets'] {
  return new SecretsManagerClient(callLimits());
}

export const images: Platform['images'] = (signal) =>
  createImageStore({
    clock,
    bucket: environment('IMAGES_BUCKET'),
    ...awsEnvironment(),
    ...(signal && { signal }),
  });

/** A picture that would take more than this share of the function's memory to decode is not decoded. */
const decodingShare = 1 / 6;

export const thumbnails: Platform['thumbnails'] = async (bytes, signal) => {
  const { makeThumbnails } = await import('../render/thumbnails/make.ts');
  return makeThumbnails(bytes, { signal, mostBytes: mostDecodedBytes() });
};

function mostDecodedBytes(): number {
  return Number(process.env['AWS_LAMBDA_FUNCTION_MEMORY_SIZE']) * 2 ** 20 * decodingShare;
}

export const measures: Platform['measures'] = {
  isTransparent: async (bytes, signal) => {
    const { isTransparent } = await import('../render/pixels/transparency.ts');
    return isTransparent(bytes, { signal, mostBytes: mostDecodedBytes() });
  },
  changeWhereProtected: async (images, signal) => {
    const { changeWhereProtected } = await import('../render/pixels/mask.ts');
    return changeWhereProtected(images, { signal, mostBytes: mostDecodedBytes() });
  },
  seeThroughMask: async (mask, signal) => {
    const { seeThroughMask } = await import('../render/pixels/mask.ts');
    return seeThroughMask(mask, signal);
  },
};

export function uploadTargets(): Platform['uploadTargets'] {
  // On one machine, clients upload at the public address, and functions call a port of the machine.
  const endpoint = process.env['AWS_ENDPOINT_URL_S3'];
  const place = { ...awsEnvironment(), ...(endpoint !== undefined && { endpoint }) };
  return createUploadTargets({ bucket: environment('IMAGES_BUCKET'), ...place });
}

export function outbound(): Platform['outbound'] {
  return createOutbound(outboundRules(environment), { clock });
}

export function secretBox(): Platform['secretBox'] {
  const secretArn = environment('ENCRYPTION_SECRET_ARN');
  return createSecretBox({ client: secrets(), secretArn, clock, randomBytes: random });
}

export function resultSigner(): Platform['resultSigner'] {
  const secretArn = environment('RESULT_KEY_ARN');
  if (secretArn === '') return undefined;
  const opened = once(async () => {
    const { openSigner } = await import('../creations/result-signer.ts');
    return openSigner({ ...awsEnvironment(), secretArn, clock }, environment('RESULT_KEY_ID'));
  });
  return async (baseUrl) => {
    const addressOf = await (await opened())(baseUrl);
    if (!addressOf) throw new Overloaded();
    return addressOf;
  };
}

export function originSecrets(): Platform['originSecrets'] {
  return createReplaceableSecret({ client: secrets(), secretArn: environment('ORIGIN_SECRET_ARN'), clock });
}

export function signedOriginSecrets(): Platform['originSecrets'] {
  return createSignedSecret({ ...awsEnvironment(), secretArn: environment('ORIGIN_SECRET_ARN'), clock });
}

/** One machine that serves others has no SNS. */
export function topics(): Platform['topics'] {
  const prefix = environment('MAIL_TOPICS');
  return prefix === '' ? undefined : createTopics({ ...awsEnvironment(), prefix, clock });
}

export function removeTopic(): Platform['removeTopic'] {
  const prefix = environment('MAIL_TOPICS');
  return prefix === '' ? undefined : createTopicCalls({ ...awsEnvironment(), prefix, clock }).remove;
}

export function paymentSystem(): Platform['paymentSystem'] {
  const readText = createPlainSecret({
    client: secrets(),
    secretArn: environment('PAYMENT_SECRET_ARN'),
    clock,
  });
  return createPaymentSystem({
    settings: JSON.parse(environment('PAYMENT_SETTINGS')) as PaymentSettings,
    readSecret: async () => JSON.parse(await readText()) as StripeSecret,
    clock,
  });
}

export const registration: Platform['registration'] = (signal) => {
  const userPoolId = environment('USER_POOL_ID');
  if (userPoolId === '') return { registerUser: () => Promise.resolve('none'), emailsADay: Infinity };
  const credentials = () => Promise.resolve(awsEnvironment());
  return {
    registerUser: createRegisterUser({ userPoolId, credentials, clock, signal }),
    emailsADay: poolEmailsADay,
  };
};

export function callingVendors(access = vendorAccess()): Platform['vendors'] {
  return new Map(createCallingVendors(access).map((vendor) => [vendor.name, vendor]));
}

/** The providers that may be able to stop a job: the vendors that call back, and those that are configured. */
export function stoppingVendors(): Pick<Platform, 'vendors' | 'configured'> {
  const access = vendorAccess();
  return { vendors: callingVendors(access), configured: configuredBy(access) };
}

export function allVendors(): Pick<Platform, 'vendors' | 'configured'> {
  const crash = (): never => process.exit(1);
  const protect: Protect = async (images, size, signal) => {
    const { protectedPixels } = await import('../render/pixels/mask.ts');
    return protectedPixels(images, size, { signal, mostBytes: mostDecodedBytes() });
  };
  const sandboxes = new Map(
    ['sandbox', 'sandbox-large'].map((name) => [
      name,
      createSandboxProvider({ name, clock, crash, protect }),
    ]),
  );
  const access = vendorAccess();
  const vendors = createVendors({ ...access, bedrockRegion: environment('BEDROCK_REGION') });
  return {
    vendors: { get: (name) => sandboxes.get(name) ?? vendors.get(name) },
    configured: configuredBy(access),
  };
}

/** The keys of the vendors, and the addresses that replace the vendors' own. */
function vendorAccess(): VendorAccess {
  const secretArn = environment('PROVIDER_SECRET_ARN');
  return {
    credentials: createProviderCredentials({ client: secrets(), secretArn, clock }),
    clock,
    baseUrls: JSON.parse(environment('PROVIDER_BASE_URLS')) as Readonly<Record<string, string>>,
  };
}

function configuredBy({ credentials }: VendorAccess): Platform['configured'] {
  // Of a service for others on one machine (docs/one-machine.md). AWS has networks of its own.
  const privateNetworks = process.env['PRIVATE_NETWORKS']?.split(',').filter(Boolean);
  return (definition) =>
    createConfigured(definition, { name: definition.name, credentials, clock }, { privateNetworks });
}

// A test and the synthesis check both files against their schemas.
export const catalog = models as Catalog;
export const providerCosts = costs as ProviderCosts;
