/** Whether quotas of the account and settings of the stage let the wanted traffic in. */
import { GetAccountCommand } from '@aws-sdk/client-api-gateway';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { GetAccountSettingsCommand } from '@aws-sdk/client-lambda';
import type { Settings } from '../../../lib/settings.ts';
import { askAws, askForOne, named } from '../ask-aws.ts';
import { type Asked, compared, type Finding, type Question, raise, judged } from '../asked.ts';
import { awsDefaultOf, awsDefaults, type AwsQuotaName } from '../quotas/aws-defaults.ts';
import { needsOf, proposedHeldRequests, quotasFor } from '../quotas/quotas.ts';

const moreRequests = raise('Amazon API Gateway, "Throttle rate"');

/** The requests that API Gateway takes, and the role by which it writes the logs of REST APIs. */
export const gateway: Question = {
  title: 'API Gateway: account',
  async ask({ settings, traffic, stack, clients }) {
    const answer = await askAws('apigateway:GET on /account', () =>
      clients.gateway.send(new GetAccountCommand({})),
    );
    const { status } = await stack();
    const { rateLimit = 0, burstLimit = 0 } = answer.throttleSettings ?? {};
    const wanted = needsOf(traffic);
    return [
      compared('API Gateway: requests a second', rateLimit, wanted.gatewayRequestsPerSecond, moreRequests),
      belowAccount(settings.throttling, rateLimit, burstLimit),
      logRole(settings.gatewayLogRole, answer.cloudwatchRoleArn, status !== undefined),
    ];
  },
};

/** API Gateway takes a stage's throttle above that of the account, and never reaches it. */
function belowAccount(
  { ratePerSecond, burst }: { readonly ratePerSecond: number; readonly burst: number },
  rateLimit: number,
  burstLimit: number,
): Finding {
  const fits = ratePerSecond <= rateLimit && burst <= burstLimit;
  return judged('Setting throttling, against the account', fits, 'limits', {
    found: `${ratePerSecond} a second, burst ${burst}`,
    wanted: `at most ${rateLimit} a second, burst ${burstLimit}`,
    fix: `${moreRequests}, or lower the setting`,
  });
}

function logRole(setting: 'create' | 'existing', role: string | undefined, isDeployed: boolean): Finding {
  const question = "API Gateway: the account's role for logs";
  const found = role === undefined || role === '' ? 'none' : role;
  if (setting === 'existing')
    return judged(question, !(found === 'none'), 'stops', {
      found,
      wanted: "a role, because of gatewayLogRole: 'existing'",
      fix: "gatewayLogRole: 'create'",
    });
  const replaces = found !== 'none' && !isDeployed;
  return judged(question, !replaces, 'note', {
    found,
    wanted: "none, because of gatewayLogRole: 'create'",
    fix: "gatewayLogRole: 'existing' keeps this role; 'create' replaces it",
  });
}

/** Whether the settings of the stage admit the wanted traffic. This question needs no account. */
export const settingsForTraffic: Question = {
  title: 'Settings for the traffic',
  ask({ settings, traffic }) {
    const wanted = needsOf(traffic);
    const best = quotasFor(traffic);
    const { ratePerSecond, burst } = settings.throttling;
    const { serviceCapacity, concurrency } = settings;
    const throttling = `throttling: { ratePerSecond: ${best.gatewayRequestsPerSecond}, burst: ${best.gatewayBurst} }`;
    return Promise.resolve([
      compared(
        'Setting throttling.ratePerSecond',
        ratePerSecond,
        wanted.gatewayRequestsPerSecond,
        throttling,
      ),
      compared('Setting throttling.burst', burst, wanted.gatewayBurst, throttling),
      compared(
        'Setting serviceCapacity',
        serviceCapacity,
        wanted.serviceCapacity,
        `serviceCapacity: ${wanted.serviceCapacity}`,
      ),
      ...reservedPools.flatMap((pool) => reservation(pool, concurrency[pool], wanted.concurrency[pool])),
    ]);
  },
};

