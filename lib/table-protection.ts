import { CustomResource, Duration, Stack } from 'aws-cdk-lib';
import type { CfnGlobalTable } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import type { AddFunction } from './service-function.ts';
import type { Store } from './store.ts';

/**
 * Protects the stack's own table from deletion, once everything else of the deployment has succeeded. CloudFormation
 * could not roll back a first deployment with a protected table (decision 22).
 */
export class TableProtection extends Construct {
  constructor(scope: Construct, id: string, { add, store }: { add: AddFunction; store: Store }) {
    super(scope, id);
    const stack = Stack.of(this);
    // Before the function is added, which the resource needs anyway.
    const everythingElse = stack.node.children.filter((child) => child !== this);
    const fn = add('ProtectTable', 'protect-table', {
      description: 'Protects the table from deletion when a deployment has succeeded',
      timeout: Duration.minutes(4),
      memoryMegabytes: 256,
    });
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
    protectedTable.node.addDependency(fn, ...everythingElse);
  }
}

/** The table as one text, which differs when anything of the table does. */
function definitionOf(table: CfnGlobalTable): string {
  return JSON.stringify(Stack.of(table).resolve(table._toCloudFormation()));
}
