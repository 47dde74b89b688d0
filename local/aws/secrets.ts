import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { isObject } from '../json.ts';
import {
  type AwsCall,
  type AwsOutput,
  type AwsService,
  localAccount,
  localRegion,
  parseInput,
  unknownOperation,
} from './aws-call.ts';
import { AwsError } from './aws-error.ts';

/** Runs pieces of work one after the other, in the order of the calls. */
export type Mutex = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Makes a mutex. A piece of work that throws does not stop the next one. */
function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work, work);
    // The caller handles a rejection of `result`. Without this catch Node would report it as unhandled here.
    last = result.catch(() => undefined);
    return result;
  };
}

const versionSchema = z.object({
  text: z.string().optional(),
  /** Base64. */
  binary: z.string().optional(),
  stages: z.array(z.string()),
  createdAtMs: z.number(),
});

/** A secret in the form of its file. Files of a data folder hold these names. */
const secretSchema = z.object({
  arn: z.string(),
  name: z.string(),
  createdAtMs: z.number(),
  versions: z.record(z.string(), versionSchema),
});

/** A secret with its current and its previous version. */
type Secret = z.output<typeof secretSchema>;

/** One value of a secret. */
export type SecretVersion = z.output<typeof versionSchema>;

/** A new value in a request. */
export interface NewValue {
  readonly SecretString?: string | undefined;
  readonly SecretBinary?: string | undefined;
}

/**
 * The secret with a new current version. The version that was current becomes the previous one. A version
 * without a stage is deprecated, and AWS deletes it. The same id with the same value changes nothing. The
 * same id with another value throws ResourceExistsException.
 */
function putVersion(secret: Secret, id: string, value: NewValue, nowMillis: number): Secret {
  const existing = secret.versions[id];
  if (existing !== undefined) {
    if (existing.text === value.SecretString && existing.binary === value.SecretBinary) return secret;
    throw new AwsError(
      'ResourceExistsException',
      `You can't use ClientRequestToken ${id} because that value is already in use for a version of secret ${secret.arn}.`,
    );
  }
  const current = Object.entries(secret.versions).find(([, version]) =>
    version.stages.includes('AWSCURRENT'),
  );
  const previous = current === undefined ? {} : { [current[0]]: { ...current[1], stages: ['AWSPREVIOUS'] } };
  const added: SecretVersion = {
    text: value.SecretString,
    binary: value.SecretBinary,
    stages: ['AWSCURRENT'],
    createdAtMs: nowMillis,
  };
  return { ...secret, versions: { ...previous, [id]: added } };
}

/**
 * Finds a version by its id, by its stage, or by both; without either the current version. Throws
 * ResourceNotFoundException.
 */
function versionOf(
  secret: Secret,
  id: string | undefined,
  stage: string | undefined,
): { readonly id: string; readonly version: SecretVersion } {
  const wanted = stage ?? (id === undefined ? 'AWSCURRENT' : undefined);
  const found = Object.entries(secret.versions).find(
    ([versionId, version]) =>
      (id === undefined || versionId === id) && (wanted === undefined || version.stages.includes(wanted)),
  );
  if (found !== undefined) return { id: found[0], version: found[1] };
  const label = wanted === undefined ? `VersionId: ${id ?? ''}` : `staging label: ${wanted}`;
  throw new AwsError(
    'ResourceNotFoundException',
    `Secrets Manager can't find the specified secret value for ${label}`,
  );
}

/** The stand-in of Secrets Manager. Its folder is for its owner only. */
export interface Secrets {
  /** GetSecretValue, PutSecretValue, UpdateSecret, CreateSecret, DescribeSecret. */
  readonly service: AwsService;
  /** Creates the secret with this value unless it exists. */
  readonly ensure: (arn: string, name: string, value: string) => Promise<void>;
}

const secretId = z.object({ SecretId: z.string().min(1) });
const getValue = secretId.extend({ VersionId: z.string().optional(), VersionStage: z.string().optional() });
const newValue = z.object({
  SecretString: z.string().optional(),
  SecretBinary: z.string().optional(),
  ClientRequestToken: z.string().optional(),
});
const putValue = secretId.extend(newValue.shape);
const createSecret = newValue.extend({
  Name: z.string().regex(/^[\w/+=.@-]{1,512}$/),
  Description: z.string().optional(),
});

/**
 * Opens the secrets in the folder. Each is one JSON file with the mode 0600. `now` is the time in epoch
 * milliseconds.
 */
export function createSecrets(folder: string, { now }: { readonly now: () => number }): Secrets {
  const exclusive = createMutex();
  const put = (call: AwsCall): Promise<AwsOutput> =>
    exclusive(async () => {
      const { SecretId, ...value } = parseInput(putValue, call);
      return store(folder, await find(folder, SecretId), value, now());
    });
  const operations: Readonly<Record<string, (call: AwsCall) => Promise<AwsOutput>>> = {
    GetSecretValue: async (call) => {
      const { SecretId, VersionId, VersionStage } = parseInput(getValue, call);
      return readValue(await find(folder, SecretId), VersionId, VersionStage);
    },
    DescribeSecret: async (call) => describe(await find(folder, parseInput(secretId, call).SecretId)),
    PutSecretValue: put,
    UpdateSecret: put,
    CreateSecret: (call) =>
      exclusive(() => {
        const { Name, ...value } = parseInput(createSecret, call);
        return create(folder, { arn: localSecretArn(Name), name: Name }, value, now());
      }),
  };
  return {
    service: async (call) => {
      const operation = operations[call.operation];
      if (operation === undefined) throw unknownOperation(call);
      return operation(call);
    },
    ensure: (arn, name, value) =>
      exclusive(async () => {
        if (!(await readAll(folder)).some((one) => one.arn === arn))
          await create(folder, { arn, name }, { SecretString: value }, now());
      }),
  };
}

