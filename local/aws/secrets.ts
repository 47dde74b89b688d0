import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { localAccount, localRegion } from './aws-call.ts';
import type { AwsCall, AwsOutput, AwsService } from './aws-call.ts';
import { AwsError } from './aws-error.ts';
import { parseInput, unknownOperation } from './call-input.ts';
import { createMutex } from './mutex.ts';
import { putVersion, secretSchema, versionOf } from './secret-versions.ts';
import type { Secret } from './secret-versions.ts';

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
