import { ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import { addOutput, serviceName } from './service-scope.ts';
import type { Store } from './store.ts';

const keptDays = 7;

/**
 * A backup of the table each night, and its copy in another region (docs/second-region.md). The vault there has the name
 * of the stack. An operator makes it, because a stack makes nothing in another region.
 */
export class BackupCopies extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { store, copyToRegion }: { readonly store: Store; readonly copyToRegion: string },
  ) {
    super(scope, id);
    const copies = Stack.of(this).formatArn({
      service: 'backup',
      region: copyToRegion,
      resource: 'backup-vault',
      resourceName: serviceName(this),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const deleteAfter = Duration.days(keptDays);
    const plan = new BackupPlan(this, 'Plan', {
      backupVault: new BackupVault(this, 'Vault', {
        removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      }),
      backupPlanRules: [
        new BackupPlanRule({
          ruleName: 'EachNight',
          scheduleExpression: Schedule.cron({ minute: '0', hour: '3' }),
          deleteAfter,
          copyActions: [
            { destinationBackupVault: BackupVault.fromBackupVaultArn(this, 'Copies', copies), deleteAfter },
          ],
        }),
      ],
    });
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('backup.amazonaws.com') });
    plan.addSelection('Table', {
      resources: [BackupResource.fromArn(store.tableArn)],
      role,
      allowRestores: true,
    });
    const policy = 'arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyFor';
    acknowledge(role, {
      [`AwsSolutions-IAM4[Policy::${policy}Backup]`]: 'AWS maintains the rights that its own backups need.',
      [`AwsSolutions-IAM4[Policy::${policy}Restores]`]: 'AWS maintains the rights that a restore needs.',
    });
    addOutput(scope, 'BackupRegion', { value: copyToRegion });
    // IAM knows no regions: the role also restores in the other one.
    addOutput(scope, 'BackupRoleArn', { value: role.roleArn });
  }
}
