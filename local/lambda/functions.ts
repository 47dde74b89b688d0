import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { localAccount, localRegion, localSecretKey } from '../aws/aws-call.ts';
import type { VirtualClock } from '../clock.ts';
import type { LocalFunction } from '../template.ts';
import { type EnvironmentOptions, startEnvironment } from './execution-environment.ts';
import type { AnswerSink, FunctionLogLine, InvocationResult, LambdaError } from './messages.ts';
import { createWorkerPool, poolLimits, type PoolLimits, type WorkerPool } from './worker-pool.ts';

/** The parts of the one machine that every function uses. */
export interface MachineParts {
  readonly clock: { readonly shared: SharedArrayBuffer };
  readonly awsUrl: string;
  /** The default is that of a test machine. */
  readonly secretKey?: string;
  /** Where clients upload to. The default is awsUrl. */
  readonly uploadsUrl?: string;
  /** Where providers of the operator may be, with commas. The default: in every private network. */
  readonly privateNetworks?: string;
}

/** A bundle is one file. CDK gives it the ending of its module format. */
const moduleEndings = ['.mjs', '.js', '.cjs'];

/** A worker's options. It has the template's variables and Lambda's, and none of this process's own. */
function workerOptionsOf(
  one: LocalFunction,
  { clock, ...place }: MachineParts,
  inBackground: boolean,
): Omit<EnvironmentOptions, 'log' | 'blockedMillis' | 'mostWorking' | 'heapMegabytes'> {
  const [file = '', handler = ''] = one.handler.split('.');
  const module = moduleEndings
    .map((ending) => path.join(one.codeFolder, `${file}${ending}`))
    .find((name) => existsSync(name));
  if (module === undefined) throw new Error(`${one.id}: no bundle ${file} in ${one.codeFolder}`);
  return {
    functionId: one.id,
    timeoutSeconds: one.timeoutSeconds,
    env: { ...one.environment, ...lambdaVariables(one, place) },
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

function lambdaVariables(
  one: LocalFunction,
  { awsUrl, secretKey = localSecretKey, uploadsUrl, privateNetworks }: Omit<MachineParts, 'clock'>,
): Record<string, string> {
  return {
    AWS_REGION: localRegion,
    AWS_DEFAULT_REGION: localRegion,
    // The caller's identity: the local AWS looks up the role's policies by this id.
    AWS_ACCESS_KEY_ID: one.roleId,
    AWS_SECRET_ACCESS_KEY: secretKey,
    AWS_ENDPOINT_URL: awsUrl,
    ...(uploadsUrl !== undefined && { AWS_ENDPOINT_URL_S3: uploadsUrl }),
    ...(privateNetworks !== undefined && { PRIVATE_NETWORKS: privateNetworks }),
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

/** What started an invocation. Only clients have the normal priority; `held` requests may wait for minutes. */
export type InvocationSource = 'gateway' | 'held' | 'task' | 'schedule' | 'event';

export function isRequest({ source }: Pick<FlyingInvocation, 'source'>): boolean {
  return source === 'gateway' || source === 'held';
}

/** An invocation that has not ended. It may still be in the queue. */
export interface FlyingInvocation {
  readonly functionId: string;
  readonly source: InvocationSource;
  readonly event: unknown;
  /** Real time, in milliseconds since 1970. Undefined while the invocation waits for a worker. */
  startedAt: number | undefined;
  /** Lets the invocation crash. Undefined while the invocation waits for a worker. */
  crash: (() => void) | undefined;
  readonly done: Promise<InvocationResult>;
}

export interface LocalFunctions {
  /** Never rejects, also for an unknown or a throttled function. `sink` takes the answer of one that streams. */
  readonly invoke: (
    functionId: string,
    event: unknown,
    source: InvocationSource,
    sink?: AnswerSink,
  ) => Promise<InvocationResult>;
  readonly inFlight: () => readonly FlyingInvocation[];
  /** Crashes the running invocations of such functions and events. Gives their number. */
  readonly crash: (functionPart: string, match: string) => number;
  /** New invocations run the bundle in this folder. Those under way go on with theirs. */
  readonly updateCode: (functionId: string, codeFolder: string) => void;
  readonly stop: () => Promise<void>;
}

export interface LocalFunctionsOptions extends Omit<MachineParts, 'clock'> {
  readonly functions: readonly LocalFunction[];
  readonly clock: VirtualClock;
  readonly log: (line: FunctionLogLine) => void;
  /** The limits of each function's workers. The default is poolLimits. */
  readonly limits?: PoolLimits;
  /** Receives each invocation that ended, with the processor time that it used. */
  readonly onUsed?: (functionId: string, cpuMillis: number) => void;
}

/** Makes the worker pools of all functions. No worker starts before the first invocation. */
export function createLocalFunctions(options: LocalFunctionsOptions): LocalFunctions {
  const every = new Map<string, FunctionPools>();
  /** Code that was used before finds its workers again. */
  const poolsOf = (one: LocalFunction): FunctionPools => {
    const key = `${one.id} ${one.codeFolder}`;
    const known = every.get(key) ?? createPools(one, options);
    every.set(key, known);
    return known;
  };
  const pools = new Map(options.functions.map((one) => [one.id, poolsOf(one)]));
  const flying = new Set<FlyingInvocation>();

  async function follow(invocation: FlyingInvocation): Promise<void> {
    await invocation.done;
    flying.delete(invocation);
  }
  const poolFor = (functionId: string, source: InvocationSource): WorkerPool | undefined => {
    const both = pools.get(functionId);
    return isRequest({ source }) ? both?.foreground : both?.background;
  };

  const reserved = new Map(options.functions.map((one) => [one.id, one.reservedConcurrency]));
  const isFull = (functionId: string): boolean => {
    const most = reserved.get(functionId);
    return most !== undefined && [...flying].filter((one) => one.functionId === functionId).length >= most;
  };

  return {
    invoke: (functionId, event, source, sink) => {
      const pool = poolFor(functionId, source);
      if (pool === undefined) return Promise.resolve(functionNotFound(functionId));
      if (isFull(functionId)) return Promise.resolve({ ok: false, error: rateExceeded });
      const start = Promise.withResolvers<() => void>();
      const done = pool.invoke(event, { onStart: start.resolve, sink });
      const invocation: FlyingInvocation = {
        functionId,
        source,
        event,
        startedAt: undefined,
        crash: undefined,
        done,
      };
      void start.promise.then((crash) => {
        invocation.startedAt = Date.now();
        invocation.crash = crash;
      });
      flying.add(invocation);
      void follow(invocation);
      return invocation.done;
    },
    inFlight: () => [...flying],
    crash: (functionPart, match) => {
      const meant = [...flying].filter(
        ({ functionId, event, crash }) =>
          crash !== undefined && functionId.includes(functionPart) && JSON.stringify(event).includes(match),
      );
      for (const { crash } of meant) crash?.();
      return meant.length;
    },
    updateCode: (functionId, codeFolder) => {
      const known = options.functions.find(({ id }) => id === functionId);
      if (known === undefined) throw new Error(`there is no function ${functionId}`);
      pools.set(functionId, poolsOf({ ...known, codeFolder }));
    },
    stop: async () => {
      await Promise.all(
        [...every.values()].flatMap(({ foreground, background }) => [foreground.stop(), background.stop()]),
      );
    },
  };
}

/** The workers of one function: some for requests of the gateway, others for everything else. */
interface FunctionPools {
  readonly foreground: WorkerPool;
  readonly background: WorkerPool;
}

function createPools(one: LocalFunction, options: LocalFunctionsOptions): FunctionPools {
  const limits = options.limits ?? poolLimits;
  const start = (inBackground: boolean) => () =>
    startEnvironment({
      ...workerOptionsOf(one, options, inBackground),
      blockedMillis: limits.blockedMillis,
      mostWorking: limits.workingEach,
      heapMegabytes: limits.heapMegabytes,
      log: options.log,
      onUsed: (cpuMillis) => options.onUsed?.(one.id, cpuMillis),
    });
  return {
    foreground: createWorkerPool(start(false), limits),
    background: createWorkerPool(start(true), limits),
  };
}

const rateExceeded: LambdaError = {
  errorType: 'Lambda.TooManyRequestsException',
  errorMessage: 'Rate Exceeded.',
};

function functionNotFound(functionId: string): InvocationResult {
  return {
    ok: false,
    error: {
      errorType: 'Lambda.ResourceNotFoundException',
      errorMessage: `Function not found: ${functionId}`,
    },
  };
}