const reservedPools = ['api', 'deliveries', 'refunds', 'reconciler'] as const;

/** A reservation is also the most that its functions get. "shared" has no such limit. */
function reservation(pool: string, found: number | 'shared', wanted: number | 'shared'): Finding[] {
  if (found === 'shared' || wanted === 'shared') return [];
  return [compared(`Setting concurrency.${pool}`, found, wanted, `concurrency: { ${pool}: ${wanted} }`)];
}

/** Lambda refuses a reservation that leaves fewer executions unreserved. */
const leastUnreserved = 100;
const moreExecutions = raise('AWS Lambda, "Concurrent executions"');

export const lambdaConcurrency: Question = {
  title: 'Lambda: concurrent executions',
  async ask({ settings, traffic, stack, clients: { lambda } }) {
    const { AccountLimit } = await askAws('lambda:GetAccountSettings', () =>
      lambda.send(new GetAccountSettingsCommand({})),
    );
    const all = AccountLimit?.ConcurrentExecutions ?? 0;
    const { status } = await stack();
    // The reservations of a stack that exists are no longer among the unreserved executions.
    const free = status === undefined ? (AccountLimit?.UnreservedConcurrentExecutions ?? all) : all;
    return [
      compared(this.title, all, needsOf(traffic).lambdaConcurrency, moreExecutions),
      reservable(free, reservedBy(settings)),
      heldRequests(free - reservedBy(settings), settings),
    ];
  },
};

/** How many executions the settings reserve. */
function reservedBy({ concurrency, heldRequests }: Settings): number {
  return [...Object.values(concurrency), ...Object.values(heldRequests)].reduce<number>(
    (sum, part) => sum + (part === 'shared' ? 0 : part),
    0,
  );
}

/** Without a reservation, held requests can take the executions of all other functions. */
function heldRequests(free: number, { heldRequests: { images, mcp } }: Settings): Finding {
  const proposed = {
    ...(images === 'shared' && { images: proposedHeldRequests.images }),
    ...(mcp === 'shared' && { mcp: proposedHeldRequests.mcp }),
  };
  const more = Object.values(proposed).reduce((sum, part) => sum + part, 0);
  const text = Object.entries(proposed).map(([name, part]) => `${name}: ${part}`);
  const hasRoom = more > 0 && free - more >= leastUnreserved;
  return {
    question: 'Lambda: held requests',
    level: hasRoom ? 'note' : 'ok',
    found: `images ${images}, mcp ${mcp}`,
    wanted: 'a reservation where the account has room',
    ...(hasRoom && { fix: `heldRequests: { ${text.join(', ')} }` }),
  };
}

function reservable(free: number, reserved: number): Finding {
  const fits = reserved === 0 || free - reserved >= leastUnreserved;
  return judged('Lambda: reserved executions', fits, 'stops', {
    found: `${free} free to reserve`,
    wanted: `${reserved} that the settings reserve, and ${leastUnreserved} that stay unreserved`,
    fix: `${moreExecutions}, or set heldRequests and concurrency to 'shared' or to smaller numbers`,
  });
}

/** The names in Service Quotas. */
const names = {
  startExecutionPerSecond: /^StartExecution\b(?!.*express).*refill rate/i,
  startExecutionBurst: /^StartExecution\b(?!.*express).*bucket size/i,
  stateTransitionsPerSecond: /^State ?Transition\b(?!.*express).*refill rate/i,
  stateTransitionsBurst: /^State ?Transition\b(?!.*express).*bucket size/i,
  sendTaskPerSecond: /^SendTaskSuccess\b.*refill rate/i,
  sendTaskBurst: /^SendTaskSuccess\b.*bucket size/i,
} as const satisfies Partial<Record<AwsQuotaName, RegExp>>;

const moreStates = raise('AWS Step Functions');

