import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { localAccount, localRegion, localSecretKey } from '../aws/aws-call.ts';
import type { LocalFunction } from '../template.ts';
import type { EnvironmentOptions } from './execution-environment.ts';

/** The parts of the one machine that every function uses. */
export interface MachineParts {
  readonly clock: { readonly shared: SharedArrayBuffer };
  readonly awsUrl: string;
}

/** A bundle is one file. CDK gives it the ending of its module format. */
const moduleEndings = ['.mjs', '.js', '.cjs'];

/**
 * The options with which a function's workers start. Their environment is the template's and the variables
 * that Lambda sets, and nothing of this process's own. With `inBackground` the workers' threads get a lower
 * priority than the API's. Throws when the bundle is missing.
 */
export function workerOptionsOf(
  one: LocalFunction,
  { clock, awsUrl }: MachineParts,
  inBackground: boolean,
): Omit<EnvironmentOptions, 'log' | 'blockedMillis' | 'mostWorking'> {
  const [file = '', handler = ''] = one.handler.split('.');
  const module = moduleEndings
    .map((ending) => path.join(one.codeFolder, `${file}${ending}`))
    .find((name) => existsSync(name));
  if (module === undefined) throw new Error(`${one.id}: no bundle ${file} in ${one.codeFolder}`);
  return {
    functionId: one.id,
    timeoutSeconds: one.timeoutSeconds,
    env: { ...one.environment, ...lambdaVariables(one, awsUrl) },
    boot: {
      clock: clock.shared,
      module: pathToFileURL(module).href,
      compiled: path.join(one.codeFolder, '..', 'compiled'),
      handler,
      inBackground,
      context: contextOf(one),
    },
  };
}

function lambdaVariables(one: LocalFunction, awsUrl: string): Record<string, string> {
  return {
    AWS_REGION: localRegion,
    AWS_DEFAULT_REGION: localRegion,
    // The caller's identity: the local AWS looks up the role's policies by this id.
    AWS_ACCESS_KEY_ID: one.roleId,
    AWS_SECRET_ACCESS_KEY: localSecretKey,
    AWS_ENDPOINT_URL: awsUrl,
    // A function must not see the AWS profile of the person at this machine.
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: one.id,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1024',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${one.id}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    LAMBDA_TASK_ROOT: one.codeFolder,
    _HANDLER: one.handler,
  };
}

function contextOf(one: LocalFunction): Record<string, string> {
  return {
    functionName: one.id,
    functionVersion: '$LATEST',
    memoryLimitInMB: '1024',
    invokedFunctionArn: `arn:aws:lambda:${localRegion}:${localAccount}:function:${one.id}`,
    logGroupName: `/aws/lambda/${one.id}`,
    logStreamName: 'local',
  };
}
