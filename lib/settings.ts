/**
 * The settings of a deployment. Each stage has a file in lib/config/. Every setting has a default,
 * so that `cdk deploy` works without settings.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import * as z from 'zod';
import {
  defaultServiceCapacity,
  heldShare,
  limitRanges,
  resultAccesses,
  serviceCapacityRange,
} from '../service/contract/limits.ts';
import { concurrencySettings } from './concurrency-settings.ts';
import {
  domain,
  oneOf,
  region,
  regionalCertificate,
  usEastCertificate,
  webAclArns,
  wholeNumber,
} from './setting-values.ts';
import {
  alarmSettings,
  canary,
  gatewayLogRole,
  heldRequests,
  openaiSettings,
  paymentSettings,
  portalSettings,
  providerNetwork,
  tracing,
} from './settings-of-parts.ts';

/** The retentions of CloudWatch Logs, in days. No log is to stay for ever. */
const retentions: readonly number[] = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

/** Takes a plain number, so that neither a file of settings nor the preflight loads the CDK. */
function retention(): z.ZodPipe<z.ZodNumber, z.ZodTransform<RetentionDays, number>> {
  return z
    .number({ error: `must be one of ${retentions.join(', ')}` })
    .refine((days) => retentions.includes(days))
    .transform((days): RetentionDays => days);
}

const limits = {
  postRate: wholeNumber(...limitRanges.postRate).optional(),
  getRate: wholeNumber(...limitRanges.getRate).optional(),
  userPostRate: wholeNumber(...limitRanges.userPostRate).optional(),
  userGetRate: wholeNumber(...limitRanges.userGetRate).optional(),
  maxConcurrent: wholeNumber(...limitRanges.maxConcurrent).optional(),
  deadlineSeconds: wholeNumber(...limitRanges.deadlineSeconds).optional(),
  maxUnusedUploads: wholeNumber(...limitRanges.maxUnusedUploads).optional(),
};