export const stepFunctions: Question = {
  title: 'Step Functions: quotas',
  async ask(asked) {
    const wanted = needsOf(asked.traffic);
    const findings: Finding[] = [];
    for (const [name, pattern] of Object.entries(names) as [keyof typeof names, RegExp][]) {
      const { title } = awsDefaults[name];
      const value = await asked.quotas.valueOf('states', pattern);
      findings.push(
        value === undefined
          ? documentedQuota(title, awsDefaultOf(name, asked.region), wanted[name])
          : compared(title, value, wanted[name], moreStates),
      );
      if (name === 'startExecutionPerSecond' && value !== undefined)
        findings.push(startsSetting(asked, value));
    }
    return findings;
  },
};

/** Service Quotas does not have every quota of every service. */
function documentedQuota(question: string, documented: number, wanted: number): Finding {
  const enough = documented >= wanted;
  return {
    question,
    level: enough ? 'note' : 'limits',
    found: `not in Service Quotas; AWS documents ${documented}`,
    wanted: `at least ${wanted}`,
    ...(!enough && { fix: moreStates }),
  };
}

/** The reconciler keeps to the setting. Above the quota, its starts take those of clients. */
function startsSetting({ settings: { startsPerSecond } }: Asked, quota: number): Finding {
  const right = startsPerSecond <= quota;
  return judged('Setting startsPerSecond', right, 'limits', {
    found: String(startsPerSecond),
    wanted: `at most ${quota}, the quota of StartExecution`,
    fix: `startsPerSecond: ${quota}`,
  });
}

const moreUnits = raise('Amazon DynamoDB');

/** The quotas of one table, with its indexes. */
export const tableQuotas: Question = {
  title: 'DynamoDB: quotas',
  async ask({ quotas, traffic, region }) {
    const wanted = needsOf(traffic);
    const findings: Finding[] = [];
    for (const [name, pattern] of [
      ['tableWriteUnits', /^table-level write throughput/i],
      ['tableReadUnits', /^table-level read throughput/i],
    ] as const) {
      const value = (await quotas.valueOf('dynamodb', pattern)) ?? awsDefaultOf(name, region);
      findings.push(compared(awsDefaults[name].title, value, wanted[name], moreUnits));
    }
    return findings;
  },
};

/** What the table takes at once, and whether a table of the setting restoredTable is there. */
export const table: Question = {
  title: 'DynamoDB: the table',
  async ask({ settings: { restoredTable }, traffic, region, stack, clients: { dynamo } }) {
    const { outputs } = await stack();
    const name = restoredTable ?? outputs.get('TableName');
    const { tableWarmWriteUnits: wanted } = needsOf(traffic);
    const question = 'DynamoDB: write units that the table takes at once';
    if (name === undefined)
      return [warm(question, awsDefaultOf('tableWarmWriteUnits', region), wanted, 'TABLE')];
    const answer = await askForOne(
      'dynamodb:DescribeTable',
      () => dynamo.send(new DescribeTableCommand({ TableName: name })),
      named('ResourceNotFoundException'),
    );
    if (!answer)
      return [
        {
          question: this.title,
          level: 'stops',
          found: `no table ${name} in ${region}`,
          wanted:
            restoredTable === undefined ? 'the table of the stack' : 'the table of the setting restoredTable',
          fix: 'restore it (docs/operations.md, "Backup and restore"), or correct the setting',
        },
      ];
    const units = answer.Table?.WarmThroughput?.WriteUnitsPerSecond;
    return [warm(question, units ?? awsDefaultOf('tableWarmWriteUnits', region), wanted, name)];
  },
};

function warm(question: string, found: number, wanted: number, name: string): Finding {
  return compared(
    question,
    found,
    wanted,
    `before the crowd comes: aws dynamodb update-table --table-name ${name} --warm-throughput WriteUnitsPerSecond=${wanted}; each index has its own`,
  );
}
