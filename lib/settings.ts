/**
 * What an operator can choose for a deployment: a file of config/ a stage. All of it has
 * a default, so that `cdk deploy` without settings works.
 */
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import * as z from 'zod';
import { limitRanges } from '../core/limits.ts';

/** The retentions of CloudWatch Logs, in days. INFINITE is left out: a log that stays for ever is not wanted. */
const retentions = Object.values(RetentionDays).filter(
  (days) => typeof days === 'number' && days !== RetentionDays.INFINITE,
);

const hostName = z
  .string({ error: 'must be a host name, such as api.example.com' })
  .regex(/^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/, {
    error: 'must be a host name in lower case, such as api.example.com',
  });

function domain(
  certificate: RegExp,
  right: string,
): z.ZodOptional<z.ZodObject<{ name: z.ZodString; certificateArn: z.ZodString }, z.core.$strict>> {
  return z
    .strictObject(
      { name: hostName, certificateArn: z.string({ error: right }).regex(certificate) },
      { error: 'must be {name, certificateArn}' },
    )
    .optional();
}

function wholeNumber(least: number, most: number): z.ZodNumber {
  const right = `must be a whole number from ${least} to ${most}`;
  return z.int({ error: right }).min(least).max(most);
}

function oneOf<const Values extends readonly string[]>(
  values: Values,
): z.ZodEnum<{ [Value in Values[number]]: Value }> {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

/** Takes a plain number, so that a file of settings need not import the enumeration of the CDK. */
function retention(): z.ZodCustom<RetentionDays, RetentionDays> {
  const isRetention = (days: unknown): boolean => retentions.some((known) => known === days);
  return z.custom<RetentionDays>(isRetention, { error: `must be one of ${retentions.join(', ')}` });
}

const limits = {
  postRate: wholeNumber(...limitRanges.postRate).optional(),
  getRate: wholeNumber(...limitRanges.getRate).optional(),
  maxConcurrent: wholeNumber(...limitRanges.maxConcurrent).optional(),
  deadlineSeconds: wholeNumber(...limitRanges.deadlineSeconds).optional(),
};

const settingsSchema = z.strictObject(
  {
    /** The API's own host name, with a certificate of ACM in the stack's region. */
    apiDomain: domain(
      /^arn:aws[\w-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
      "must be the ARN of an ACM certificate in the stack's region",
    ),
    /** That of the images. CloudFront takes certificates of us-east-1 only. */
    resultsDomain: domain(
      /^arn:aws[\w-]*:acm:us-east-1:\d{12}:certificate\/[\w-]+$/,
      'must be the ARN of an ACM certificate in us-east-1, whatever the region of the stack',
    ),
    /** Days for which results can be fetched. Source images go within 48 h, whatever is set. */
    resultDays: wholeNumber(1, 3_650).default(30),
    /** Of every log group. */
    logRetentionDays: retention().prefault(30),
    /** Of accounts that are created without limits of their own; those of accounts that exist stay. */
    limits: z.strictObject(limits, { error: 'must be an object of limits' }).default({}),
    /** The form of a failed authentication (interface.md, part 5). */
    authFailureForm: oneOf(['envelope', 'plain']).default('envelope'),
    /** Where a client can top up its wallet, named in 402 answers; empty: /portal/wallet under the API's own domain. */
    topUpUrl: z
      .string({ error: 'must be an https address, or empty' })
      .refine((text) => text === '' || URL.parse(text)?.protocol === 'https:')
      .default(''),
    /** Who hears of alarms. Without it the topic is there and has no subscriber. */
    alarmEmail: z.email({ error: 'must be an e-mail address' }).optional(),
    /** Where the models of Amazon Bedrock are invoked; Stability's are offered in us-west-2. */
    bedrockRegion: z
      .string({ error: 'must be a region, such as us-west-2' })
      .regex(/^[a-z]{2}(-[a-z]+)+-\d$/)
      .default('us-west-2'),
    /** A table restored from a backup, used in place of the stack's own, which stays as it is. */
    restoredTable: z
      .string({ error: 'must be the name of a table' })
      .regex(/^[a-zA-Z0-9_.-]{3,255}$/)
      .optional(),
    /** Of the functions' processors; arm64 is a fifth cheaper. */
    architecture: oneOf(['arm64', 'x86_64']).default('arm64'),
    /** What the whole API takes, before any account's own limit. */
    throttling: z
      .strictObject(
        { ratePerSecond: wholeNumber(1, 10_000).default(500), burst: wholeNumber(1, 5_000).default(1_000) },
        { error: 'must be {ratePerSecond, burst}' },
      )
      .prefault({}),
  },
  { error: 'must be an object of settings' },
);

/** What a file of config/ gives: any part of it. */
export type SettingsInput = z.input<typeof settingsSchema>;
/** Everything, with its defaults. */
export type Settings = z.output<typeof settingsSchema>;

/** Settings that must not be deployed; the message has a line for each field that is wrong. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** The settings of a file, its name said in the error. Throws SettingsError. */
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