const settingsSchema = z
  .strictObject(
    {
      /** The API's own host name, with a certificate of ACM in the stack's region. */
      apiDomain: domain(regionalCertificate),
      /**
       * Whether API Gateway also answers at its own addresses. With "off", apiDomain is the only way, also from the
       * portal's distribution, so DNS must lead to it before the portal works.
       */
      defaultAddresses: oneOf(['on', 'off']).default('on'),
      /** Firewalls before the portal, and before the OpenAI-shaped endpoint and MCP. An HTTP API takes none. */
      webAclArn: webAclArns,
      /** The host name of the images. CloudFront takes certificates of us-east-1 only. */
      resultsDomain: domain(usEastCertificate),
      /** Days for which clients can fetch results. Copies of source images are always deleted within 48 h. */
      resultDays: wholeNumber(1, 3_650).default(30),
      /**
       * Who can open a result: everybody who has its address, or with "signed" everybody who has an unexpired
       * signed address. With "unguessable", an account can still choose "signed" if `resultKeys` is set.
       */
      results: oneOf(resultAccesses).default('unguessable'),
      /** Whether the stack has the keys that sign addresses of results. `results: "signed"` brings them, too. */
      resultKeys: z.boolean({ error: 'must be true or false' }).default(false),
      /** Whether each result gets two thumbnails, which the portal shows in lists. */
      thumbnails: z.boolean({ error: 'must be true or false' }).default(true),
      /** Days after which the texts of a creation are erased: prompt, metadata, user, webhook. 0: never. */
      keepPromptsDays: wholeNumber(0, 3_650).default(90),
      /**
       * The origins of web pages that may put uploads from a browser, such as https://app.example.com. By default
       * every page may: the signed address is the only credential, and a browser adds none.
       */
      uploadOrigins: z
        .array(
          z
            .string({ error: 'must be "*" or an origin, such as https://app.example.com' })
            .regex(/^(\*|https?:\/\/[a-z0-9.-]+(:\d{1,5})?)$/, {
              error: 'must be "*" or an origin, such as https://app.example.com',
            }),
          { error: 'must be a list of origins' },
        )
        .min(1, { error: 'must be a list of origins' })
        .default(['*']),
      /** The retention of every log group. */
      logRetentionDays: retention().prefault(30),
      /** The limits of accounts that are created without their own. Existing accounts keep their limits. */
      limits: z.strictObject(limits, { error: 'must be an object of limits' }).default({}),
      /** The form in which a failed authentication is answered (docs/api.md). */
      authFailureForm: oneOf(['envelope', 'plain']).default('envelope'),
      /**
       * The page where a client can top up its wallet. Answers of 402 name it. Empty: the wallet page of the portal.
       */
      topUpUrl: z
        .string({ error: 'must be an https address, or empty' })
        .refine((text) => text === '' || URL.parse(text)?.protocol === 'https:')
        .default(''),
      /** The address that gets the alarms. Absent: the topic exists and has no subscriber. */
      alarmEmail: z.email({ error: 'must be an e-mail address' }).optional(),
      /** A budget of the whole AWS account, which notifies the topic of the alarms. Absent: none. */
      budget: z
        .strictObject({ monthlyUsd: wholeNumber(1, 10_000_000) }, { error: 'must be {monthlyUsd}' })
        .optional(),
      /** The limits of the alarms that depend on the deployment. */
      alarms: alarmSettings,
      /** Whether functions, state machines and REST APIs send traces to X-Ray. */
      tracing,
      /** How often the canary makes a creation of the sandbox over the public API. */
      canary,
      /**
       * Who gets the sandbox: no account, the accounts that the operator has marked (the account of the
       * canary is marked), or to every account.
       */
      sandbox: oneOf(['off', 'marked', 'on']).default('marked'),
      /** The region in which models of Amazon Bedrock are invoked. us-west-2 offers Stability's models. */
      bedrockRegion: region.default('us-west-2'),
      /** A copy of each night's backup of the table goes to this region, and the encryption secret, too. */
      backup: z.strictObject({ copyToRegion: region }, { error: 'must be {copyToRegion}' }).optional(),
      /**
       * The private network in which the functions render, for providers with a private address, such as an own
       * GPU. Its subnets need a way to the internet for all other vendors.
       */
      providerNetwork,
      /** A table that was restored from a backup. The functions use it; the stack keeps its own table unchanged. */
      restoredTable: z
        .string({ error: 'must be the name of a table' })
        .regex(/^[a-zA-Z0-9_.-]{3,255}$/)
        .optional(),
      /** The architecture of the functions' processors. arm64 is a fifth cheaper. */
      architecture: oneOf(['arm64', 'x86_64']).default('arm64'),
      /**
       * StartExecution calls that Step Functions allows a second. AWS allows 300 in us-east-1, us-west-2 and
       * eu-west-1, and 150 in other regions. The reconciler stays below what others leave of it.
       */
      startsPerSecond: wholeNumber(10, 10_000).default(150),
      /**
       * Creations that may be open at once in the whole service. A request beyond them gets 429. It has to fit what
       * Lambda may run at once (docs/capacity.md).
       */
      serviceCapacity: wholeNumber(...serviceCapacityRange).default(defaultServiceCapacity),
      /**
       * How a deployment moves requests to the new API functions. In steps, a deployment takes five or ten
       * minutes longer, and an alarm ends it.
       */
      apiTraffic: oneOf([
        'all-at-once',
        'canary-10-percent-5-minutes',
        'linear-10-percent-every-1-minute',
      ]).default('all-at-once'),
      /** The portal, where clients help themselves. */
      portal: portalSettings,
      /** Payments by card in the portal, through Stripe. Absent: none. */
      payments: paymentSettings,
      /** The models behind the names that clients of the OpenAI API send. */
      openai: openaiSettings,
      /** How many requests are held at once while their images are made. */
      heldRequests,
      /** The percentage of a door's slots that held requests of one account may take. */
      heldSharePercent: wholeNumber(1, 100).default(heldShare.percent),
      /** The executions of Lambda that are set apart for each kind of work. */
      concurrency: concurrencySettings,
      /** Who makes the role by which API Gateway writes the access logs of REST APIs in this account and region. */
      gatewayLogRole,
      /** The limits of each route of an API, which apply before the limits of an account. */
      throttling: z
        .strictObject(
          {
            ratePerSecond: wholeNumber(1, 100_000).default(500),
            burst: wholeNumber(1, 5_000).default(1_000),
          },
          { error: 'must be {ratePerSecond, burst}' },
        )
        .prefault({}),
    },
    { error: 'must be an object of settings' },
  )
  .refine(({ sandbox, canary: every }) => sandbox !== 'off' || every === 'off', {
    path: ['sandbox'],
    error: 'must be marked or on, because the canary orders pictures of the sandbox',
  })
  .refine(({ payments, portal }) => payments === undefined || portal.paymentUrl === undefined, {
    path: ['portal', 'paymentUrl'],
    error: 'must be left out, because payments are taken through Stripe',
  })
  .refine(({ defaultAddresses, apiDomain }) => defaultAddresses === 'on' || apiDomain !== undefined, {
    path: ['defaultAddresses'],
    error: 'must be on, because apiDomain is not set and nothing else leads to the API',
  });

