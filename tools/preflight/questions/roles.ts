import { GetAccountSummaryCommand } from '@aws-sdk/client-iam';
import { askAws } from '../ask-aws.ts';
import type { Question } from '../finding.ts';

/** Every function and state machine has a role of its own. A test compares the number with the template. */
export const rolesOfTheStack = 60;

export const roles: Question = {
  title: 'IAM: room for roles',
  async ask({ stack, clients: { iam } }) {
    const { status } = await stack();
    const { SummaryMap = {} } = await askAws('iam:GetAccountSummary', () =>
      iam.send(new GetAccountSummaryCommand({})),
    );
    const room = (SummaryMap['RolesQuota'] ?? 0) - (SummaryMap['Roles'] ?? 0);
    // The roles of a stack that exists are counted already.
    const enough = room >= rolesOfTheStack || status !== undefined;
    return [
      {
        question: this.title,
        level: enough ? 'ok' : 'stops',
        found: `room for ${room}`,
        wanted: `${rolesOfTheStack} for a new stack`,
        ...(!enough && { fix: 'delete roles, or raise the quota "Roles per account" of IAM' }),
      },
    ];
  },
};
