/** The stand-in of Secrets Manager. Its folder is for its owner only. */
import { randomInt, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../disk.ts';
import { isObject } from '../json.ts';
import {
  type AwsCall,
  type AwsOutput,
  type AwsService,
  localAccount,
  localRegion,
  parseInput,
  serviceOf,
} from './aws-call.ts';
import { AwsError } from './aws-error.ts';

export interface Secrets {
  /** GetSecretValue, PutSecretValue, UpdateSecret, CreateSecret, DescribeSecret. */
  readonly service: AwsService;
  /** Creates the secret with this value unless it exists. */
  readonly ensure: (arn: string, name: string, value: string) => void;
  /** The current text of the secret, for the other parts of the stand-in. */
  readonly read: (id: string) => string;
}

const versionSchema = z.object({
  text: z.string().optional(),
  /** Base64. */
  binary: z.string().optional(),
  stages: z.array(z.string()),
  createdAtMs: z.number(),
});
/** A secret with its current and its previous version. Files of a data folder hold these names. */
const secretSchema = z.object({
  arn: z.string(),
  name: z.string(),
  createdAtMs: z.number(),
  versions: z.record(z.string(), versionSchema),
});
type Secret = z.output<typeof secretSchema>;
type SecretVersion = z.output<typeof versionSchema>;

const secretId = z.object({ SecretId: z.string().min(1) });
const getValue = secretId.extend({ VersionId: z.string().optional(), VersionStage: z.string().optional() });
const newValue = z.object({
  SecretString: z.string().optional(),
  SecretBinary: z.string().optional(),
  ClientRequestToken: z.string().optional(),
});
type NewValue = z.output<typeof newValue>;
const putValue = secretId.extend(newValue.shape);
const createSecret = newValue.extend({
  Name: z.string().regex(/^[\w/+=.@-]{1,512}$/),
  Description: z.string().optional(),
});

/** Opens the secrets in the folder. Each operation runs in one turn of the event loop, so no two mix. */
export function createSecrets(folder: string, { now }: { readonly now: () => number }): Secrets {
  const readAll = (): Secret[] =>
    (existsSync(folder) ? readdirSync(folder) : [])
      .filter((name) => name.endsWith('.json'))
      .map((name) => secretSchema.parse(JSON.parse(readFileSync(path.join(folder, name), 'utf8'))));

  /** An id is the ARN, the ARN without the random end, or the name. */
  function find(id: string): Secret {
    const secret = readAll().find(
      ({ arn, name }) => id === arn || id === name || id === arn.replace(/-\w{6}$/, ''),
    );
    if (secret === undefined)
      throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
    return secret;
  }

  function store(secret: Secret, value: NewValue): AwsOutput {
    const hasValue = value.SecretString !== undefined || value.SecretBinary !== undefined;
    const versionId = value.ClientRequestToken ?? randomUUID();
    const next = hasValue ? putVersion(secret, versionId, value, now()) : secret;
    // The leading letter makes a plain file name even of a name like `..`.
    const file = path.join(folder, `s-${encodeURIComponent(secret.name)}.json`);
    replaceFile(file, JSON.stringify(next, undefined, 2), { isPrivate: true });
    return {
      ARN: secret.arn,
      Name: secret.name,
      ...(hasValue && { VersionId: versionId, VersionStages: next.versions[versionId]?.stages }),
    };
  }

  function create(arn: string, name: string, value: NewValue): AwsOutput {
    if (readAll().some((one) => one.name === name))
      throw new AwsError(
        'ResourceExistsException',
        `The operation failed because the secret ${name} already exists.`,
      );
    return store({ arn, name, createdAtMs: now(), versions: {} }, value);
  }

  const put = (call: AwsCall): AwsOutput => {
    const { SecretId, ...value } = parseInput(putValue, call);
    return store(find(SecretId), value);
  };
  return {
    service: serviceOf({
      GetSecretValue: (call) => {
        const { SecretId, VersionId, VersionStage } = parseInput(getValue, call);
        return readValue(find(SecretId), VersionId, VersionStage);
      },
      DescribeSecret: (call) => {
        const { arn, name, createdAtMs, versions } = find(parseInput(secretId, call).SecretId);
        const stages = Object.entries(versions).map(([id, version]) => [id, version.stages]);
        return {
          ARN: arn,
          Name: name,
          CreatedDate: new Date(createdAtMs),
          VersionIdsToStages: Object.fromEntries(stages) as unknown,
        };
      },
      PutSecretValue: put,
      UpdateSecret: put,
      CreateSecret: (call) => {
        const { Name, ...value } = parseInput(createSecret, call);
        return create(localSecretArn(Name), Name, value);
      },
    }),
    ensure: (arn, name, value) => {
      if (!readAll().some((one) => one.arn === arn)) create(arn, name, { SecretString: value });
    },
    read: (id) => {
      const { SecretString: text } = readValue(find(id), undefined, undefined);
      return typeof text === 'string' ? text : '';
    },
  };
}

/** The ARN of a local secret. AWS ends each ARN with six random characters; here they are always the same. */
export function localSecretArn(name: string): string {
  return `arn:aws:secretsmanager:${localRegion}:${localAccount}:secret:${name}-AbCdEf`;
}

/** The secret with a new current version. The same id with another value throws ResourceExistsException. */
function putVersion(secret: Secret, id: string, value: NewValue, nowMillis: number): Secret {
  const existing = secret.versions[id];
  if (existing !== undefined) {
    if (existing.text === value.SecretString && existing.binary === value.SecretBinary) return secret;
    throw new AwsError(
      'ResourceExistsException',
      `You can't use ClientRequestToken ${id} because that value is already in use for a version of secret ${secret.arn}.`,
    );
  }
  const previous = Object.entries(secret.versions)
    .filter(([, { stages }]) => stages.includes('AWSCURRENT'))
    .map(([current, version]): [string, SecretVersion] => [current, { ...version, stages: ['AWSPREVIOUS'] }]);
  const added: SecretVersion = {
    text: value.SecretString,
    binary: value.SecretBinary,
    stages: ['AWSCURRENT'],
    createdAtMs: nowMillis,
  };
  return { ...secret, versions: { ...Object.fromEntries(previous), [id]: added } };
}

/** A version by its id, by its stage, or by both; without either the current version. */
function readValue(secret: Secret, id: string | undefined, stage: string | undefined): AwsOutput {
  const wanted = stage ?? (id === undefined ? 'AWSCURRENT' : undefined);
  const found = Object.entries(secret.versions).find(
    ([versionId, { stages }]) =>
      (id === undefined || versionId === id) && (wanted === undefined || stages.includes(wanted)),
  );
  if (found === undefined) {
    const label = wanted === undefined ? `VersionId: ${id ?? ''}` : `staging label: ${wanted}`;
    throw new AwsError(
      'ResourceNotFoundException',
      `Secrets Manager can't find the specified secret value for ${label}`,
    );
  }
  const [versionId, { text, binary, stages, createdAtMs }] = found;
  return {
    ARN: secret.arn,
    Name: secret.name,
    VersionId: versionId,
    VersionStages: stages,
    CreatedDate: new Date(createdAtMs),
    ...(text !== undefined && { SecretString: text }),
    ...(binary !== undefined && { SecretBinary: binary }),
  };
}

const lower = 'abcdefghijklmnopqrstuvwxyz';

const generation = z.strictObject({
  PasswordLength: z.int().min(1).max(4096).default(32),
  ExcludeCharacters: z.string().default(''),
  ExcludeLowercase: z.boolean().default(false),
  ExcludeUppercase: z.boolean().default(false),
  ExcludeNumbers: z.boolean().default(false),
  ExcludePunctuation: z.boolean().default(false),
  IncludeSpace: z.boolean().default(false),
  // Accepted and ignored: only rules for passwords need every type of character for certain.
  RequireEachIncludedType: z.boolean().optional(),
  SecretStringTemplate: z.string().optional(),
  GenerateStringKey: z.string().optional(),
});

/** A random value, as GenerateSecretString describes it: in JSON under the key when there is a template. */
export function generateSecretString(description: Readonly<Record<string, unknown>>): string {
  const wanted = generation.parse(description);
  const alphabet = [
    wanted.ExcludeLowercase ? '' : lower,
    wanted.ExcludeUppercase ? '' : lower.toUpperCase(),
    wanted.ExcludeNumbers ? '' : '0123456789',
    wanted.ExcludePunctuation ? '' : '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
    wanted.IncludeSpace ? ' ' : '',
  ]
    .join('')
    .split('')
    .filter((character) => !wanted.ExcludeCharacters.includes(character));
  if (alphabet.length === 0) throw new Error('GenerateSecretString excludes every character');
  const drawn = Array.from({ length: wanted.PasswordLength }, () => alphabet[randomInt(alphabet.length)]);
  const value = drawn.join('');
  if (wanted.SecretStringTemplate === undefined || wanted.GenerateStringKey === undefined) return value;
  const template: unknown = JSON.parse(wanted.SecretStringTemplate);
  return JSON.stringify({ ...(isObject(template) ? template : {}), [wanted.GenerateStringKey]: value });
}
