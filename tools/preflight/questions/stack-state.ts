import type { Finding, Question } from '../finding.ts';

/** The states of a stack that CloudFormation updates. */
const updatable = new Set([
  'CREATE_COMPLETE',
  'UPDATE_COMPLETE',
  'UPDATE_ROLLBACK_COMPLETE',
  'IMPORT_COMPLETE',
  'IMPORT_ROLLBACK_COMPLETE',
  // A change set that was made, and not run.
  'REVIEW_IN_PROGRESS',
]);

export const stackState: Question = {
  title: 'Stack',
  async ask({ stackName, stack }) {
    const { status } = await stack();
    const can = status === undefined || updatable.has(status);
    const finding: Finding = {
      question: this.title,
      level: can ? 'ok' : 'stops',
      found: status === undefined ? `no stack ${stackName} yet` : `${stackName} is ${status}`,
      wanted: 'none, or one that can be updated',
      ...(!can && { fix: fixOf(status, stackName) }),
    };
    return [finding];
  },
};

function fixOf(status: string, stackName: string): string {
  if (status.endsWith('_IN_PROGRESS')) return 'wait until CloudFormation has ended';
  if (status === 'UPDATE_ROLLBACK_FAILED')
    return `aws cloudformation continue-update-rollback --stack-name ${stackName}`;
  // A stack whose creation failed can only be deleted, and the first deployment has protected it already.
  // docs/deploying.md says what stays.
  return `aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${stackName}, then delete-stack, and see docs/deploying.md for what stays`;
}
