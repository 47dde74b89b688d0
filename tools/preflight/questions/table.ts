import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { awsDefaultOf, awsDefaults } from '../../quotas/aws-defaults.ts';
import { needsOf } from '../../quotas/quotas.ts';
import { askForOne, named } from '../ask-aws.ts';
import { compared, type Finding, type Question } from '../finding.ts';

const raise = 'ask AWS for more (Service Quotas, Amazon DynamoDB)';

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
      findings.push(compared(awsDefaults[name].title, value, wanted[name], raise));
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