/** The ARN of a local secret. AWS ends each ARN with six random characters; here they are always the same. */
export function localSecretArn(name: string): string {
  return `arn:aws:secretsmanager:${localRegion}:${localAccount}:secret:${name}-AbCdEf`;
}

/** Whether the id names the secret. An id is the ARN, the ARN without the random end, or the name. */
function isNamed({ arn, name }: Secret, id: string): boolean {
  return id === arn || id === name || id === arn.replace(/-\w{6}$/, '');
}

async function find(folder: string, id: string): Promise<Secret> {
  const secret = (await readAll(folder)).find((one) => isNamed(one, id));
  if (secret === undefined)
    throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
  return secret;
}

async function create(
  folder: string,
  named: Pick<Secret, 'arn' | 'name'>,
  value: z.output<typeof newValue>,
  nowMillis: number,
): Promise<AwsOutput> {
  if ((await readAll(folder)).some((one) => one.name === named.name)) {
    throw new AwsError(
      'ResourceExistsException',
      `The operation failed because the secret ${named.name} already exists.`,
    );
  }
  return store(folder, { ...named, createdAtMs: nowMillis, versions: {} }, value, nowMillis);
}

async function store(
  folder: string,
  secret: Secret,
  value: z.output<typeof newValue>,
  nowMillis: number,
): Promise<AwsOutput> {
  const hasValue = value.SecretString !== undefined || value.SecretBinary !== undefined;
  const versionId = value.ClientRequestToken ?? randomUUID();
  const next = hasValue ? putVersion(secret, versionId, value, nowMillis) : secret;
  await save(folder, next);
  const named = { ARN: secret.arn, Name: secret.name };
  return hasValue
    ? { ...named, VersionId: versionId, VersionStages: next.versions[versionId]?.stages }
    : named;
}

function readValue(secret: Secret, versionId: string | undefined, stage: string | undefined): AwsOutput {
  const { id, version } = versionOf(secret, versionId, stage);
  return {
    ARN: secret.arn,
    Name: secret.name,
    VersionId: id,
    VersionStages: version.stages,
    CreatedDate: new Date(version.createdAtMs),
    ...(version.text !== undefined && { SecretString: version.text }),
    ...(version.binary !== undefined && { SecretBinary: version.binary }),
  };
}

function describe(secret: Secret): AwsOutput {
  const stages = Object.entries(secret.versions).map(([id, version]): [string, string[]] => [
    id,
    version.stages,
  ]);
  return {
    ARN: secret.arn,
    Name: secret.name,
    CreatedDate: new Date(secret.createdAtMs),
    VersionIdsToStages: Object.fromEntries(stages),
  };
}

async function readAll(folder: string): Promise<readonly Secret[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.endsWith('.json'));
  return Promise.all(
    files.map(async (name) =>
      secretSchema.parse(JSON.parse(await readFile(path.join(folder, name), 'utf8'))),
    ),
  );
}

async function save(folder: string, secret: Secret): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = path.join(folder, `~${randomBytes(6).toString('hex')}`);
  await writeFile(draft, JSON.stringify(secret, undefined, 2), { mode: 0o600 });
  // The leading letter makes a plain file name even of a name like `..`.
  await rename(draft, path.join(folder, `s-${encodeURIComponent(secret.name)}.json`));
}

const lower = 'abcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';
const punctuation = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';

const schema = z.strictObject({
  PasswordLength: z.int().min(1).max(4096).default(32),
  ExcludeCharacters: z.string().default(''),
  ExcludeLowercase: z.boolean().default(false),
  ExcludeUppercase: z.boolean().default(false),
  ExcludeNumbers: z.boolean().default(false),
  ExcludePunctuation: z.boolean().default(false),
  IncludeSpace: z.boolean().default(false),
  // This is accepted and ignored. At the usual lengths every type of character is likely. Only rules for
  // passwords need certainty, and keys do not.
  RequireEachIncludedType: z.boolean().optional(),
  SecretStringTemplate: z.string().optional(),
  GenerateStringKey: z.string().optional(),
});

/**
 * A random value, as CloudFormation's GenerateSecretString describes it. With a template the result is JSON
 * that holds the value under the key.
 */
export function generateSecretString(description: Readonly<Record<string, unknown>>): string {
  const wanted = schema.parse(description);
  const alphabet = [
    wanted.ExcludeLowercase ? '' : lower,
    wanted.ExcludeUppercase ? '' : lower.toUpperCase(),
    wanted.ExcludeNumbers ? '' : digits,
    wanted.ExcludePunctuation ? '' : punctuation,
    wanted.IncludeSpace ? ' ' : '',
  ]
    .join('')
    .split('')
    .filter((character) => !wanted.ExcludeCharacters.includes(character));
  if (alphabet.length === 0) throw new Error('GenerateSecretString excludes every character');
  const value = Array.from(
    { length: wanted.PasswordLength },
    () => alphabet[randomInt(alphabet.length)],
  ).join('');
  if (wanted.SecretStringTemplate === undefined || wanted.GenerateStringKey === undefined) return value;
  const template: unknown = JSON.parse(wanted.SecretStringTemplate);
  return JSON.stringify({ ...(isObject(template) ? template : {}), [wanted.GenerateStringKey]: value });
}
