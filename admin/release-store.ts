/** What Lambda and Step Functions know of the service's releases: versions, aliases and definitions. */
import {
  DeleteFunctionCommand,
  paginateListAliases,
  paginateListVersionsByFunction,
  type LambdaClient,
} from '@aws-sdk/client-lambda';
import {
  DescribeStateMachineCommand,
  DescribeStateMachineForExecutionCommand,
  paginateListExecutions,
  type SFNClient,
} from '@aws-sdk/client-sfn';
import { type FunctionVersion, type VersionName } from './release-plan.ts';

export interface RunningExecution {
  readonly arn: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/** 'gone': the version was already deleted. 'in_use': an alias names the version now. */
export type Removal = 'removed' | 'gone' | 'in_use';

export interface ReleaseStore {
  /** The published versions of a function. $LATEST is not one of them. */
  versions(functionName: string): Promise<readonly FunctionVersion[]>;
  /** The versions that aliases of the function name, each with the alias. */
  aliases(functionName: string): Promise<readonly (readonly [VersionName, string])[]>;
  /** The text of the definition with which an execution would start now. */
  definition(stateMachineArn: string): Promise<string>;
  /** The executions that run now. */
  running(stateMachineArn: string): Promise<readonly RunningExecution[]>;
  /** The text of the definition with which the execution began. Undefined when it has ended. */
  definitionOf(execution: RunningExecution): Promise<string | undefined>;
  remove(version: FunctionVersion): Promise<Removal>;
}

export function createReleaseStore(lambda: LambdaClient, states: SFNClient): ReleaseStore {
  return {
    versions: async (functionName) => {
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
    aliases: async (functionName) => {
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
    definition: async (stateMachineArn) =>
      (await states.send(new DescribeStateMachineCommand({ stateMachineArn }))).definition ?? '',
    running: async (stateMachineArn) => {
      const found: RunningExecution[] = [];
      const query = { stateMachineArn, statusFilter: 'RUNNING', maxResults: 1_000 } as const;
      for await (const { executions = [] } of paginateListExecutions({ client: states }, query))
        for (const { executionArn: arn = '', startDate } of executions)
          found.push({ arn, startedAt: startDate?.getTime() ?? 0 });
      return found;
    },
    definitionOf: async ({ arn: executionArn }) => {
      try {
        return (await states.send(new DescribeStateMachineForExecutionCommand({ executionArn }))).definition;
      } catch (error) {
        if (error instanceof Error && error.name === 'ExecutionDoesNotExist') return undefined;
        throw error;
      }
    },
    remove: (version) => remove(lambda, version),
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
