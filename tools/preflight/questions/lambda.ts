import { GetAccountSettingsCommand } from '@aws-sdk/client-lambda';
import { needsOf, proposedHeldRequests } from '../../quotas/quotas.ts';
import { askAws } from '../ask-aws.ts';
import type { Settings } from '../../../lib/settings.ts';
import { compared, type Finding, type Question } from '../finding.ts';

/** Lambda refuses a reservation that leaves fewer executions unreserved. */
const leastUnreserved = 100;
const raise = 'ask AWS for more (Service Quotas, AWS Lambda, "Concurrent executions")';

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
      compared(this.title, all, needsOf(traffic).lambdaConcurrency, raise),
      reservation(free, reservedBy(settings)),
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

function reservation(free: number, reserved: number): Finding {
  const fits = reserved === 0 || free - reserved >= leastUnreserved;
  return {
    question: 'Lambda: reserved executions',
    level: fits ? 'ok' : 'stops',
    found: `${free} free to reserve`,
    wanted: `${reserved} that the settings reserve, and ${leastUnreserved} that stay unreserved`,
    ...(!fits && {
      fix: `${raise}, or set heldRequests and concurrency to 'shared' or to smaller numbers`,
    }),
  };
}