/** The settings that a file of lib/config/ names: some, all or none. */
export type SettingsInput = z.input<typeof settingsSchema>;
/** All settings, with defaults instead of those that the file leaves out. */
export type Settings = z.output<typeof settingsSchema>;

/** Wrong settings, which are not deployed. The message has a line for each wrong field. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * Checks the settings of a file and fills in the defaults. Throws SettingsError.
 * @param file the name of the file, for the error
 */
export function parseSettings(file: string, input: unknown): Settings {
  const parsed = settingsSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new SettingsError(
    parsed.error.issues
      .flatMap((issue) => linesOf(issue, input))
      .map((line) => `${file}: ${line}`)
      .join('\n'),
  );
}

/** Whether the stack signs addresses of results: of all accounts, or of those that chose it. */
export function signsResults({ results, resultKeys }: Settings): boolean {
  return results === 'signed' || resultKeys;
}

/** The same settings, and what one machine always has: payments through Stripe, and keys that sign addresses. */
export function forOneMachine(settings: Settings): Settings {
  const { paymentUrl: _replaced, ...portal } = settings.portal;
  const payments = settings.payments ?? parseSettings('settings', { payments: { stripe: {} } }).payments;
  return { ...settings, portal, resultKeys: true, ...(payments && { payments }) };
}

function linesOf(issue: z.core.$ZodIssue, input: unknown): string[] {
  const path = issue.path.map(String);
  const nameOf = (...more: string[]): string => [...path, ...more].join('.') || 'settings';
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${nameOf(key)}: there is no such setting`);
  const value = path.reduce<unknown>(
    (at, name) => (at as Record<string, unknown> | null | undefined)?.[name],
    input,
  );
  return [`${nameOf()}: ${issue.message} (is ${textOf(value)})`];
}

function textOf(value: unknown): string {
  if (value === undefined) return 'missing';
  try {
    const hasNoJson = (part: unknown): boolean => typeof part === 'bigint' || typeof part === 'function';
    return JSON.stringify(value, (_name, part: unknown) => (hasNoJson(part) ? String(part) : part));
  } catch {
    return 'a value that refers to itself';
  }
}

/** The stage of `cdk deploy` without `-c stage=NAME`. */
export const defaultStage = 'default';

/** The stage whose stack may be deleted at any time. */
const developmentStage = 'dev';

export interface NamedStack {
  readonly stackName: string;
  /** Whether CloudFormation refuses to delete the stack. */
  readonly terminationProtection: boolean;
}

/** The stack of a stage. */
export function stackOf(stage: string): NamedStack {
  return stackNamed(stage === defaultStage ? 'Darkroom' : `Darkroom-${stage}`);
}

/** Throws SettingsError. Cognito's prefix has 63 characters, with the name and the account. */
export function stackNamed(stackName: string): NamedStack {
  if (!/^[A-Za-z][A-Za-z0-9-]{0,39}$/.test(stackName))
    throw new SettingsError(
      `stack: ${JSON.stringify(stackName)} must be a name of letters, digits and hyphens, 40 at most`,
    );
  return { stackName, terminationProtection: stackName !== `Darkroom-${developmentStage}` };
}

/** The settings of a JSON file, or the defaults. Throws SettingsError. */
export function settingsIn(file: string | undefined): Settings {
  return parseSettings(file ?? 'settings', file === undefined ? {} : jsonOf(file));
}

function jsonOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SettingsError(`${file}: cannot be read (${why})`, { cause: error });
  }
}

const configFolder = new URL('./config/', import.meta.url);

/**
 * The settings of lib/config/STAGE.ts. Throws SettingsError, also for a stage that has no such file.
 * @param folder another folder instead of lib/config/, for tests
 */
export async function settingsOf(stage: string, folder = configFolder): Promise<Settings> {
  // The name of a stage becomes part of a path and of names in AWS.
  if (!/^[a-z][a-z0-9-]{0,29}$/.test(stage))
    throw new SettingsError(
      `stage: ${JSON.stringify(stage)} must be a name of small letters, digits and hyphens, 30 at most`,
    );
  const file = `lib/config/${stage}.ts`;
  const url = new URL(`${stage}.ts`, folder);
  if (!existsSync(url))
    throw new SettingsError(
      `stage: there is no ${file}; copy lib/config/${defaultStage}.ts to begin with, or use --stack and --settings`,
    );
  return parseSettings(file, await defaultExportOf(file, url));
}

async function defaultExportOf(file: string, url: URL): Promise<unknown> {
  try {
    return ((await import(url.href)) as { default?: unknown }).default;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SettingsError(`${file}: cannot be loaded (${why})`, { cause: error });
  }
}
