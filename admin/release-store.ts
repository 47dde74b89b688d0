/** What Lambda and Step Functions know of the service's releases: versions, aliases and definitions. */
import {
  DeleteFunctionCommand,
  type LambdaClient,
  paginateListAliases,
  paginateListVersionsByFunction,
} from '@aws-sdk/client-lambda';
import {
  DescribeStateMachineCommand,
  DescribeStateMachineForExecutionCommand,
  paginateListExecutions,
  type SFNClient,
} from '@aws-sdk/client-sfn';

export interface RunningExecution {
  readonly arn: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/** 'gone': the version was already deleted. 'in_use': an alias names the version now. */
export type Removal = 'removed' | 'gone' | 'in_use';

export function createReleaseStore(lambda: LambdaClient, states: SFNClient) {
  return {
    /** The published versions of a function. $LATEST is not one of them. */
    versions: async (functionName: string): Promise<readonly FunctionVersion[]> => {
      const found: FunctionVersion[] = [];
      for await (const { Versions = [] } of paginateListVersionsByFunction(
        { client: lambda },
        { FunctionName: functionName },
      ))
        for (const { Version: version = '', LastModified: at = '' } of Versions)
          if (/^\d+$/.test(version))
            found.push({ functionName, version: Number(version), publishedAt: Date.parse(at) });
      return found;
    },
    /** The versions that aliases of the function name, each with the alias. */
    aliases: async (functionName: string): Promise<readonly (readonly [VersionName, string])[]> => {
      const found: (readonly [VersionName, string])[] = [];
      for await (const { Aliases = [] } of paginateListAliases(
        { client: lambda },
        { FunctionName: functionName },
      ))
        for (const { Name: alias = '', FunctionVersion: main = '', RoutingConfig: routing } of Aliases)
          // While traffic is shifted, the alias names a second version.
          for (const version of [main, ...Object.keys(routing?.AdditionalVersionWeights ?? {})])
            found.push([`${functionName}:${Number(version)}`, alias]);
      return found;
    },
    /** The text of the definition with which an execution would start now. */
    definition: async (stateMachineArn: string): Promise<string> =>
      (await states.send(new DescribeStateMachineCommand({ stateMachineArn }))).definition ?? '',
    running: async (stateMachineArn: string): Promise<readonly RunningExecution[]> => {
      const found: RunningExecution[] = [];
      const query = { stateMachineArn, statusFilter: 'RUNNING', maxResults: 1_000 } as const;
      for await (const { executions = [] } of paginateListExecutions({ client: states }, query))
        for (const { executionArn: arn = '', startDate } of executions)
          found.push({ arn, startedAt: startDate?.getTime() ?? 0 });
      return found;
    },
    /** The text of the definition with which the execution began. Undefined when it has ended. */
    definitionOf: async ({ arn: executionArn }: RunningExecution): Promise<string | undefined> => {
      try {
        return (await states.send(new DescribeStateMachineForExecutionCommand({ executionArn }))).definition;
      } catch (error) {
        if (error instanceof Error && error.name === 'ExecutionDoesNotExist') return undefined;
        throw error;
      }
    },
    remove: (version: FunctionVersion) => remove(lambda, version),
  };
}

async function remove(lambda: LambdaClient, { functionName, version }: FunctionVersion): Promise<Removal> {
  // Without a Qualifier, Lambda would delete the function with all of its versions.
  if (!Number.isInteger(version) || version < 1) throw new Error(`${version} is not the number of a version`);
  try {
    await lambda.send(new DeleteFunctionCommand({ FunctionName: functionName, Qualifier: String(version) }));
    return 'removed';
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (name === 'ResourceNotFoundException') return 'gone';
    if (name === 'ResourceConflictException') return 'in_use';
    throw error;
  }
}

/**
 * The versions of earlier releases. A running execution invokes the versions that its definition names, so an update
 * keeps the versions of earlier releases. This file decides which of them can no longer be needed.
 */
export interface FunctionVersion {
  readonly functionName: string;
  readonly version: number;
  /** Unix milliseconds. */
  readonly publishedAt: number;
}

/** A version, by the name of its function and its number. */
export type VersionName = `${string}:${number}`;

/** Everything that names versions. */
export interface VersionUses {
  /** Versions that the definition of a state machine names today. */
  readonly definitions: ReadonlySet<VersionName>;
  /** Versions that the definition of a running execution names. */
  readonly executions: ReadonlySet<VersionName>;
  /** The names of the aliases of a version. */
  readonly aliases: ReadonlyMap<VersionName, readonly string[]>;
}

/** Why a version stays. */
export type Kept = 'newest' | 'definition' | 'alias' | 'execution' | 'recent';

export interface JudgedVersion extends FunctionVersion {
  /** Unix milliseconds at which the next version of the function was published. Absent: there is none. */
  readonly supersededAt?: number;
  /** Absent when the version can no longer be needed. */
  readonly kept?: Kept;
  readonly aliases: readonly string[];
}

/** TimeoutSeconds of the state machine (statemachines/creation.asl.json). */
export const longestExecutionMillis = 7_200_000;
/**
 * The longest time from the publication of a version to the update of the definition, in one deployment. It
 * includes the shift of the API's traffic. CloudFormation needs some minutes.
 */
export const deploymentMillis = 3_600_000;

export function nameOfVersion({ functionName, version }: FunctionVersion): VersionName {
  return `${functionName}:${version}`;
}

/** The versions that an Amazon States Language definition names, in the ARNs of functions. */
export function versionsNamedIn(definition: string): VersionName[] {
  return [...definition.matchAll(/arn:[\w-]+:lambda:[\w-]+:\d{12}:function:([\w-]+):(\d+)/g)].map(
    ([, functionName = '', version = '']): VersionName => `${functionName}:${Number(version)}`,
  );
}

/**
 * Judges all versions of the functions, the oldest of each function first.
 * @param leastAgeMillis younger versions stay in any case
 */
export function judgeVersions(
  versions: readonly FunctionVersion[],
  uses: VersionUses,
  { nowMillis, leastAgeMillis }: { readonly nowMillis: number; readonly leastAgeMillis: number },
): readonly JudgedVersion[] {
  return [...Map.groupBy(versions, ({ functionName }) => functionName).values()].flatMap((own) => {
    const inOrder = [...own].sort((left, right) => left.version - right.version);
    return inOrder.map((version, place) => {
      const supersededAt = inOrder[place + 1]?.publishedAt;
      const aliases = uses.aliases.get(nameOfVersion(version)) ?? [];
      const isRecent =
        version.publishedAt > nowMillis - leastAgeMillis ||
        // An execution may have begun with the older definition until the deployment was over.
        (supersededAt ?? nowMillis) > nowMillis - longestExecutionMillis - deploymentMillis;
      const kept = keptBecause(version, uses, { isNewest: supersededAt === undefined, aliases, isRecent });
      return {
        ...version,
        aliases,
        ...(supersededAt !== undefined && { supersededAt }),
        ...(kept !== undefined && { kept }),
      };
    });
  });
}

function keptBecause(
  version: FunctionVersion,
  { definitions, executions }: VersionUses,
  found: { readonly isNewest: boolean; readonly aliases: readonly string[]; readonly isRecent: boolean },
): Kept | undefined {
  const name = nameOfVersion(version);
  if (definitions.has(name)) return 'definition';
  if (found.aliases.length > 0) return 'alias';
  if (executions.has(name)) return 'execution';
  // A running deployment publishes a version before anything names this version.
  if (found.isNewest) return 'newest';
  return found.isRecent ? 'recent' : undefined;
}
