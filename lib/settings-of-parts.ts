/** The settings of alarms, tracing and canary, of the portal, and of the OpenAI-shaped endpoint and MCP. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { openaiModelNames } from '../service/contract/operations.ts';
import { domain, oneOf, reservation, usEastCertificate, wholeNumber } from './setting-values.ts';

const noTraffic = 'must be "off", "anomaly" or {minutes}';

/** The limits of the alarms that depend on the deployment. */
export const alarmSettings = z
  .strictObject(
    {
      /** 95 of 100 requests are charged and started within this time. */
      acceptMillis: wholeNumber(100, 30_000).default(2_000),
      /** 95 of 100 images are there within this time after the acceptance. */
      imageSeconds: wholeNumber(1, 720).default(120),
      /** The quota of concurrent executions of Lambda in this account and region. */
      concurrentExecutions: wholeNumber(10, 1_000_000).default(1_000),
      /**
       * When missing traffic is a fault. "anomaly": fewer creations than CloudWatch has learned to expect at this
       * hour. {minutes}: no creation for so long. "off": never, as for a service that is quiet at night.
       */
      trafficGone: z
        .union(
          [
            z.literal(['off', 'anomaly'], { error: noTraffic }),
            z.strictObject({ minutes: wholeNumber(5, 1_440) }, { error: noTraffic }),
          ],
          { error: noTraffic },
        )
        .default('off'),
    },
    { error: 'must be {acceptMillis, imageSeconds, concurrentExecutions, trafficGone}' },
  )
  .prefault({});

/** Whether functions, state machines and REST APIs send traces to X-Ray. AWS bills each trace. */
export const tracing = z.boolean({ error: 'must be true or false' }).default(false);

const canaryError = 'must be "off" or {everyMinutes}';

/** How often the canary makes a creation. */
export const canary = z
  .union(
    [
      z.literal('off', { error: canaryError }),
      z.strictObject({ everyMinutes: wholeNumber(1, 60) }, { error: canaryError }),
    ],
    { error: canaryError },
  )
  .default('off');

/** The settings of the alarms and of the canary, for the table of alarms. */
export interface AlarmSettings {
  readonly alarms: z.output<typeof alarmSettings>;
  readonly canary: z.output<typeof canary>;
}

const versionId = 'must be the version that `portal rotate-origin-secret` printed';
const trueOrFalse = z.boolean({ error: 'must be true or false' });

function httpsAddress(right: string): z.ZodString {
  return z
    .string({ error: right })
    .refine((text) => URL.parse(text)?.protocol === 'https:', { error: right });
}

const signIn = z.strictObject(
  {
    /** The issuer as its discovery document names it. */
    issuer: httpsAddress('must be the https address of an OpenID Connect issuer'),
    clientId: z.string({ error: 'must be the id of the portal at the issuer' }).min(1),
    /** True for an issuer that leaves email_verified out and verifies every address, such as Microsoft Entra. */
    emailsAreVerified: trueOrFalse.default(false),
    /** False for an issuer that never sends auth_time, such as Google. */
    hasAuthTime: trueOrFalse.default(true),
  },
  { error: 'must be {issuer, clientId}' },
);

/** The settings of the portal. */
export const portalSettings = z
  .strictObject(
    {
      /** The host name of the portal. CloudFront takes certificates of us-east-1 only. */
      domain: domain(usEastCertificate),
      /** Another issuer than the user pool that the stack makes. */
      signIn: signIn.optional(),
      /**
       * Whether Cognito refuses to delete the user pool. A protected pool could not be rolled back, so it is
       * switched on by the second deployment.
       */
      protectUserPool: trueOrFalse.optional(),
      /**
       * The version of the origin secret that the distribution sends. `portal rotate-origin-secret` prints it. Absent:
       * the newest version at the time of the first deployment.
       */
      originSecretVersion: z
        .string({ error: versionId })
        .regex(/^[0-9A-Za-z-]{32,64}$/, { error: versionId })
        .optional(),
      /** Where the wallet page sends a client to pay. Absent: the page shows the contact. */
      paymentUrl: httpsAddress('must be an https address').optional(),
      /** The operator's contact for clients, as a text. */
      contact: z.string({ error: 'must be a text of 1 to 200 characters' }).min(1).max(200).optional(),
    },
    { error: 'must be an object of settings of the portal' },
  )
  .prefault({});

