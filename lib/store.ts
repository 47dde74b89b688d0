import { CustomResource, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import {
  AttributeType,
  Billing,
  type CfnGlobalTable,
  ProjectionType,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { fiveMinutes, type TableMetrics } from './alarm-definition.ts';
import { allow } from './acknowledge.ts';

type ReadAction = 'BatchGetItem' | 'GetItem' | 'Query';
type WriteAction = 'BatchWriteItem' | 'ConditionCheckItem' | 'DeleteItem' | 'PutItem' | 'UpdateItem';

/** Partitions by the beginnings of their keys (service/aws/dynamodb/table.ts and service/portal/portal-key-items.ts). */
export type Partition =
  | 'ACCOUNT#*'
  | 'AUDIT'
  | 'CLOSING#*'
  | 'CREATION#*'
  | 'ERASE'
  | 'EXTERNAL#*'
  | 'HEALTH#*'
  | 'INVITED#*'
  | 'IP#*'
  | 'NOTICE#*'
  | 'OPEN_COUNT#*'
  | 'OPERATOR_KEY#*'
  | 'PAYMENTS'
  | 'PERSON#*'
  | 'SERVICE'
  | 'SESSION#*';

/**
 * Counters that every request may write: rejections of its address, the rate, and the last use of the key.
 */
export const requestItems: readonly Partition[] = ['ACCOUNT#*', 'IP#*'];

/** The items that a creation changes during its life. */
export const workItems: readonly Partition[] = ['ACCOUNT#*', 'CREATION#*', 'NOTICE#*', 'OPEN_COUNT#*'];

const openWork = 'open_work';
const listing = 'listing';

export interface StoreProps {
  /** The name of a table that was restored from a backup. The functions use it instead of the stack's own. */
  readonly restoredTable: string | undefined;
}

/** The one table with all items of the service (docs/decisions/0001). The table survives its stack. */
export class Store extends Construct {
  readonly tableName: string;
  /** The stack's own table, also when a restored table is used instead. */
  readonly ownTable: TableV2;
  /** Of the table that is in use. */
  readonly tableArn: string;

  constructor(scope: Construct, id: string, { restoredTable }: StoreProps) {
    super(scope, id);
    const own = this.addTable();
    this.ownTable = own;
    this.tableName = restoredTable ?? own.tableName;
    this.tableArn =
      restoredTable === undefined
        ? own.tableArn
        : Stack.of(this).formatArn({ service: 'dynamodb', resource: 'table', resourceName: restoredTable });
  }

  private addTable(): TableV2 {
    const text = (name: string): { name: string; type: AttributeType } => ({
      name,
      type: AttributeType.STRING,
    });
    return new TableV2(this, 'Table', {
      partitionKey: text('pk'),
      sortKey: text('sk'),
      billing: Billing.onDemand(),
      timeToLiveAttribute: 'expiresAtSeconds',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // A protected table could not be rolled back. lib/store.ts protects the table at the end.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      globalSecondaryIndexes: [
        {
          indexName: openWork,
          partitionKey: text('openShard'),
          sortKey: { name: 'dueAt', type: AttributeType.NUMBER },
          projectionType: ProjectionType.KEYS_ONLY,
        },
        {
          indexName: listing,
          partitionKey: text('listing'),
          sortKey: text('listed'),
          projectionType: ProjectionType.KEYS_ONLY,
        },
      ],
    });
  }

  /** What DynamoDB counts of the table and its indexes (developer guide, "DynamoDB metrics and dimensions"). */
  get metrics(): TableMetrics {
    const count = (metricName: string, index?: string): Metric =>
      new Metric({
        namespace: 'AWS/DynamoDB',
        metricName,
        dimensionsMap: {
          TableName: this.tableName,
          ...(index !== undefined && { GlobalSecondaryIndexName: index }),
        },
        ...fiveMinutes,
        label: `${index ?? 'table'}: ${metricName}`,
      });
    return {
      throttles: [undefined, openWork, listing].flatMap((index) =>
        ['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) => count(name, index)),
      ),
      conflicts: count('TransactionConflict'),
    };
  }

  /** Lets a function read the table, and puts the table's name into its environment. */
  grantRead(fn: LambdaFunction, ...actions: readonly ReadAction[]): void {
    fn.addEnvironment('TABLE_NAME', this.tableName);
    // The grant of the construct would also allow every index.
    const own = actions.map((action) => `dynamodb:${action}`);
    allow(fn, own, [this.tableArn]);
  }

  /**
   * Lets a function write items of these partitions, and no others. A function has one list for all its writes,
   * because a transaction may write to several partitions.
   */
  grantWrite(fn: LambdaFunction, partitions: readonly Partition[], ...actions: readonly WriteAction[]): void {
    fn.addToRolePolicy(
      new PolicyStatement({
        actions: actions.map((action) => `dynamodb:${action}`),
        resources: [this.tableArn],
        // Each of these actions names the partition of each of its items.
        conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...partitions].sort() } },
      }),
    );
  }

  /** Lets a function switch on the protection of the stack's own table. */
  grantProtect(fn: LambdaFunction): void {
    allow(fn, ['dynamodb:DescribeTable', 'dynamodb:UpdateTable'], [this.ownTable.tableArn]);
  }

  /** Lets a function query the index of open work. */
  grantOpenWork(fn: LambdaFunction): void {
    this.grantQuery(fn, openWork);
  }

  /** Lets a function list accounts, and an account's creations. */
  grantListing(fn: LambdaFunction): void {
    this.grantQuery(fn, listing);
  }

  private grantQuery(fn: LambdaFunction, index: string): void {
    allow(fn, ['dynamodb:Query'], [`${this.tableArn}/index/${index}`]);
  }
}

/**
 * Protects the stack's own table from deletion, once everything else of the deployment has succeeded. CloudFormation
 * could not roll back a first deployment with a protected table (decision 22).
 */
export class TableProtection extends Construct {
  constructor(scope: Construct, id: string, { fn, store }: { fn: LambdaFunction; store: Store }) {
    super(scope, id);
    const everythingElse = scope.node.children.filter((child) => child !== this);
    store.grantProtect(fn);
    const protectedTable = new CustomResource(this, 'Protected', {
      resourceType: 'Custom::TableProtection',
      serviceToken: fn.functionArn,
      serviceTimeout: Duration.minutes(5),
      properties: {
        TableName: store.ownTable.tableName,
        // Whatever changes the table might switch the protection off, so the function then checks again.
        Definition: definitionOf(store.ownTable.node.defaultChild as CfnGlobalTable),
      },
    });
    // The rights of the function, too.
    protectedTable.node.addDependency(...everythingElse);
  }
}

/** The table as one text, which differs when anything of the table does. */
function definitionOf(table: CfnGlobalTable): string {
  return JSON.stringify(Stack.of(table).resolve(table._toCloudFormation()));
}
