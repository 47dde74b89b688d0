/** What AWS says about a running stack: its resources, metrics, logs and executions. Nothing here writes. */
import { type CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import {
  type HistoryEvent,
  paginateGetExecutionHistory,
  paginateListExecutions,
  type SFNClient,
} from '@aws-sdk/client-sfn';
import * as z from 'zod';
import { type AwsPlace, serviceUrl } from '../../service/aws/aws-place.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { createSignedFetch } from '../../service/aws/signed-fetch.ts';
import { OperatorError } from '../operator-error.ts';

/**
 * CloudWatch and its logs are called without clients of the SDK: three calls do not need two more packages.
 */
const apis = {
  monitoring: { target: 'GraniteServiceVersion20100801', version: '1.0' },
  logs: { target: 'Logs_20140328', version: '1.1' },
} as const;
type Api = keyof typeof apis;

export interface StackAccess {
  readonly stack: string;
  readonly cloudFormation: CloudFormationClient;
  readonly states: SFNClient;
  readonly place: () => Promise<
    AwsPlace & { readonly accessKeyId: string; readonly secretAccessKey: string }
  >;
  /** Other addresses than those of AWS. */
  readonly endpoints?: Readonly<Partial<Record<Api, string | undefined>>>;
}

/** From and to, in milliseconds since 1970. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

export type AskStack = ReturnType<typeof createAskStack>;

const datapoints = z.object({ Datapoints: z.array(z.object({ Sum: z.number() })) });
const logPage = z.object({
  events: z.array(z.object({ message: z.string() })).default([]),
  nextToken: z.string().optional(),
});

export function createAskStack({ stack, cloudFormation, states, place, endpoints = {} }: StackAccess) {
  async function call<Answer>(api: Api, operation: string, input: object, schema: z.ZodType<Answer>) {
    const access = await place();
    const endpoint = endpoints[api];
    const { target, version } = apis[api];
    const url = `${serviceUrl(api, { ...access, ...(endpoint !== undefined && { endpoint }) })}/`;
    const response = await createSignedFetch({ ...access, clock: systemClock, service: api, retries: 4 })(
      url,
      {
        method: 'POST',
        headers: {
          'content-type': `application/x-amz-json-${version}`,
          'x-amz-target': `${target}.${operation}`,
        },
        body: JSON.stringify(input),
        signal: AbortSignal.timeout(30_000),
      },
    );
    if (response.ok) return schema.parse(await response.json());
    const type = /"__type":"(?:[^"#]*#)?(\w+)"/.exec(await response.text())?.[1] ?? '';
    throw new OperatorError(
      `AWS refused ${operation} (${response.status} ${type}): allow the command what docs/task-tokens.md lists.`,
    );
  }

  return {
    /** The resources by their logical ids. */
    resources: async (): Promise<ReadonlyMap<string, { readonly type: string; readonly name: string }>> => {
      const found = new Map<string, { type: string; name: string }>();
      for await (const { StackResourceSummaries: page = [] } of paginateListStackResources(
        { client: cloudFormation },
        { StackName: stack },
      ))
        for (const { LogicalResourceId: id = '', ResourceType, PhysicalResourceId } of page)
          found.set(id, { type: ResourceType ?? '', name: PhysicalResourceId ?? '' });
      return found;
    },
    /** The sum of a metric of Step Functions. Undefined: CloudWatch has no value of that time yet. */
    sumOf: async (
      metric: string,
      [name, value]: readonly [name: string, value: string],
      { from, to }: Window,
    ): Promise<number | undefined> => {
      const { Datapoints: values } = await call(
        'monitoring',
        'GetMetricStatistics',
        {
          Namespace: 'AWS/States',
          MetricName: metric,
          Dimensions: [{ Name: name, Value: value }],
          StartTime: from / 1_000,
          EndTime: to / 1_000,
          Period: 60,
          Statistics: ['Sum'],
        },
        datapoints,
      );
      return values.length === 0 ? undefined : values.reduce((sum, { Sum: one }) => sum + one, 0);
    },
    /** The lines of a log since this time that fit the pattern of CloudWatch. */
    lines: async (logGroup: string, filterPattern: string, from: number): Promise<readonly string[]> => {
      const lines: string[] = [];
      let nextToken: string | undefined;
      do {
        const page = await call(
          'logs',
          'FilterLogEvents',
          { logGroupName: logGroup, filterPattern, startTime: from, ...(nextToken && { nextToken }) },
          logPage,
        );
        lines.push(...page.events.map(({ message }) => message));
        ({ nextToken } = page);
      } while (nextToken !== undefined);
      return lines;
    },
    history: async (executionArn: string): Promise<readonly HistoryEvent[]> => {
      const events: HistoryEvent[] = [];
      for await (const page of paginateGetExecutionHistory({ client: states }, { executionArn }))
        events.push(...(page.events ?? []));
      return events;
    },
    /** The newest executions that have ended well, at most 1,000. */
    succeeded: async (stateMachineArn: string) => {
      for await (const { executions = [] } of paginateListExecutions(
        { client: states, pageSize: 1_000 },
        { stateMachineArn, statusFilter: 'SUCCEEDED' },
      ))
        return executions;
      return [];
    },
  };
}