/** Payments. Absent: the portal takes none. */
export const paymentSettings = z
  .strictObject(
    {
      stripe: z.strictObject(
        {
          /** Stripe adds tax to what a person pays. It is never credited, and there is no automatic top-up. */
          automaticTax: trueOrFalse.default(false),
          /** Stripe's page asks for a tax number. */
          taxIds: trueOrFalse.default(false),
          /** Stripe writes an invoice for each payment. */
          invoices: trueOrFalse.default(false),
          /** A dispute suspends its account. */
          suspendOnDispute: trueOrFalse.default(false),
        },
        { error: 'must be {} or an object of settings of Stripe' },
      ),
    },
    { error: 'must be {stripe}' },
  )
  .optional();

const catalogFile = new URL('../service/catalog/models.json', import.meta.url);
const catalogSchema = z.object({ models: z.array(z.object({ id: z.string() })) });

/**
 * Whether the catalog has the model. The file is read only now: an import would fail, before anybody has checked
 * the file and can say what is wrong with it.
 */
function isInCatalog(id: string): boolean {
  const { models } = catalogSchema.parse(JSON.parse(readFileSync(catalogFile, 'utf8')));
  return models.some((model) => model.id === id);
}

const model = z
  .string({ error: 'must be the id of a model in the catalog' })
  .refine(isInCatalog, { error: 'must be the id of a model in the catalog' });

/** Lambda takes 4 KB of environment, and the names are a part of it. */
const mostAliases = 20;

const aliases = z
  .record(
    z.string().regex(/^[\w.:/-]{1,64}$/, {
      error: 'must be names of at most 64 letters, digits and ._:/-',
    }),
    model,
    { error: 'must be an object of names, each with the id of a model in the catalog' },
  )
  .refine((given) => Object.keys(given).length <= mostAliases, {
    error: `must be at most ${mostAliases} names`,
  })
  .refine((given) => Object.keys(given).every((name) => !isInCatalog(name)), {
    error: 'must be other names than those of the catalog',
  });

/** The settings of the OpenAI-shaped endpoint. */
export const openaiSettings = z
  .strictObject(
    {
      /** The model behind the names of OpenAI's own models. */
      defaultModel: model.default('gpt-image-2'),
      /** Further names, and other models for the names of OpenAI's. */
      aliases: aliases.default({}),
    },
    { error: 'must be {defaultModel, aliases}' },
  )
  .prefault({});

/** The value of OPENAI_ALIASES: every name that is not in the catalog, with its model. */
export function openaiAliases({ defaultModel, aliases: own }: z.output<typeof openaiSettings>): string {
  const builtIn = Object.fromEntries(openaiModelNames.map((name) => [name, defaultModel]));
  return JSON.stringify({ ...builtIn, ...own });
}

/**
 * The requests that are held at once, by the function that holds them. Nothing is reserved by default: a new account
 * of AWS may have too few executions for any reservation, and then refuses the first deployment.
 */
export const heldRequests = z
  .strictObject(
    { images: reservation().default('shared'), mcp: reservation().default('shared') },
    { error: 'must be {images, mcp}' },
  )
  .prefault({});

export const gatewayLogRole = oneOf(['create', 'existing']).default('create');

const ids = (kind: 'subnet' | 'sg', example: string): z.ZodArray<z.ZodString> =>
  z
    .array(
      z.string({ error: `must be an id such as ${example}` }).regex(new RegExp(`^${kind}-[0-9a-f]{8,17}$`)),
      {
        error: `must be a list of ids such as ${example}`,
      },
    )
    .min(1, { error: 'must have one id at least' });

/** The setting providerNetwork. Absent: the functions run outside every network of the operator. */
export const providerNetwork = z
  .strictObject(
    {
      subnetIds: ids('subnet', 'subnet-0123456789abcdef0'),
      securityGroupIds: ids('sg', 'sg-0123456789abcdef0'),
    },
    { error: 'must be {subnetIds, securityGroupIds}' },
  )
  .optional();

export type ProviderNetwork = NonNullable<z.output<typeof providerNetwork>>;
