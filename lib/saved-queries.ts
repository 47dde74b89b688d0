/** The queries of CloudWatch Logs Insights that an operator opens by their names, in a folder named as the stack. */
import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { serviceName } from './service-scope.ts';

/** The logs of the functions, and the access log of the APIs. A query takes 50 of them. */
type Logs = 'functions' | 'access';

interface Query {
  readonly logs: Logs;
  /** An operator replaces a word in capitals. */
  readonly text: string;
}

/** By the name, and the construct id is made of the name: another name is another resource. */
const queries: Readonly<Record<string, Query>> = {
  'One creation': {
    logs: 'functions',
    text: `fields @timestamp, component, event, requestId, executionId, @message
| filter creationId = "CREATION"
| sort @timestamp`,
  },
  'One request': {
    logs: 'functions',
    text: `fields @timestamp, component, event, creationId, @message
| filter requestId = "REQUEST_ID"
| sort @timestamp`,
  },
  'Events for an operator': {
    logs: 'functions',
    text: `filter level = "alarm"
| stats count() as times, latest(@timestamp) as last by event, component
| sort last desc`,
  },
  'Refused credentials': {
    logs: 'functions',
    text: `filter event = "provider_refused_credentials"
| stats count() as times, latest(@timestamp) as last by provider`,
  },
  'Slow requests': {
    logs: 'access',
    text: `fields at, route, status, latencyMillis, requestId
| filter latencyMillis > 1000
| sort latencyMillis desc
| limit 100`,
  },
  'Cold starts': {
    logs: 'functions',
    text: `filter @type = "REPORT"
| stats count() as invocations, count(@initDuration) as cold, max(@initDuration) as longestMillis by @log
| sort cold desc`,
  },
};

export interface SavedQueriesProps {
  readonly functions: readonly { readonly logGroup: ILogGroup }[];
  readonly accessLogName: string;
}

export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, { functions, accessLogName }: SavedQueriesProps) {
    super(scope, id);
    const names: Readonly<Record<Logs, string[]>> = {
      functions: functions.map(({ logGroup }) => logGroup.logGroupName),
      access: [accessLogName],
    };
    for (const [name, { logs, text }] of Object.entries(queries))
      new CfnQueryDefinition(this, name.replaceAll(' ', ''), {
        name: `${serviceName(this)}/${name}`,
        queryString: text,
        logGroupNames: names[logs],
      });
  }
}
